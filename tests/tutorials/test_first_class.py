"""The tutorial for instructors: each command runs, prints what the page shows, and gives points."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.builder.paths import ROOT
from autograder.classroom.setup.sample_hand_ins import CHAPTER, HAND_INS, POINTS
from autograder.cli.classroom import app
from autograder.exercises import of_chapter
from autograder.sandbox.walls import why_no_box
from tests.support.submissions import room as rooms
from tests.support.tutorial import Reader, Step, steps_of

PAGE = ROOT / "docs" / "instructors" / "first-class.md"

no_box = pytest.mark.skipif(why_no_box() is not None, reason=f"no box here: {why_no_box()}")


@no_box
@pytest.mark.timeout(1800)
def test_the_first_class_is_graded_as_the_page_says(tmp_path: Path) -> None:
    reader, steps = Reader(tmp_path), list(steps_of(PAGE))
    assert sum(len(step.commands) for step in steps) >= 10
    for step in steps:
        reader.do(step)
    points = rooms.points(tmp_path / "first-class", CHAPTER)
    assert points == {one.student: one.points for one in HAND_INS}
    pages = (tmp_path / "first-class" / "feedback").glob(f"*/{CHAPTER}/{CHAPTER}.html")
    assert len(list(pages)) == len(HAND_INS)


def test_the_sample_class_knows_the_full_marks() -> None:
    assert {one.name: one.points for one in of_chapter(CHAPTER)} == POINTS


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    done = CliRunner().invoke(app, ["demo", str(tmp_path)])
    assert done.exit_code == 1 and "No class was made." in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_line_that_is_not_printed_is_noticed(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.do(Step(("echo 2 submissions graded in 3 s, 40 a minute.",), ()))
    reader.do(Step((), ("2 ... graded in 27 s, 13 a minute.",)))
    with pytest.raises(AssertionError, match="not printed: 3"):
        reader.do(Step((), ("3 ... graded in 27 s, 13 a minute.",)))
    with pytest.raises(AssertionError, match="false"):
        reader.do(Step(("false",), ()))
