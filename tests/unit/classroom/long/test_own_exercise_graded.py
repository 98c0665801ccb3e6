"""Grading a class on an instructor's own exercise."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.classroom.setup.create import create
from autograder.cli.main import app
from tests.support.numbers import numbers_room as numbers
from tests.support.submissions import room as rooms
from tests.support.submissions.edits import edited, fill
from tests.unit.classroom.setup.test_own_exercise import NAME, RIGHT


@pytest.mark.filterwarnings("ignore:Object of type.*:sqlalchemy.exc.SAWarning")  # from nbgrader
def test_a_class_is_graded_on_it_in_boxes(tmp_path: Path) -> None:
    room = tmp_path / "class"
    create(room, {numbers.CHAPTER: numbers.chapter(tmp_path)})
    done = CliRunner().invoke(app, ["new-exercise", str(room), NAME])
    assert done.exit_code == 0, done.output
    released = rooms.nbgrader(room, "generate_assignment", NAME)
    assert released.returncode == 0, released.stdout
    given = rooms.released(room, NAME)
    assert "BEGIN SOLUTION" not in nbformat.writes(given)
    spy = (
        "import sys\nheld = [m for m in sys.modules if m.startswith('own_exercises')]\n"
        "try:\n    import own_exercises.relu_to_tanh.key\nexcept ImportError:\n"
        "    held.append('refused')\nprint(sorted(held))\n" + RIGHT
    )
    wrong = RIGHT.replace("torch.tanh", "torch.sigmoid")
    for student, answer in (("right", RIGHT), ("wrong", wrong), ("spy", spy)):
        rooms.hand_in(room, student, NAME, edited(given, fill(NAME, answer)))
    rooms.hand_in(room, "none", NAME, given)
    rows = grade_class(room, GradingOptions(chapters=[NAME], settings={"proof": False})).results
    assert {row.student: row.points for row in rows} == {
        "none": 0, "right": 4, "spy": 4, "wrong": 0,
    }, [row.notes for row in rows]  # fmt: skip
    said = nbformat.writes(rooms.autograded(room, "spy", NAME))
    assert "'refused'" in said and "tanh.key'" not in said.replace(
        "own_exercises.relu_to_tanh.key\\n", ""
    )
    card = nbformat.writes(rooms.autograded(room, "wrong", NAME))
    assert "class OneCall" in card
    again = grade_class(room, GradingOptions(chapters=[NAME], settings={"proof": False})).results
    assert not any(row.in_this_run for row in again)
    path = room / "exercises" / NAME / "cases.py"
    for more, is_graded in (("\n# A comment.\n", False), ("\nMORE = 1\n", True)):
        path.write_text(path.read_text() + more)
        again = grade_class(
            room, GradingOptions(chapters=[NAME], students=["right"], settings={"proof": False})
        ).results
        assert [row.in_this_run for row in again] == [is_graded]
