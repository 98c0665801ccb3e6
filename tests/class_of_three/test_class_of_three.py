"""The real commands grade a class of three in real boxes, from end to end."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.builder.paths import ROOT
from autograder.classroom.grading import canary
from autograder.classroom.grading.grade_submission import ChapterServers
from autograder.sandbox.walls import why_no_box
from autograder.submission.contract import PreloadSpec
from tests.support.submissions import Submission
from tests.support.submissions import room as rooms
from tests.support.submissions.reader import submissions_of

pytestmark = pytest.mark.skipif(why_no_box() is not None, reason=f"no box here: {why_no_box()}")

CHAPTER = "02_nodes"
THREE = [
    replace(s, student=s.student.replace("iris", "iris[1]"))  # nbgrader reads the name as a pattern
    for s in submissions_of(CHAPTER)
    if s.student in ("ada", "dan", "iris")
]
"""One student is right, one is partly right, and one ends Python in an answer cell."""


def fxcourse(*words: str | Path) -> str:
    """Run the command; return its output."""
    done = subprocess.run(
        [sys.executable, "-m", "autograder.cli", *map(str, words)],
        cwd=ROOT,
        text=True,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def hand_in(room: Path, submission: Submission) -> None:
    work = submission.notebook(rooms.released(room, CHAPTER))
    rooms.hand_in(room, submission.student, CHAPTER, work)


def test_a_class_of_three_is_graded_from_end_to_end(tmp_path: Path) -> None:
    room = tmp_path / "a class"
    fxcourse("classroom", "create", room, "--chapters", "02")
    for submission in THREE:
        hand_in(room, submission)
    said = fxcourse("grade", room)
    assert "3 submissions graded" in said and f"{room / 'report'}" in said.replace("\n", "")
    assert rooms.points(room, CHAPTER) == {s.student: s.points() for s in THREE}
    made = rooms.nbgrader(room, "generate_feedback", CHAPTER)
    assert made.returncode == 0, made.stdout
    for submission in THREE:
        path = room / "feedback" / submission.student / CHAPTER / f"{CHAPTER}.html"
        page = path.read_text(encoding="utf-8")
        assert "HIDDEN TESTS" not in page and "count_ops" in page
    again = fxcourse("grade", room)
    assert "3 had been graded before and have not changed" in " ".join(again.split())


def test_the_boxes_give_known_marks() -> None:
    """The canary tries a right and a wrong answer of each kind."""
    chapter = PreloadSpec("00_start")
    servers = ChapterServers(chapter)
    servers.kinds = frozenset()  # so that all kinds are tried
    try:
        canary.prove(servers, chapter)
    finally:
        servers.close()
