"""The one writer of grades: into the gradebook, and the folder of graded notebooks."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedNotebook, TaskCell
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc
from traitlets.config import Config

from autograder.classroom.released import given_out
from autograder.submission.result import GradedNotebook, Result
from autograder.submission.source_cells import SourceCell, source_cells_in

_PAGES = frozenset(".htm .html .mht .mhtml .shtml .svg .svgz .swf .xht .xhtml .xml .xsl".split())
"""Files that a browser would run; Formgrader shows graded folders from its own address."""


class GradebookWriter:
    """Writes what graders have found; one submission at a time, whole or not at all.

    Args:
        room: the classroom.
        config: nbgrader's configuration of it.
        db_url: its gradebook.
        course: nbgrader's name of the course.
    """

    def __init__(self, room: Path, config: Config, db_url: str, course: str) -> None:
        self.room, self.config, self.db_url = room, config, db_url
        self.gradebook = Gradebook(db_url, course)

    def close(self) -> None:
        """Let go of the gradebook."""
        self.gradebook.close()

    def source_cells(self, chapter: str) -> dict[str, SourceCell]:
        """The tracked cells of a chapter, by grade id.

        Raises:
            nbgrader.api.MissingEntry: the gradebook has no such chapter.
        """
        given = given_out(CourseDirectory(config=self.config), chapter, chapter)
        return source_cells_in(self.gradebook, chapter, chapter, given)

    def chapters(self) -> list[str]:
        """The assignments that the gradebook has."""
        return sorted(assignment.name for assignment in self.gradebook.assignments)

    def notebooks(self, chapter: str) -> list[str]:
        """The notebooks that an assignment has."""
        return sorted(book.name for book in self.gradebook.find_assignment(chapter).notebooks)

    def graded_students(self, chapter: str) -> set[str]:
        """Students of whom every grade of a chapter is there."""
        return {
            submission.student_id
            for submission in self.gradebook.assignment_submissions(chapter)
            if submission.notebooks
            and all(g.auto_score is not None or g.manual_score is not None or g.needs_manual_grade
                    for notebook in submission.notebooks for g in notebook.grades)
        }  # fmt: skip

    def write(
        self, graded: GradedNotebook, files: Mapping[str, bytes], timestamp: str
    ) -> tuple[str, ...]:
        """Write down what became of a submission.

        Args:
            graded: what became of it.
            files: what lies beside the graded notebook.
            timestamp: when it was handed in, as a file says it; may be nonsense.

        Returns:
            What was noticed, a sentence each.
        """
        when, notes = _moment(timestamp)
        self._write_folder(graded, files, timestamp if when else "")
        self._write_grades(graded, when)
        return notes

    def _write_grades(self, graded: GradedNotebook, when: datetime | None) -> None:
        book, result = self.gradebook, graded.result
        book.update_or_create_student(result.student)
        more = {"timestamp": when} if when else {}
        submission = book.update_or_create_submission(result.chapter, result.student, **more)
        for notebook in submission.notebooks:
            if notebook.name == result.chapter:
                _write_notebook(notebook, graded)
        book.db.commit()
        if when is not None and submission.total_seconds_late > 0:
            self._penalize(result)

    def _penalize(self, result: Result) -> None:
        """Let nbgrader's plugin say what being late costs."""
        from nbformat.v4 import new_notebook

        ids = {"notebook": result.chapter, "assignment": result.chapter}
        ids |= {"student": result.student, "db_url": self.db_url}
        AssignLatePenalties(config=self.config).preprocess(new_notebook(), {"nbgrader": ids})
        self.gradebook.db.expire_all()

    def _write_folder(
        self, graded: GradedNotebook, files: Mapping[str, bytes], timestamp: str
    ) -> None:
        chapter = graded.result.chapter
        home = self.room / "autograded" / graded.result.student
        home.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=f".{chapter}-", dir=home))
        for name, content in files.items():
            if Path(name).suffix.lower() in _PAGES:
                continue
            path = building / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        notebook = building / f"{chapter}.ipynb"
        notebook.write_text(graded.text, encoding="utf-8", errors="replace", newline="\n")
        if timestamp:
            (building / "timestamp.txt").write_text(timestamp, encoding="utf-8")
        final = home / chapter
        if final.exists():
            shutil.rmtree(final)
        os.replace(building, final)


def _write_notebook(notebook: SubmittedNotebook, graded: GradedNotebook) -> None:
    for grade in notebook.grades:
        if isinstance(grade.cell, TaskCell):
            continue  # points that only people give, as in nbgrader
        score = graded.scores.get(grade.name)
        grade.auto_score = score.points if score else 0.0
        # As in nbgrader: what a person has graded before is for a person to look at again.
        by_hand = grade.manual_score is not None or grade.auto_score is None
        grade.needs_manual_grade = by_hand
    for comment in notebook.comments:
        untouched = comment.name in graded.unanswered
        comment.auto_comment = "No response." if untouched else None


def _moment(timestamp: str) -> tuple[datetime | None, tuple[str, ...]]:
    if not timestamp.strip():
        return None, ()
    try:
        return parse_utc(timestamp.strip()[:100]), ()
    except (ValueError, OverflowError, TypeError):
        return None, ("timestamp.txt does not hold a time; it counts as not late.",)


def clean_up(room: Path) -> None:
    """Take away folders that were being written when a run was stopped."""
    for left in (room / "autograded").glob("*/.*-*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
