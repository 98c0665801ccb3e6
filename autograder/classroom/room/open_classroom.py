"""Opens a classroom for one process: locked, and connected to its gradebook."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom.room.gradebook_url import try_out, what_failed, with_driver
from autograder.classroom.room.location import classroom_at
from autograder.classroom.room.lock import only_one
from autograder.classroom.room.nbgrader_api import api
from autograder.classroom.room.private import private
from autograder.environment.errors import ClassroomError


@dataclass
class OpenClassroom:
    """An open classroom.

    Attributes:
        room: its folder.
        nbgrader: nbgrader for this classroom.
        gradebook: its gradebook.
    """

    room: Path
    nbgrader: NbGraderAPI
    gradebook: Gradebook


@contextlib.contextmanager
def open_classroom(folder: Path) -> Iterator[OpenClassroom]:
    """Lock a classroom and connect to its gradebook.

    Raises:
        ClassroomError: it is not a classroom, its gradebook does not answer, or another process
            has locked it.
    """
    room = classroom_at(folder)
    with private(), only_one(room):
        nbgrader = api(room)
        course = CourseDirectory(config=nbgrader.config)
        try:
            address = with_driver(course.db_url)
            try_out(address)
            # On a Hub, it can put a new student into the Hub's group of the course.
            gradebook = Gradebook(address, course.course_id, nbgrader.authenticator)
        except SQLAlchemyError as error:
            why = what_failed(error, course.db_url)
            raise ClassroomError(f"The gradebook cannot be used: {why}") from None
        try:
            yield OpenClassroom(room, nbgrader, gradebook)
        finally:
            gradebook.close()
