"""Puts verdicts into a notebook: the card below each check cell, and its share of the points."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_output

from autograder.core.exercise import Exercise
from autograder.core.verdict import Verdict
from autograder.submission.source_cells import checked_exercise

_log = logging.getLogger(__name__)


def show_verdicts(
    nb: NotebookNode, exercises: Mapping[str, Exercise], verdicts: Mapping[int, Verdict]
) -> dict[str, float | None]:
    """Make each verdict's card the output of its check cell.

    Args:
        nb: the notebook, changed in place.
        exercises: the exercises by name.
        verdicts: by the number of the check cell, from 0.

    Returns:
        The shares of the points of all checks of these exercises, by grade id; ``None`` if the
        instructor must decide.
    """
    shares: dict[str, float | None] = {
        cell.metadata["nbgrader"]["grade_id"]: 0.0
        for cell in nb.cells
        if checked_exercise(cell) in exercises
    }
    for index, verdict in verdicts.items():
        cell = nb.cells[index]
        points = cell.metadata["nbgrader"].get("points")  # the class's: it was repaired
        cell.outputs = [card_of(verdict, exercises[verdict.exercise].worth(points))]
        cell.execution_count = None
        shares[cell.metadata["nbgrader"]["grade_id"]] = _share(verdict)
    return shares


def _share(verdict: Verdict) -> float | None:
    return None if verdict.status == "not judged" else verdict.score


def card_of(verdict: Verdict, exercise: Exercise) -> NotebookNode:
    """The card of a verdict as the output of its check cell."""
    from autograder.cards.card import card_html, card_text
    from autograder.cards.wording import GRADED

    try:
        shown = {
            "text/html": card_html(verdict, exercise, place=GRADED),
            "text/plain": card_text(verdict, exercise, place=GRADED),
        }
    except Exception:  # a picture that cannot be drawn must not fail the submission
        _log.exception("The card of %s could not be drawn", exercise.name)
        first = verdict.findings[0].message if verdict.findings else ""
        shown = {"text/plain": f"{exercise.name}: {verdict.status}. {first}"}
    output: NotebookNode = new_output("display_data", data=shown)
    return output
