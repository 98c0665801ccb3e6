"""Undoes the last run over a classroom."""

from __future__ import annotations

import shutil
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom.lateness.reveals import FILE, NAME, Reveal, remove_last
from autograder.classroom.records.undo_log import LastRun
from autograder.classroom.reports.class_report import make
from autograder.classroom.room.gradebook_url import what_failed, with_driver
from autograder.classroom.room.location import classroom_at
from autograder.classroom.room.lock import HOME, only_one
from autograder.classroom.room.nbgrader_api import api
from autograder.environment.errors import ClassroomError


def undo_last_run(
    folder: Path, *, force: bool = False, db_url: str | None = None
) -> tuple[str, int]:
    """Restore the state of a classroom before the last run; see `LastRun.undo`.

    Args:
        folder: the classroom.
        force: undo even if the gradebook has changed since.
        db_url: the gradebook, if the run used another one than the classroom's configuration.

    Raises:
        ClassroomError: there is nothing to undo, it would undo more than the run, the classroom
            is being graded, or the address of its gradebook cannot be read.
    """
    room = classroom_at(folder)
    db_url = with_driver(db_url or CourseDirectory(config=api(room).config).db_url)
    with only_one(room):
        try:
            return LastRun(room, room / HOME, db_url).undo(force=force)
        except SQLAlchemyError as error:
            raise ClassroomError(what_failed(error, db_url)) from None


def undo_reveal(folder: Path) -> Reveal | None:
    """Take back the last `reveal`, if no run of grading came after it.

    Args:
        folder: the classroom.

    Returns:
        What was taken back; `None` if the last run of grading is the one to undo.

    Raises:
        ClassroomError: it is not a classroom, or it is being graded.
    """
    room = classroom_at(folder)
    with only_one(room):
        path, before = room / FILE, LastRun(room, room / HOME, "").size_before(NAME)
        is_newer = path.exists() and path.stat().st_size > before
        return remove_last(room) if is_newer else None


def write_reports_again(folder: Path, *, db_url: str | None = None) -> list[Path]:
    """Replace the reports of a classroom, which would show grades that were undone.

    Returns:
        The new reports. A report that cannot be written is removed.
    """
    room, written = folder.expanduser().resolve(), []
    for place, anonymous in ((make.PLACE, False), (make.PLACE_WITHOUT_NAMES, True)):
        if (room / place / "index.html").exists():
            try:
                written.append(make.report(room, anonymous=anonymous, db_url=db_url))
            except ClassroomError:
                shutil.rmtree(room / place, ignore_errors=True)
    return written
