"""Lists the answers that wait for a person.

These are answers that were graded by hand and submitted again, with the old points, the new verdict
and both texts. If an exercise forbids a tool, answers whose text the check cannot follow also wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom.grading.grade_submission import plain_text
from autograder.classroom.records.journal import JOURNAL, Journal
from autograder.classroom.records.regrade_queue import SecondLook, still_waiting
from autograder.classroom.room.gradebook_url import what_failed, with_driver
from autograder.classroom.room.location import classroom_at
from autograder.classroom.room.nbgrader_api import api
from autograder.environment.errors import ClassroomError
from autograder.submission.source_cells import CHECK


def shown(folder: Path) -> str:
    """List the answers of a classroom that wait for a person, as text.

    Raises:
        ClassroomError: it is not a classroom, or its gradebook does not answer.
    """
    room = classroom_at(folder)
    course = CourseDirectory(config=api(room).config)
    try:
        with Gradebook(with_driver(course.db_url), course.course_id) as book:
            looks = still_waiting(room, book)
            unread = list(_not_followed(room, book))
    except SQLAlchemyError as error:
        raise ClassroomError(what_failed(error, course.db_url)) from None
    parts = [_about(one) for one in looks]
    if not looks:
        parts = ["Nothing that was graded by hand was handed in again, or it has been looked at."]
    if unread:
        parts.append(plain_text("\n".join(unread)))
    if looks or unread:
        parts.append("Give points in Formgrader (Manual Grading), and they no longer wait.")
    return "\n\n".join(parts)


def _not_followed(room: Path, book: Gradebook) -> Iterator[str]:
    """A line for each answer whose text the check cannot follow, until it has points by hand."""
    last = {(one.student, one.chapter): one for one in Journal(room / JOURNAL).results()}
    for (student, chapter), result in sorted(last.items()):
        for check in result.checks:
            if check.unread and not _is_graded_by_hand(book, student, chapter, check.exercise):
                yield f"{student}, {chapter}: {check.not_followed()}"


def _is_graded_by_hand(book: Gradebook, student: str, chapter: str, exercise: str) -> bool:
    """Whether a person gave points for an answer, or the gradebook no longer has the answer."""
    try:
        grade = book.find_grade(f"{CHECK}{exercise}", chapter, chapter, student)
    except MissingEntry:
        return True
    return grade.manual_score is not None


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
