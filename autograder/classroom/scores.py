"""From verdicts to points: in the gradebook, where nbgrader writes them."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import determine_grade, is_task

from autograder.classroom.source_cells import checked_exercise

SCORES = "fxcourse_scores"
"""The key of nbgrader's resources under which shares from 0 to 1 stand, by grade id."""


def auto_score(cell: NotebookNode, shares: Mapping[str, float | None] | None) -> float | None:
    """The points of a graded cell; ``None`` where a person must look at it.

    A check of the course gets the share of its points that its verdict says, and nothing without
    a verdict. Other cells with points (tests that an instructor added, answers that people grade)
    go nbgrader's way, but a warning costs nothing, and what shows more than full marks gets none.

    Args:
        cell: the cell, after it was run; a grade cell, or a task cell.
        shares: by grade id, from 0 to 1, or ``None`` where a person decides; ``None`` in place of
            all of them if nothing was run.
    """
    data = cell.metadata["nbgrader"]
    most = float(data.get("points") or 0.0)
    if is_task(cell):
        return None
    if shares is not None and data["grade_id"] in shares:
        share = shares[data["grade_id"]]
        return None if share is None else share * most
    if shares is None and checked_exercise(cell) is not None:
        return 0.0
    try:
        points, _ = determine_grade(_without_warnings(cell))
    except (ValueError, KeyError, TypeError):  # it shows more than full marks, or no text
        return 0.0
    if points is None:
        return None
    return points if math.isfinite(points) and 0 <= points <= most else 0.0


def _without_warnings(cell: NotebookNode) -> NotebookNode:
    if cell.cell_type != "code":
        return cell
    kept = copy.copy(cell)
    kept.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return kept


class SaveVerdicts(SaveAutoGrades):
    """Gives each graded cell its points; see `auto_score`."""

    def _add_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        name = cell.metadata["nbgrader"]["grade_id"]
        grade = self.gradebook.find_grade(
            name, self.notebook_id, self.assignment_id, self.student_id
        )
        grade.auto_score = auto_score(cell, resources.get(SCORES))
        # As in nbgrader: what a person has graded before is for a person to look at again.
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        self.gradebook.db.commit()
