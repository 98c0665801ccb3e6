"""The record of its grading in a graded notebook, and its words for the student."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbformat.notebooknode import NotebookNode

from autograder.submission.result import SubmissionStatus
from autograder.submission.seeds import NOTES

ENDED = {
    SubmissionStatus.REPAIRED: "Before your notebook was graded, it was repaired.",
    SubmissionStatus.RESTORED: "A cell that must stay as it was given out had been changed. It "
    "was put back; this costs nothing.",
    SubmissionStatus.TAMPERED: "Something was changed in a way that could have gained points. It "
    "was put back before grading.",
    SubmissionStatus.TIMED_OUT: "Part of your notebook used up its time and was stopped. The rest "
    "was graded.",
    SubmissionStatus.OUT_OF_MEMORY: "Part of your notebook used up its memory and was stopped. The "
    "rest was graded.",
    SubmissionStatus.CRASHED: "Part of your notebook ended Python. The rest was graded.",
    SubmissionStatus.UNREADABLE: "Your file could not be read as a notebook, so there was nothing "
    "to grade. Hand in the notebook again.",
    SubmissionStatus.REFUSED: "Your submission was not graded, for the reason below.",
}
"""The outcome of a submission, for its student; a submission graded unchanged needs no words."""


@dataclass(frozen=True)
class OutcomeNotes:
    """The record of how a notebook was graded.

    Attributes:
        status: the submission's status; empty if nbgrader's own command has graded it.
        happened: what was refused, stopped or restarted, a sentence each.
        repairs: the repairs before it was run, a sentence each.
        checks: the statuses of verdicts, by exercise.
    """

    status: str = ""
    happened: Sequence[str] = ()
    repairs: Sequence[str] = ()
    checks: Mapping[str, str] = field(default_factory=dict)


def note_outcome(nb: NotebookNode, **facts: Any) -> None:
    """Write fields of `OutcomeNotes` into a notebook; existing ones are replaced."""
    kept = nb.metadata.setdefault(NOTES, {})
    for name, value in facts.items():
        kept[name] = value


def outcome_of(nb: NotebookNode) -> OutcomeNotes:
    """Read the notes of a graded notebook; invalid fields are left out."""
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
