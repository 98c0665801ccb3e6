"""Undoes the last run over a classroom."""

from __future__ import annotations

from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom.create import api
from autograder.classroom.grade_class import HOME, CannotGrade, only_one
from autograder.classroom.gradebook_url import NoGradebook, what_failed, with_driver
from autograder.classroom.last_run import CannotUndo, LastRun

UNDOABLE = (CannotUndo, CannotGrade, NoGradebook)
"""Why a run is not undone; each says it in a sentence."""


def undo(folder: Path, *, force: bool = False) -> tuple[str, int]:
    """Make a classroom what it was before the last run; see `LastRun.undo`.

    Raises:
        CannotUndo: there is nothing to undo, or it would undo more than the run.
        CannotGrade: the classroom is being graded.
        NoGradebook: its address cannot be read.
    """
    room = folder.expanduser().resolve()
    if not (room / "nbgrader_config.py").is_file():
        raise CannotUndo(f"{room} is not a classroom: it has no nbgrader_config.py.")
    db_url = with_driver(CourseDirectory(config=api(room).config).db_url)
    with only_one(room):
        try:
            return LastRun(room, room / HOME, db_url).undo(force=force)
        except SQLAlchemyError as error:
            raise CannotUndo(what_failed(error, db_url)) from None
