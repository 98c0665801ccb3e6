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
from autograder.watch.catalogue import Catalogue
from autograder.watch.checker import Checker, heavy_modules
from autograder.watch.editor import Editor
from autograder.watch.files import ExerciseFile
from autograder.watch.keys import CLOSED, DOWN, ENTER, ESCAPE, UP
from autograder.watch.saves import Saves
from autograder.watch.session import Session
from autograder.workspace import progress_file

CLEAR = "\x1b[2J\x1b[H"

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


class ToyCatalogue(Catalogue):
    """Two exercises in a chapter, and one in the next chapter, without notebooks."""

    def every(self) -> list[ExerciseFile]:
        places = ("01_first/one", "01_first/two", "02_second/three")
        paths = [self.home / f"{place}.py" for place in places]
        return [ExerciseFile(path.stem, path.stem, path, "stub") for path in paths]


class ToyEditor(Editor):
    """Notes what it opens."""

    def __init__(self) -> None:
        super().__init__([])
        self.opened: list[tuple[str, int]] = []
        self.problem = ""
        self.broken: list[str] = []

    def open(self, file: Path, line: int) -> str:
        self.opened.append((file.name, line))
        return self.problem

    def failures(self) -> list[str]:
        broken, self.broken = self.broken, []
        return broken


class Desk:
    """A session on two exercises, with keys that a test presses."""

    def __init__(self, folder: Path, checker: Checker) -> None:
        catalogue = ToyCatalogue(folder, folder)
        exercises = catalogue.every()[:2]
        catalogue.open(exercises)
        self.files = [one.path for one in catalogue.every()]
        self.out = io.StringIO()
        self.typed: list[str] = []
        self.browsed: list[Path] = []
        self.editor = ToyEditor()
        console = Console(file=self.out, width=100)
        self.session = Session(
            exercises, catalogue, console, checker, self._read, self.editor, self._browse
        )
        self.session._begin()

    def size(self, width: int, height: int) -> None:
        """Draw on a terminal of this size."""
        self.session._screen.console = Console(
            file=self.out, width=width, height=height, force_terminal=True, color_system=None
        )

    def begin_all(self, *texts: str) -> None:
        """Write answers without a check of each."""
        self.session.catalogue.open(self.session.catalogue.every())
        for which, text in enumerate(texts):
            self.save(text, which)
        self.session._saves = Saves(self.files[:2])

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


def screen(text: str) -> list[str]:
    """The lines on a terminal after this text."""
    return [line.rstrip() for line in text.rpartition(CLEAR)[2].split("\n")]


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
    desk.size(60, 24)
    desk.until("failed one")
    desk.save("long")
    screens = [desk.until("more lines"), desk.press("m"), desk.press("?"), desk.press("h")]
    for screen in screens:
        lines = screen.rpartition(CLEAR)[2].split("\n")
        assert len(lines) <= 24 and max(map(len, lines)) <= 60
        assert lines[0].startswith("one.py ·") and lines[-3].startswith("h hint")
        assert lines[-2].endswith("q quit")
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
    before = desk.session
    again = Session(before.exercises, before.catalogue, before.console, before.checker)
    assert again.exercise.name == "two"


def test_the_list_goes_to_another_chapter(desk: Desk) -> None:
    desk.until("failed one")
    desk.save("right")
    desk.until("Left")
    desk.size(80, 24)
    assert screen(desk.press("l"))[:4] == [
        "Exercises: all · 1 of 3 passed",
        "> ✓ passed            one    one",
        "  ○ not begun         two    two",
        "  ○ not begun         three  three",
    ]
    desk.press("/")
    desk.press("h")
    assert screen(desk.press("r"))[1:3] == ["> ○ not begun         three  three", "Search: hr_"]
    assert not desk.files[2].exists()
    desk.press(ENTER)
    desk.until("failed three")
    assert desk.files[2].read_text() == "stub"
    assert desk.editor.opened == [("three.py", 1)]
    desk.save("right", 2)
    desk.until("You have finished the chapter. Press l")


