"""A session in a terminal: keys, saves, deleted files, and checks that crash."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from autograder.watch import checker as checking
from autograder.watch import session as sessions
from autograder.watch.checker import Checker, heavy_modules
from autograder.watch.files import ExerciseFile
from autograder.watch.session import Session
from autograder.workspace import progress_file

# A replacement for `autograder.watch.child` that does not need PyTorch.
CHILD = """
import json, os, sys, time
job = json.loads(sys.stdin.readline() or sys.exit())
text = open(job["file"]).read()
if "dies" in text:
    os._exit(7)
while "loops" in text:
    time.sleep(1)
status = "passed" if "right" in text else "failed"
card = f"✗ {status} {job['exercise']}"
card += "\\na long line of a card, with more words" * (60 if "long" in text else 0)
result = {"status": status, "card": card, "hints": ["one", "two"], "parts": "a part"}
result["debrief"] = "a trap" if status == "passed" else ""
open(job["result"] + "~", "w").write(json.dumps(result))
os.replace(job["result"] + "~", job["result"])
if "drawn" in text:
    os.makedirs(os.path.dirname(job["page"]), exist_ok=True)
    open(job["page"], "w").write("<svg>")
"""


class Desk:
    """A session on two exercises, with keys that a test presses."""

    def __init__(self, folder: Path, checker: Checker) -> None:
        self.files = [folder / "one.py", folder / "two.py"]
        for file in self.files:
            file.write_text("stub")
        exercises = [ExerciseFile(file.stem, file.stem, file, "stub") for file in self.files]
        self.out = io.StringIO()
        self.typed: list[str] = []
        self.browsed: list[Path] = []
        console = Console(file=self.out, width=100)
        self.session = Session(exercises, console, checker, self._read, self._browse)
        self.session._begin()

    def _read(self) -> str:
        return self.typed.pop() if self.typed else ""

    def _browse(self, page: Path) -> bool:
        self.browsed.append(page)
        return True

    def press(self, key: str) -> str:
        self.typed.append(key)
        self.out.truncate(self.out.seek(0))
        self.session.step()
        return self.out.getvalue()

    def until(self, words: str) -> str:
        end = time.monotonic() + 120
        while words not in self.out.getvalue():
            assert time.monotonic() < end, self.out.getvalue()
            self.session.step()
            time.sleep(0.01)
        text = self.out.getvalue()
        self.out.truncate(self.out.seek(0))
        return text

    def save(self, text: str, which: int = 0) -> None:
        beside = self.files[which].with_suffix(".tmp")
        beside.write_text(text)
        os.replace(beside, self.files[which])


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    child = tmp_path / "child.py"
    child.write_text(CHILD)
    monkeypatch.chdir(tmp_path)
    real = checking.subprocess.Popen

    def start(command: list[str], **options: object) -> object:
        return real([command[0], str(child)], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(checking.subprocess, "Popen", start)
    monkeypatch.setattr(sessions, "PAGE_WAIT", 5.0)
    with Checker([]) as checker:
        yield Desk(tmp_path, checker)


def test_cards_hints_comparing_and_the_next_exercise(desk: Desk) -> None:
    desk.until("failed one")
    assert "one" in desk.press("h") and "two" in desk.press("h")
    assert "last hint" in desk.press("h")
    assert "after you have passed it" in desk.press("c")
    assert "a part" in desk.press("p")
    assert "no picture" in desk.press("d") and not desk.browsed
    assert "failed one" in desk.press("?"), "any other key shows the card again"
    desk.save("right drawn")
    assert "1 of 2 exercises passed. Left: two." in desk.until("Left")
    assert progress_file.verdicts() == {"one": "passed"}
    assert "a trap" in desk.press("c")
    assert "in the browser" in desk.press("d") and desk.browsed[0].read_text() == "<svg>"
    assert "two.py" in desk.press("n")
    desk.until("failed two")
    desk.save("right", 1)
    desk.until("You have finished the chapter.")
    desk.press("n")
    desk.until("passed one")  # all are passed, so `n` opens any next one


def test_a_screen_is_no_larger_than_the_terminal(desk: Desk) -> None:
    desk.session._screen.console = Console(
        file=desk.out, width=60, height=24, force_terminal=True, color_system=None
    )
    desk.until("failed one")
    desk.save("long")
    screens = [desk.until("more lines"), desk.press("m"), desk.press("?"), desk.press("h")]
    for screen in screens:
        lines = screen.rpartition("\x1b[2J")[2].removeprefix("\x1b[H").split("\n")
        assert len(lines) <= 24 and max(map(len, lines)) <= 60
        assert lines[0].startswith("one.py ·") and lines[-2].startswith("h hint")
    assert "✗ failed one" in screens[0] and "✗ failed one" not in screens[1]


def test_a_pass_stays_a_pass(desk: Desk) -> None:
    desk.save("right")
    desk.until("Left")
    desk.save("wrong now")
    desk.until("failed one")
    assert progress_file.verdicts() == {"one": "passed"}


def test_a_save_ends_the_check_of_the_one_before(desk: Desk) -> None:
    desk.until("failed one")
    desk.save("loops")
    desk.until("one.py ·")
    looping = desk.session._check
    assert looping is not None
    desk.save("right")
    desk.until("passed one")
    assert looping.process.wait(60) != 0  # it was killed, and may need a moment to end


def test_a_check_that_ends_python_or_goes_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.until("failed one")
    desk.save("dies")
    assert "exit status 7" in desk.until("os._exit")
    desk.session._results.clear()
    assert "before the first check" in desk.press("h")
    monkeypatch.setattr(checking, "LONGEST", 0.5)
    desk.save("loops")
    assert "was stopped" in desk.until("catches")
    assert desk.session._check is None


def test_a_file_that_is_deleted_and_comes_back(desk: Desk) -> None:
    desk.until("failed one")
    desk.files[0].unlink()
    desk.until("one.py does not exist")
    desk.save("right")
    desk.until("passed one")
    desk.files[1].unlink()
    desk.until("two.py does not exist")
    desk.press("n")
    assert "two.py does not exist" in desk.out.getvalue()


def test_a_session_begins_where_the_learner_is(desk: Desk) -> None:
    desk.until("failed one")
    progress_file.outside().write({"one": "passed"})
    again = Session(desk.session.exercises, desk.session.console, desk.session.checker)
    assert again.exercise.name == "two"


def test_what_files_import_is_imported_before() -> None:
    code = "import copy\nimport torch\nfrom torchvision.models import resnet18\nimport mine\n"
    assert heavy_modules(code) == ["torch", "torchvision.models"]
