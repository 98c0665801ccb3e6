"""Converts verdicts to points."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping

from nbformat.notebooknode import NotebookNode
from nbgrader import utils

from autograder.submission.source_cells import checked_exercise


def auto_score(cell: NotebookNode, shares: Mapping[str, float | None] | None) -> float | None:
    """The points of a graded cell; ``None`` if the instructor must look at it.

    A check of the course gets the share of its points that the verdict gives, and nothing without
    a verdict. nbgrader scores other cells with points (tests that an instructor added, answers
    that people grade), but a warning costs nothing, and a value above full points gives none.

    Args:
        cell: a grade cell or a task cell, after it was run.
        shares: by grade id, from 0 to 1, or ``None`` if the instructor decides; ``None`` instead
            of the mapping if nothing was run.
    """
    data = cell.metadata["nbgrader"]
    most = float(data.get("points") or 0.0)
    if utils.is_task(cell):
        return None
    if shares is not None and data["grade_id"] in shares:
        share = shares[data["grade_id"]]
        return None if share is None else share * most
    if shares is None and checked_exercise(cell) is not None:
        return 0.0
    try:
        points, _ = utils.determine_grade(_without_warnings(cell))
    except (ValueError, KeyError, TypeError):  # its value exceeds full points, or it has no text
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
