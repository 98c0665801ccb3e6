"""Checking a file in a terminal: the text of a notebook's card, and errors of the file itself."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest

from autograder.api import exercise_called, verdict_on
from autograder.builder.outputs.references import solve_sources
from autograder.cards.card_text import card_text
from autograder.core.limits import Limits
from autograder.watch import check_file
from autograder.watch.job import Job, Result

HEAD = """\
import torch
from torch import fx, nn
from collections.abc import Callable
from typing import Any
"""
STUB = f"{HEAD}\ndef retarget(model, old, new):\n    raise NotImplementedError\n"
WRONG = f"""{HEAD}
def retarget(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is old:
            node.target = new
    return gm
"""
RIGHT = HEAD + solve_sources("03_manipulation")["retarget"]


@pytest.fixture(autouse=True)
def main(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Restore `__main__` after each test, because checking a file replaces it.

    Work in an empty folder, so that the record of passed exercises is empty.
    """
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.chdir(tmp_path)


def said(folder: Path, source: str | bytes, *, keys: bool = True) -> Result:
    file = folder / "retarget.py"
    file.write_bytes(source if isinstance(source, bytes) else source.encode())
    job = Job("retarget", str(file), str(folder / "result.json"), str(folder / "p.html"), keys)
    page = check_file.do(job)
    if page is not None:
        check_file.write_page(page, Path(job.page))
    found = Result.read(Path(job.result))
    assert found is not None
    return found


def test_a_stub(tmp_path: Path) -> None:
    found = said(tmp_path, STUB)
    assert found.status == "not attempted"
    assert "Write your answer in retarget.py" in " ".join(found.card.split())
    assert "cell" not in found.card and "press h" in found.card
    assert "The first model" in (tmp_path / "p.html").read_text()
    assert found.hints and found.hints[0].startswith("Hint 1 of") and found.debrief == ""
    assert "press h" not in said(tmp_path, STUB, keys=False).card


def test_a_wrong_answer_gets_the_words_of_the_notebooks_card(tmp_path: Path) -> None:
    found = said(tmp_path, WRONG)
    names: dict[str, object] = {}
    exec(WRONG, names)
    exercise = exercise_called("retarget")
    card = card_text(verdict_on(exercise, names["retarget"], hidden=False), exercise)
    assert found.status == "failed"
    assert found.card.splitlines()[:-2] == card.splitlines()[: len(found.card.splitlines()) - 2]
    assert "Change your code, and save." in found.card
    page = (tmp_path / "p.html").read_text()
    assert "<svg" in page and "Before and after" in page and "Not right yet" in page


def test_a_right_answer(tmp_path: Path) -> None:
    found = said(tmp_path, f"print('hello')\n{RIGHT}")
    assert found.status == "passed" and "Press n for the next exercise." in found.card
    assert found.card.endswith("The file printed:\n    hello")
    assert "A trap:" in found.debrief


@pytest.mark.parametrize(
    ("source", "status", "says"),
    [
        (
            "def retarget(:\n    pass\n",
            "crashed",
            "is not valid Python, at line 1: `def retarget(:`",
        ),
        (b"x = '\xff\xfe'\n", "crashed", "is not valid Python"),
        (b"x = 1\x00\n", "crashed", "is not valid Python"),
        (STUB.replace("def retarget", "def retargt"), "failed", "defines `retargt`"),
        ("x = 1\n", "failed", "does not define `retarget`"),
        (f"{STUB}\nnothing_of_this_name\n", "crashed", "It came from your line 9"),
        (f"{STUB}\nexit()\n", "crashed", "raised `SystemExit"),
        (f"{STUB}\nraise KeyboardInterrupt\n", "crashed", "raised `KeyboardInterrupt"),
        (f"{STUB}\nretarget = 3\n", "failed", "is not a function or class"),
    ],
)
def test_what_a_file_can_have(source: str | bytes, status: str, says: str, tmp_path: Path) -> None:
    found = said(tmp_path, source)
    assert found.status == status and says in " ".join(found.card.split())
    assert "otebook" not in found.card


def test_a_loop_at_the_margin_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_file, "LOADING", Limits(cpu=0.3, wall=5.0))
    found = said(tmp_path, f"{STUB}\nwhile True:\n    pass\n")
    assert found.status == "crashed" and "did not end" in found.card


def test_a_file_that_is_gone_meanwhile(tmp_path: Path) -> None:
    verdict = check_file.load(tmp_path / "retarget.py", exercise_called("retarget"))
    assert (
        not isinstance(verdict, types.ModuleType)
        and "cannot be read" in verdict.findings[0].message
    )


def test_half_a_result_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text('{"status": "pa')
    (tmp_path / "b").write_text(json.dumps({"other": 1}))
    assert [Result.read(tmp_path / name) for name in "abc"] == [None] * 3
