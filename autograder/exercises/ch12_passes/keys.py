"""Readers of reports, shared by the answer keys of chapter 12."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autograder.authoring.key import (
    Encoded,
    Evidence,
    Finding,
    Oracle,
    Reference,
    Trial,
    difference,
    runs_of,
    show,
)

Said = dict[str, Encoded]


def table(data: Encoded) -> Said:
    """A dictionary of plain data with strings as keys."""
    return {show(key).strip("'"): value for key, value in data["dict"]}


def said_in(evidence: Evidence) -> tuple[Said, Said]:
    """The reports about the answer and about the key's own answer."""
    got = evidence.outcome.runs[0]["forward"]["value"]
    return table(got), table(evidence.reference.runs[0]["value"])


def driving(ours: Callable[..., Any]) -> Oracle:
    """Make an oracle that reports on the key's own answer in place of the learner's."""

    def oracle(trial: Trial) -> Reference:
        (drive,) = trial.args
        return runs_of(lambda *inputs: drive(ours)(*inputs), trial)

    return oracle


def argument_finding(evidence: Evidence) -> Iterator[Finding]:
    """Report arguments that a run of the result changed, if it should not."""
    got, want = evidence.outcome.runs[0]["forward"], evidence.reference.runs[0]
    tables = evidence.outcome.tensors, evidence.reference.tensors
    found = difference(got["args"], tables[0], want["args"], tables[1], "the arguments")
    if found:
        yield evidence.finding(
            "argument-changed",
            f"After the module that came back was called, {found.text}.",
            "Which node of it writes into what it reads?",
        )


def kind_named(kind: Encoded) -> str:
    """The name of a reported type, in backticks."""
    name = next(iter(kind.values()), "object") if isinstance(kind, dict) else "object"
    name = str(name).rpartition(".")[2]
    return "`None`" if name == "NoneType" else f"a `{name}`"


def other_row(got: Encoded, want: Encoded) -> tuple[list[Encoded], list[Encoded]] | None:
    """The first differing node: its reported and its expected record.

    Both are empty if the numbers of nodes differ.
    """
    ours, theirs = ([row["tuple"] for row in rows["list"]] for rows in (got, want))
    if len(ours) != len(theirs):
        return [], []
    return next((pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]), None)
