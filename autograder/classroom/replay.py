"""Shows once more how a student's answer was judged: the same models, the same card."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbgrader.coursedir import CourseDirectory

from autograder.classroom.create import api
from autograder.classroom.execute_checks import ExecuteChecks
from autograder.classroom.grade_submission import plain_text
from autograder.core import own_exercises
from autograder.exercises import EXERCISES
from autograder.submission.seeds import noted_seed
from autograder.submission.source_cells import checked_exercise


class CannotReplay(Exception):
    """There is nothing to show; the message says why."""


def replay(folder: Path, student: str, exercise: str) -> str:
    """Run a graded notebook up to an exercise's check, and judge the answer again.

    Args:
        folder: the classroom.
        student: who handed it in.
        exercise: the exercise's name.

    Raises:
        CannotReplay: there is no such exercise, or no graded notebook.

    Returns:
        The card, as text.
    """
    own_exercises.install(own_exercises.texts_in(folder / own_exercises.FOLDER))
    if exercise not in EXERCISES:
        raise CannotReplay(f"There is no exercise called '{exercise}'.")
    chapter = EXERCISES[exercise].chapter
    path = folder / "autograded" / student / chapter / f"{chapter}.ipynb"
    if not path.is_file():
        raise CannotReplay(
            f"{path} is not there. Grade the chapter first: nbgrader autograde {chapter}"
        )
    nb = nbformat.read(path, as_version=4)
    execute = ExecuteChecks(config=api(folder.resolve()).config, only=exercise)
    execute.seed = noted_seed(nb)
    db_url = CourseDirectory(config=execute.config).db_url
    ids = {"student": student, "notebook": chapter, "assignment": chapter, "db_url": db_url}
    nb, _ = execute.preprocess(nb, {"nbgrader": ids, "metadata": {"path": str(path.parent)}})
    cards = [
        output["data"]["text/plain"]
        for cell in nb.cells
        if checked_exercise(cell) == exercise
        for output in cell.outputs
        if output.output_type == "display_data"
    ]
    if not cards:
        raise CannotReplay(f"{path} has no check of {exercise}.")
    return plain_text(cards[0])
