"""The last step of nbgrader's chain for feedback: writes the page of each student."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.exporter import Exporter
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory

from autograder.classroom.lateness.deadlines import Policy, read_policy, shown
from autograder.classroom.lateness.reveals import AFTER, first_times
from autograder.classroom.lateness.same_work import find
from autograder.classroom.nbgrader_plugins.feedback_page.contents import Handed, contents_of
from autograder.classroom.nbgrader_plugins.feedback_page.page import page
from autograder.classroom.nbgrader_plugins.feedback_page.private_cases import cases_of
from autograder.submission.source_cells import checked_exercise


class FeedbackPage(HTMLExporter):
    """Writes our page for a chapter of the course, and nbgrader's own for any other notebook."""

    def from_notebook_node(  # type: ignore[override]  # as nbconvert's own exporters of text
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """Turn a graded notebook into a page."""
        if not any(map(checked_exercise, nb.cells)):
            stock: tuple[str, dict[str, Any]] = super().from_notebook_node(nb, resources, **kw)
            return stock
        # All exporters do this; only the template differs.
        nb, found = Exporter.from_notebook_node(self, nb, resources=resources, **kw)
        return page(contents_of(nb, self._handed(found["nbgrader"]))), found

    def _handed(self, ids: dict[str, Any]) -> Handed:
        """The gradebook's data about a submission, in addition to its points."""
        chapter, student = ids["assignment"], ids["student"]
        room = Path(CourseDirectory(config=self.config).root)
        with Gradebook(ids["db_url"]) as book:
            policy = read_policy(room, [one.name for one in book.assignments])
            person = book.find_student(student)
            name = " ".join(filter(None, (person.first_name, person.last_name)))
            submission = book.find_submission(chapter, student)
            due = submission.duedate if submission.assignment.duedate else None
            waits: set[str] = set()
            try:
                notebook = book.find_submission_notebook(ids["notebook"], chapter, student)
                waits = {grade.name for grade in notebook.grades if grade.needs_manual_grade}
            except MissingEntry:
                pass
            return Handed(
                ids["notebook"], name or student, _in_words(submission.timestamp, policy),
                _in_words(due and due + policy.extension(student, chapter), policy),
                float(ids["score"]), float(ids["max_score"]), float(ids["late_penalty"]),
                frozenset(waits), tuple(_remarks(room, submission, policy)),
                cases_of(room, student, chapter),
            )  # fmt: skip


def _remarks(room: Path, submission: SubmittedAssignment, policy: Policy) -> Iterator[str]:
    """Sentences about the time of a submission."""
    student, chapter, at = submission.student_id, submission.name, submission.timestamp
    if again := find(room, student, chapter):
        yield again.sentence(policy.zone)
    shown_at = first_times(room).get(chapter)
    if shown_at and at and at > shown_at:
        yield f"Handed in {AFTER}."


def _in_words(moment: datetime | None, policy: Policy) -> str:
    return shown(moment, policy.zone) if moment else ""
