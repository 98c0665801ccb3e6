"""Writes points into the gradebook, instead of nbgrader's own step."""

from __future__ import annotations

from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades

from autograder.submission.scores import auto_score

SCORES = "fxcourse_scores"
"""The key of nbgrader's resources for fractions of the points, from 0 to 1, by grade id."""


class SaveVerdicts(SaveAutoGrades):
    """Gives each graded cell its points; see `auto_score`."""

    def _add_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        name = cell.metadata["nbgrader"]["grade_id"]
        grade = self.gradebook.find_grade(
            name, self.notebook_id, self.assignment_id, self.student_id
        )
        grade.auto_score = auto_score(cell, resources.get(SCORES))
        # As in nbgrader, a person must look again at cells that were graded by hand before.
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        self.gradebook.db.commit()
