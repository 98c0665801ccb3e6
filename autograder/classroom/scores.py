"""Scores for the gradebook, from verdicts only."""

from __future__ import annotations

from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades

from autograder.classroom.checks import SCORES
from autograder.classroom.masters import checked_exercise


class SaveVerdicts(SaveAutoGrades):
    """Gives each check the share of its points that its verdict says; zero without a verdict.

    Cells with points that are not checks of the course (tests that an instructor added, answers
    that people grade) go nbgrader's own way.
    """

    def _add_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        if checked_exercise(cell) is None:
            super()._add_score(cell, resources)
            return
        name = cell.metadata.nbgrader["grade_id"]
        grade = self.gradebook.find_grade(
            name, self.notebook_id, self.assignment_id, self.student_id
        )
        share = resources.get(SCORES, {}).get(name, 0.0)
        grade.auto_score = share * grade.max_score
        # As in nbgrader: what a person has graded before is for a person to look at again.
        grade.needs_manual_grade = grade.manual_score is not None
        self.gradebook.db.commit()
