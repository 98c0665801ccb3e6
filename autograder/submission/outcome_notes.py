"""What a graded notebook says of its own grading, for the page that its student gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbformat.notebooknode import NotebookNode

from autograder.submission.seeds import NOTES


@dataclass(frozen=True)
class OutcomeNotes:
    """How a notebook was graded.

    Attributes:
        status: how it ended; empty where nbgrader's own command has graded it.
        happened: what was refused, stopped or started again, a sentence each.
        repairs: what was put right before it was run, a sentence each.
        checks: the statuses of verdicts, by exercise.
    """

    status: str = ""
    happened: Sequence[str] = ()
    repairs: Sequence[str] = ()
    checks: Mapping[str, str] = field(default_factory=dict)


def note_outcome(nb: NotebookNode, **facts: Any) -> None:
    """Write fields of `OutcomeNotes` into a notebook, over those that it has."""
    kept = nb.metadata.setdefault(NOTES, {})
    for name, value in facts.items():
        kept[name] = value


def outcome_of(nb: NotebookNode) -> OutcomeNotes:
    """What a graded notebook says; what is not as it should be is left out."""
    kept = nb.metadata.get(NOTES)
    if not isinstance(kept, dict):
        return OutcomeNotes()
    status, checks = kept.get("status"), kept.get("checks")
    return OutcomeNotes(
        status if isinstance(status, str) else "",
        _texts(kept.get("happened")),
        _texts(kept.get("repairs")),
        {str(key): str(value) for key, value in checks.items()} if isinstance(checks, dict) else {},
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
