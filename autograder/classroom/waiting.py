"""Shows what was graded by hand and handed in again: old points, new verdict, both answers."""

from __future__ import annotations

from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom.grade_submission import plain_text
from autograder.classroom.gradebook_url import NoGradebook, what_failed, with_driver
from autograder.classroom.nbgrader_api import api
from autograder.classroom.second_looks import SecondLook, still_waiting


class CannotShow(Exception):
    """There is nothing to show; the message says why."""


def shown(folder: Path) -> str:
    """What waits in a classroom for a person to look at it again, as text.

    Raises:
        CannotShow: it is no classroom, or its gradebook does not answer.
    """
    room = folder.expanduser().resolve()
    if not (room / "nbgrader_config.py").is_file():
        raise CannotShow(f"{room} is not a classroom: it has no nbgrader_config.py.")
    course = CourseDirectory(config=api(room).config)
    try:
        with Gradebook(with_driver(course.db_url), course.course_id) as book:
            looks = still_waiting(room, book)
    except NoGradebook as error:
        raise CannotShow(str(error)) from None
    except SQLAlchemyError as error:
        raise CannotShow(what_failed(error, course.db_url)) from None
    if not looks:
        return "Nothing that was graded by hand was handed in again, or it has been looked at."
    return "\n\n".join(_about(one) for one in looks) + (
        "\n\nGive points in Formgrader (Manual Grading), and they no longer wait."
    )


def _about(one: SecondLook) -> str:
    parts = [one.line()]
    if one.old == one.new:
        parts.append(_indented(one.new))
    else:
        parts += ["  The answer that was graded by hand:", _indented(one.old)]
        parts += ["  The answer now:", _indented(one.new)]
    return plain_text("\n".join(parts))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines()) or "    (none)"