def test_the_list_stays_when_a_check_ends_and_goes_when_a_file_is_saved(desk: Desk) -> None:
    desk.size(80, 24)
    assert "○ not begun" in screen(desk.press("l"))[1]
    lines = screen(desk.until("✗ not passed"))
    assert lines[0].startswith("Exercises") and lines[-2].startswith("↑↓ select")
    lines = screen(desk.press(ESCAPE))
    assert lines[1] == "✗ failed one" and lines[-3].startswith("h hint")
    desk.press("l")
    desk.save("right")
    assert screen(desk.until("passed one"))[0].startswith("one.py")


def test_a_chapter_that_cannot_be_written(desk: Desk) -> None:
    desk.until("failed one")
    desk.files[2].parent.write_text("a file in place of the folder")
    for key in ("l", UP, DOWN, DOWN):
        desk.press(key)
    assert "cannot be written" in desk.press(ENTER)
    assert desk.session.exercise.name == "one"


def test_checking_all_goes_to_the_first_that_fails(desk: Desk) -> None:
    desk.until("failed one")
    assert "not changed a file yet" in desk.press("a")
    desk.begin_all("right", "dies", "wrong")
    assert "Checked 0 of 3 exercises. Now: one" in desk.press("a")
    text = desk.until("os._exit")
    assert (
        "Failing: two, three." in text
        and "Checked 2 of 3 exercises. Now: three" in text
        and "✓ one" in text
    )
    assert "exit status 7" in text and "1 of 3 checked exercises pass." in text
    assert desk.session.exercise.name == "two" and desk.editor.opened == [("two.py", 1)]
    assert progress_file.verdicts() == {"one": "passed", "three": "failed"}


def test_checking_all_when_all_pass(desk: Desk) -> None:
    desk.until("failed one")
    desk.begin_all("right", "stub", "right")
    desk.press("a")
    assert "2 of 2 checked exercises pass." in desk.until("2 of 2 checked")
    assert desk.session.exercise.name == "one" and desk.editor.opened == []
    assert "passed one" in desk.press("?")


def test_checking_all_ends_with_escape_or_a_save(desk: Desk) -> None:
    desk.until("failed one")
    desk.begin_all("right", "loops", "right")
    desk.press("a")
    desk.until("Now: two")
    looping = desk.session._check
    assert looping is not None
    assert desk.press("h") == "", "other keys do nothing meanwhile"
    desk.size(80, 24)
    assert screen(desk.press("h"))[-2] == "Esc stop · q quit"
    text = desk.press(ESCAPE)
    assert "Stopped after 1 of 3 exercises." in text and screen(text)[-3].startswith("h hint")
    assert looping.process.poll() is not None
    assert "failed one" not in desk.press("?"), "the check of all has checked it again"
    desk.press("a")
    desk.until("Now: two")
    desk.session._saves = Saves(desk.files[:2])
    desk.save("wrong")
    text = desk.until("Stopped after 1 of 3 exercises.")
    assert "failed one" in text
    desk.press("a")
    desk.press("q")
    assert desk.session._left


def test_the_editor_opens_the_file_of_the_next_exercise(desk: Desk) -> None:
    desk.until("failed one")
    desk.save("x = 1\n\ndef two(x):\n    return x\n", 1)
    desk.until("failed two")
    assert desk.editor.opened == [], "who has saved a file has it open"
    desk.press("n")
    desk.press("n")
    assert desk.editor.opened == [("one.py", 1), ("two.py", 3)]
    desk.until("failed two")
    assert "line 3" in desk.press("o") and desk.editor.opened[2:] == [("two.py", 3)]


def test_an_editor_that_fails_is_named_below_the_card(desk: Desk) -> None:
    desk.until("failed one")
    desk.editor.problem = "It was not found."
    desk.press("n")
    assert "It was not found." in desk.until("failed two") + desk.out.getvalue()
    desk.editor.broken = ["It ended."]
    assert "It ended." in desk.press("")
    desk.session.editor = None
    said = desk.press("o")
    assert 'fxcourse watch 01 --edit-cmd "code -g {file}:{line}"' in said and "two.py" in said


def test_a_session_ends_when_its_terminal_is_closed(desk: Desk) -> None:
    desk.press("l")
    desk.press("/")
    desk.press("q")
    assert not desk.session._left
    desk.press(CLOSED)
    assert desk.session._left


def test_what_files_import_is_imported_before() -> None:
    code = "import copy\nimport torch\nfrom torchvision.models import resnet18\nimport mine\n"
    assert heavy_modules(code) == ["torch", "torchvision.models"]
