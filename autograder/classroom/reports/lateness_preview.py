"""Previews late submissions and their penalties, without writing anything."""

from __future__ import annotations

from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom.lateness.deadlines import shown
from autograder.classroom.lateness.penalties import LateRow, Penalties, Stamp
from autograder.classroom.lateness.same_work import stamp_that_counts
from autograder.classroom.room.gradebook_url import what_failed, with_driver
from autograder.classroom.room.location import classroom_at
from autograder.classroom.room.nbgrader_api import api
from autograder.environment.errors import ClassroomError


def preview(folder: Path) -> RenderableType:
    """Make a table of all late work, as the next run would count it.

    Args:
        folder: the classroom.

    Raises:
        ClassroomError: it is not a classroom, or its deadlines or its gradebook cannot be used.
    """
    room = classroom_at(folder)
    config = api(room).config
    course = CourseDirectory(config=config)
    try:
        with Gradebook(with_driver(course.db_url), course.course_id) as book:
            penalties = Penalties(room, config, [one.name for one in book.assignments])
            due = {one.name: one.duedate for one in book.assignments}

            def stamps(student: str, chapter: str) -> Stamp | None:
                folder = room / "submitted" / student / chapter
                return stamp_that_counts(room, student, chapter, folder, penalties.policy)

            rows = penalties.rows(book, stamps)
            known = {one.id for one in book.students}
            unknown = penalties.policy.unknown_students(room, known)
            waiting = sum(
                not (room / "autograded" / path.parent.name / path.name).is_dir()
                for path in (room / "submitted").glob("*/*")
                if path.name in due
            )
    except SQLAlchemyError as error:
        raise ClassroomError(what_failed(error, course.db_url)) from None
    parts = _parts(rows, penalties, waiting, any(due.values()))
    return Group(*parts, *map(Text, unknown))


def _parts(
    rows: list[LateRow], penalties: Penalties, waiting: int, has_due: bool
) -> list[RenderableType]:
    zone = penalties.policy.zone
    late = [row for row in rows if row.sentence or row.excuse or row.changes]
    parts: list[RenderableType] = []
    if late:
        table = Table("student")
        table.add_column("chapter", no_wrap=True)
        for head in ("handed in", "what it costs", "points off", "until now"):
            table.add_column(head)
        for row in late:
            at = shown(row.lateness.at, zone) if row.lateness.at else "not known"
            table.add_row(
                escape(row.student), escape(row.chapter), at,
                row.sentence or row.excuse or "in time",
                f"{row.penalty:.4g} of {row.score:.4g}", f"{row.before:.4g}",
            )  # fmt: skip
        parts.append(table)
    changes = sum(row.changes for row in late)
    if not has_due:
        parts.append(Text("No chapter has a due date. Set them in Formgrader: Manage Assignments."))
    elif not late:
        parts.append(Text("No submission was late."))
    if changes:
        parts.append(Text(f"Other than in the gradebook: {changes}. 'fxcourse grade' writes it."))
    if waiting:
        parts.append(Text(f"Not graded yet, and not here: {waiting}."))
    return parts
