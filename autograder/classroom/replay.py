"""Shows once more how a student's answer was judged: the same models, the same card."""

from __future__ import annotations

from pathlib import Path

import nbformat

from autograder.classroom.checks import ExecuteChecks
from autograder.classroom.create import api
from autograder.classroom.seeds import noted_seed
from autograder.syllabus import EXERCISES
from autograder.verdict import Verdict


class CannotReplay(Exception):
    """There is nothing to show; the message says why."""


def replay(folder: Path, student: str, exercise: str) -> Verdict:
    """Run a graded notebook up to an exercise's check, and judge the answer again.

    Args:
        folder: the classroom.
        student: who handed it in.
        exercise: the exercise's name.

    Raises:
        CannotReplay: there is no such exercise, or no graded notebook.
    """
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
    ids = {"student": student, "notebook": chapter, "assignment": chapter}
    execute.preprocess(nb, {"nbgrader": ids, "metadata": {"path": str(path.parent)}})
    try:
        return execute.verdicts[exercise]
    except KeyError:
        raise CannotReplay(f"{path} has no check of {exercise}.") from None
