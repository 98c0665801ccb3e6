"""A killed run resumes, and ends as an uninterrupted one."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

import pytest

from autograder.sandbox.walls import why_no_box
from tests.support.classes import commands, two_questions
from tests.support.classes.course import names
from tests.support.classes.two_questions import CHAPTER, work_of
from tests.support.submissions import room as rooms
from tests.support.submissions.edits import edited

STUDENTS = 4
FIRST, SECOND, THIRD, FOURTH = names(STUDENTS)


@pytest.fixture
def room(tmp_path: Path) -> Path:
    room = tmp_path / "class"
    two_questions.make(room, STUDENTS, seed=3)
    return room


@pytest.fixture
def boxed() -> None:
    if sys.platform != "linux" or why_no_box():
        pytest.skip("notebooks cannot be boxed here")


@pytest.mark.xdist_group("classes")
def test_killed_in_the_middle_it_goes_on(room: Path, tmp_path: Path, boxed: None) -> None:
    """Afterwards, only submissions with a reason are graded again; all reasons occur at once."""
    whole = Path(shutil.copytree(room, tmp_path / "whole" / "class"))
    commands.grade(whole, 1)
    wanted = commands.snapshot(whole, CHAPTER)
    run = commands.Grading(room, 1)
    try:
        while run.is_running() and not commands.done(room):
            time.sleep(0.002)
        assert run.kill() == []
    finally:
        run.end()
    before = len(commands.done(room))
    assert 1 <= before < STUDENTS
    commands.grade(room, 1)
    assert commands.snapshot(room, CHAPTER) == wanted
    # A submission in the gradebook, but not yet in the journal, is graded twice.
    assert len(commands.done(room)) == STUDENTS
    assert rooms.points(room, CHAPTER) == {s: work_of(s, 3).points for s in names(STUDENTS)}
    _graded_again(room)


def _graded_again(room: Path) -> None:
    shutil.rmtree(room / "autograded" / FIRST / CHAPTER)
    work = edited(rooms.released(room, CHAPTER), *work_of(THIRD, 3).edits)
    work.cells[0].source += "\n\nMine."
    rooms.hand_in(room, THIRD, CHAPTER, work)
    path = room / commands.JOURNAL
    last = json.loads(path.read_text(encoding="utf-8").split("\n")[-2])["student"]
    path.write_text(path.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    expected = {FIRST, THIRD, last}
    lines = len(commands.done(room))
    commands.grade(room, 1)
    added = commands.done(room)[lines:]
    assert {entry["student"] for entry in added if entry} == expected
    assert rooms.points(room, CHAPTER) == {s: work_of(s, 3).points for s in names(STUDENTS)}
