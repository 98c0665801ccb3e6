"""Makes the report of a classroom, in files that only their owner can read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom.nbgrader_plugins.export import safe
from autograder.classroom.reports.class_report.anonymity import without_names
from autograder.classroom.reports.class_report.item_analysis import analyse
from autograder.classroom.reports.class_report.page import page
from autograder.classroom.reports.class_report.records import (
    ClassRecord,
    SubmissionEntry,
    read_class,
)
from autograder.classroom.room.gradebook_url import try_out, what_failed, with_driver
from autograder.classroom.room.location import classroom_at
from autograder.classroom.room.lock import HOME
from autograder.classroom.room.nbgrader_api import api
from autograder.classroom.room.private import MIN_SAME_TEXT, write_private
from autograder.environment.errors import ClassroomError
from autograder.submission.result import Result

PLACE, PLACE_WITHOUT_NAMES = "report", "report-without-names"
"""Folders of a classroom. The report without names has its own, so that it can be shared alone."""

COLUMNS = (
    "student", "name", "chapter", "ended", "points", "max_points", "late", "late_seconds",
    "penalty", "waits", "restarts", "repairs", "sandbox", "exercises", "why",
)  # fmt: skip
_IDENTIFYING = ("name", "late_seconds", "why")
"""Columns that a table without names does not have."""


def report(
    room: Path,
    *,
    anonymous: bool = False,
    db_url: str | None = None,
    results: Iterable[Result] = (),
    now: datetime | None = None,
) -> Path:
    """Write the report of a classroom, and return the path of the page.

    Args:
        room: the classroom.
        anonymous: leave out names, and everything that identifies students.
        db_url: the gradebook, if not the one in the classroom's configuration.
        results: the results of the current run.
        now: the time to print on the page.

    Raises:
        ClassroomError: there is no classroom, no gradebook, or the folder cannot be written.
    """
    room = classroom_at(room)
    record = _read(room, db_url, results)
    if anonymous:
        record = without_names(record)
    statistics = analyse(record, shown_to=MIN_SAME_TEXT if anonymous else 1)
    html = page(record, statistics, made=now or datetime.now(), anonymous=anonymous)
    folder = room / (PLACE_WITHOUT_NAMES if anonymous else PLACE)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        write_private(folder / "report.csv", table(record, anonymous=anonymous))
        write_private(folder / "index.html", html)
    except OSError as error:
        raise ClassroomError(f"{folder} cannot be written: {error.strerror}.") from None
    return folder / "index.html"


def _read(room: Path, db_url: str | None, results: Iterable[Result]) -> ClassRecord:
    config = api(room).config
    if db_url:
        config.CourseDirectory.db_url = db_url
    course = CourseDirectory(config=config)
    try:
        address = with_driver(course.db_url)
        try_out(address)
        return read_class(room, address, course.course_id, room / HOME / "journal.jsonl", results)
    except SQLAlchemyError as error:
        why = what_failed(error, course.db_url)
        raise ClassroomError(f"The gradebook cannot be read: {why}") from None


def table(record: ClassRecord, *, anonymous: bool = False) -> str:
    """The report as CSV: a row for each student and chapter, without formulas."""
    columns = [name for name in COLUMNS if not (anonymous and name in _IDENTIFYING)]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in _rows(record):
        writer.writerow({key: safe(value) for key, value in row.items()})
    return stream.getvalue()


def _rows(record: ClassRecord) -> Iterator[dict[str, Any]]:
    for entry in record.entries:
        yield {
            "student": entry.student,
            "name": record.names[entry.student],
            "chapter": entry.chapter,
            "ended": entry.ended,
            "points": round(entry.points, 4),
            "max_points": entry.max_points,
            "late": "yes" if entry.is_late else "",
            "late_seconds": round(entry.late.total_seconds()) or "",
            "penalty": entry.penalty or "",
            "waits": "; ".join(entry.waits),
            "restarts": entry.restarts or "",
            "repairs": entry.repairs or "",
            "sandbox": entry.wall,
            "exercises": _exercises(entry),
            "why": " ".join(entry.why),
        }


def _exercises(entry: SubmissionEntry) -> str:
    parts = (f"{a.exercise} {a.points:.4g} of {a.max_points:g}" for a in entry.answers)
    return "; ".join(parts)
