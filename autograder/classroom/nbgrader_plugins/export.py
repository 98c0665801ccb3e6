"""Exports grades as a CSV file that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, Gradebook, MissingEntry, Student
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import ExportPlugin

from autograder.classroom.lateness.penalties import Penalties
from autograder.classroom.records.journal import JOURNAL, Journal
from autograder.classroom.records.tables import guarded
from autograder.environment.errors import ClassroomError

COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
    "late",
    "status",
    "notes",
)
"""The columns of nbgrader's own export, then the lateness, outcome and notes of a submission."""


class SafeCsvExport(ExportPlugin):
    """nbgrader's CSV export, with quoted fields and without formulas."""

    def export(self, gradebook: Gradebook) -> None:
        """Write one row for each assignment and student."""
        path = self.to or "grades.csv"
        late, ended = self._late(gradebook), self._outcomes()
        self.log.info("Exporting grades to %s", path)
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            for row in self._rows(gradebook):
                which = row["student_id"], row["assignment"]
                row["late"] = late.get(which, "")
                row["status"], row["notes"] = ended.get(which, ("", ""))
                writer.writerow({key: safe(value) for key, value in row.items()})

    def _outcomes(self) -> dict[tuple[str, str], tuple[str, str]]:
        """The status and the notes of each submission, from the journal of the class."""
        journal = Journal(Path(CourseDirectory(config=self.config).root) / JOURNAL)
        return {
            (one.student, one.chapter): (str(one.status), " ".join(one.notes))
            for one in journal.results()
        }

    def _late(self, gradebook: Gradebook) -> dict[tuple[str, str], str]:
        """Update penalties, because points may have been given by hand since the last run."""
        room = Path(CourseDirectory(config=self.config).root)
        chapters = [assignment.name for assignment in gradebook.assignments]
        try:
            rows = Penalties(room, self.config, chapters).write(gradebook)
        except ClassroomError as error:
            raise NbGraderException(f"No grades were exported. {error}") from None
        return {(row.student, row.chapter): row.sentence or row.excuse for row in rows}

    def _rows(self, gradebook: Gradebook) -> Iterator[dict[str, Any]]:
        students, assignments = set(map(str, self.student)), set(map(str, self.assignment))
        for assignment in sorted(gradebook.assignments, key=lambda one: str(one.name)):
            if assignments and assignment.name not in assignments:
                continue
            for student in gradebook.students:
                if not students or student.id in students:
                    yield _row(gradebook, assignment, student)


def _row(gradebook: Gradebook, assignment: Assignment, student: Student) -> dict[str, Any]:
    row = {
        "assignment": assignment.name,
        "duedate": assignment.duedate,
        "timestamp": "",
        "student_id": student.id,
        "last_name": student.last_name,
        "first_name": student.first_name,
        "email": student.email,
        "raw_score": 0.0,
        "late_submission_penalty": 0.0,
        "score": 0.0,
        "max_score": assignment.max_score,
    }
    try:
        submission = gradebook.find_submission(assignment.name, student.id)
    except MissingEntry:
        return row  # no submission
    penalty = submission.late_submission_penalty or 0.0
    row["timestamp"] = submission.timestamp
    row["raw_score"] = submission.score
    row["late_submission_penalty"] = penalty
    row["score"] = max(0.0, submission.score - penalty)
    return row


def safe(value: Any) -> Any:
    """Prepare a value for a spreadsheet: text that looks like a formula stays text."""
    if value is None:
        return ""
    return guarded(value) if isinstance(value, str) else value
