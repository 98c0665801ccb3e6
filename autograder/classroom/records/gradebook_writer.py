"""The only writer of grades: into the gradebook, and into the folder of graded notebooks."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedNotebook, TaskCell
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.classroom.intake.attached_files import STAMP, as_shown
from autograder.classroom.intake.release_history import given_out
from autograder.classroom.lateness.penalties import LateRow, Penalties, Stamp, keep_time
from autograder.classroom.records.gradebook_cells import source_cells_in
from autograder.classroom.records.group_comments import GroupComments
from autograder.classroom.records.regrade_queue import keep, look_again
from autograder.classroom.records.undo_log import LastRun
from autograder.submission.result import GradedNotebook, Result
from autograder.submission.source_cells import SourceCell


class GradebookWriter:
    """Writes results of grading; one submission at a time, completely or not at all.

    Args:
        room: the classroom.
        config: nbgrader's configuration of it.
        db_url: its gradebook.
        course: nbgrader's name of the course.
        last_run: saves files before they are replaced; if `None`, only the gradebook is written.
    """

    def __init__(
        self,
        room: Path,
        config: Config,
        db_url: str,
        course: str,
        last_run: LastRun | None = None,
    ) -> None:
        self.room, self.config, self.db_url, self.last_run = room, config, db_url, last_run
        self.gradebook = Gradebook(db_url, course)
        self._grade_ids: dict[str, set[str]] | None = None
        self._comments: dict[str, GroupComments] = {}
        self.penalties: Penalties | None = None
        """Computes penalties for late work; set after reading the class's policy."""

    def close(self) -> None:
        """Close the gradebook."""
        self.gradebook.close()

    def source_cells(self, chapter: str) -> dict[str, SourceCell]:
        """The tracked cells of a chapter, by grade id.

        Raises:
            nbgrader.api.MissingEntry: the gradebook has no such chapter.
        """
        given = given_out(CourseDirectory(config=self.config), chapter, chapter)
        return source_cells_in(self.gradebook, chapter, chapter, given)

    def chapters(self) -> list[str]:
        """The assignments in the gradebook."""
        return sorted(assignment.name for assignment in self.gradebook.assignments)

    def notebooks(self, chapter: str) -> list[str]:
        """The notebooks of an assignment."""
        return sorted(book.name for book in self.gradebook.find_assignment(chapter).notebooks)

    def students(self) -> set[str]:
        """The ids of the students in the gradebook."""
        return {student.id for student in self.gradebook.students}

    def kernelspec(self, chapter: str) -> str | None:
        """The kernel that a chapter's notebook asks for, as JSON."""
        found: str | None = self.gradebook.find_notebook(chapter, chapter).kernelspec
        return found

    def grade_ids(self) -> dict[str, set[str]]:
        """The grade ids of each chapter, current and released."""
        if self._grade_ids is None:
            course = CourseDirectory(config=self.config)
            self._grade_ids = {
                chapter: {cell.name for cell in given_out(course, chapter, name)}
                | {cell.name for cell in self.gradebook.find_notebook(name, chapter).source_cells}
                for chapter in self.chapters()
                for name in self.notebooks(chapter)
                if name == chapter
            }
        return self._grade_ids

    def graded_students(self, chapter: str) -> set[str]:
        """Students with a complete set of grades for a chapter."""
        return {
            submission.student_id
            for submission in self.gradebook.assignment_submissions(chapter)
            if submission.notebooks
            and all(g.auto_score is not None or g.manual_score is not None or g.needs_manual_grade
                    for notebook in submission.notebooks for g in notebook.grades)
        }  # fmt: skip

    def write(
        self, graded: GradedNotebook, files: Mapping[str, bytes], stamp: Stamp | None
    ) -> None:
        """Write the result of a submission.

        Args:
            graded: the graded notebook.
            files: the files next to the graded notebook.
            stamp: the time of submission, from its file.
        """
        self._begin()
        book, result = self.gradebook, graded.result
        book.update_or_create_student(result.student)
        book.update_or_create_submission(result.chapter, result.student)
        self.keep_time(result, stamp)
        kept = as_shown(files)  # Formgrader shows graded folders from its own address
        self._note_second_looks(graded, kept)
        if self.last_run:
            self._write_folder(graded, kept, stamp.text if stamp else "", self.last_run)
            self._comments_of(result.chapter).drop_outdated(result)
        self._write_grades(graded)

    def keep_time(self, result: Result, stamp: Stamp | None) -> None:
        """Store the time of a submission in the gradebook."""
        copy = self.room / "autograded" / result.student / result.chapter / "timestamp.txt"
        keep_time(
            self.gradebook, result.chapter, result.student, stamp, copy, self._begin,
            keep_copy=self.last_run is not None,
        )  # fmt: skip

    def _note_second_looks(self, graded: GradedNotebook, files: Mapping[str, bytes]) -> None:
        """Mark changed answers for a second look if a person gave the points of the earlier ones.

        The gradebook is updated before the old notebook is replaced. Otherwise a run that continues
        after an interruption could not tell which answers are new.
        """
        result = graded.result
        submission = self.gradebook.find_submission(result.chapter, result.student)
        for notebook in submission.notebooks:
            if notebook.name == result.chapter and (
                looks := look_again(self.room, notebook, graded, files)
            ):
                if self.last_run:
                    keep(self.room, looks)
                again = {one.cell for one in looks}
                for grade in notebook.grades:
                    grade.needs_manual_grade |= grade.name in again
        self.gradebook.db.commit()

    def _comments_of(self, chapter: str) -> GroupComments:
        """The comments on the groups of a chapter."""
        if chapter not in self._comments:
            self._comments[chapter] = GroupComments(self.room, self.gradebook, chapter, self._begin)
        return self._comments[chapter]

    def waiting(self, chapters: Sequence[str]) -> dict[str, tuple[int, int]]:
        """By chapter, the numbers of submissions and of answers that wait for a person."""
        found = {}
        for chapter in chapters:
            counts = [
                sum(grade.needs_manual_grade for book in one.notebooks for grade in book.grades)
                for one in self.gradebook.assignment_submissions(chapter)
                if one.needs_manual_grade
            ]
            if counts:
                found[chapter] = len(counts), sum(counts)
        return found

    def _begin(self) -> None:
        """Save the current state, before this run changes anything."""
        if self.last_run:
            self.last_run.begin()

    def penalize(self) -> list[LateRow]:
        """Compute all penalties for late work, and write them to the gradebook."""
        if self.penalties is None:
            return []
        return self.penalties.write(self.gradebook, begin=self._begin)

    def _write_grades(self, graded: GradedNotebook) -> None:
        book, result = self.gradebook, graded.result
        submission = book.find_submission(result.chapter, result.student)
        for notebook in submission.notebooks:
            if notebook.name == result.chapter:
                _write_notebook(notebook, graded)
        book.db.commit()
        if self.penalties:
            self.penalties.write(book, [result.student], self._begin)

    def _write_folder(
        self,
        graded: GradedNotebook,
        files: Mapping[str, bytes],
        timestamp: str,
        last_run: LastRun,
    ) -> None:
        chapter = graded.result.chapter
        home = self.room / "autograded" / graded.result.student
        home.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=f".{chapter}-", dir=home))
        try:
            _fill(building, files)
            notebook = building / f"{chapter}.ipynb"
            notebook.write_text(graded.text, encoding="utf-8", errors="replace", newline="\n")
            if timestamp:
                (building / STAMP).write_text(timestamp, encoding="utf-8")
            last_run.put_away(graded.result.student, chapter)
            os.replace(building, home / chapter)
        finally:
            shutil.rmtree(building, ignore_errors=True)


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _write_notebook(notebook: SubmittedNotebook, graded: GradedNotebook) -> None:
    for grade in notebook.grades:
        if isinstance(grade.cell, TaskCell):
            continue  # only people give these points, as in nbgrader
        score = graded.scores.get(grade.name)
        grade.auto_score = score.points if score else 0.0
        if grade.manual_score is None:  # else `_note_second_looks` has set it
            grade.needs_manual_grade = grade.auto_score is None
    for comment in notebook.comments:
        untouched = comment.name in graded.unanswered
        comment.auto_comment = "No response." if untouched else None


def clean_up(room: Path) -> None:
    """Remove folders whose writing was interrupted when a run was stopped."""
    for left in (room / "autograded").glob("*/.*-*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
