"""nbgrader's step that assigns penalties for late work, if nbgrader grades a submission."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.classroom.lateness.penalties import Penalties, keep_time
from autograder.classroom.lateness.same_work import stamp_that_counts


class AssignLateness(NbGraderPreprocessor):
    """Updates the penalties of one student, as `fxcourse grade` does for all students."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Write the penalties into the gradebook; the notebook stays unchanged.

        Raises:
            ClassroomError: `deadlines.toml` cannot be used.
        """
        ids, course = resources["nbgrader"], CourseDirectory(config=self.config)
        student, assignment = ids["student"], ids["assignment"]
        submitted, graded = (
            Path(course.format_path(kind, student, assignment))
            for kind in (course.submitted_directory, course.autograded_directory)
        )
        with Gradebook(ids["db_url"], course.course_id) as book:
            chapters = [one.name for one in book.assignments]
            penalties = Penalties(Path(course.root), self.config, chapters)
            stamp = stamp_that_counts(
                Path(course.root), student, assignment, submitted, penalties.policy
            )
            keep_time(book, assignment, student, stamp, graded / "timestamp.txt")
            for row in penalties.write(book, [student]):
                if row.chapter == assignment and row.sentence:
                    self.log.warning("%s, %s: %s", student, assignment, row.sentence)
        return nb, resources
