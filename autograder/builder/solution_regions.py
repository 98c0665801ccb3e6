"""The marked regions of a cell: solutions, which learners do not get, and hidden tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # with it comes jupytext, which a judge does not need
    from autograder.builder.source import Cell

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"
MARKERS = (BEGIN, END, BEGIN_HIDDEN, END_HIDDEN)

STUB = "raise NotImplementedError  # Write your code here, in place of this line."
"""What stands in a released notebook where the solution stood."""


def markers(cell: Cell) -> list[tuple[int, str]]:
    """The markers in a cell, each with its line in the chapter's file."""
    lines = enumerate(cell.source.splitlines(), start=cell.line + 1)
    return [(number, mark) for number, line in lines for mark in MARKERS if mark in line]


def without_helpers(source: str) -> str:
    """Drop the solution regions that stand at top level, beside the answer and not in it.

    Such a region defines helpers of the solution. A stub in its place would raise before
    the learner's function is defined. Where no other region is left, it is the answer itself,
    and stays; so does everything where a region has no end, which nbgrader then refuses.
    """
    kept: list[str] = []
    dropping = False
    for line in source.split("\n"):
        if BEGIN in line and not line[:1].isspace():
            dropping = True
        if not dropping:
            kept.append(line)
        if END in line:
            dropping = False
    if dropping or not any(BEGIN in line for line in kept):
        return source
    if len(kept) == source.count("\n") + 1:
        return source
    return _without_gaps("\n".join(kept))


def without_markers(source: str) -> str:
    """Drop the lines that only mark a region, and keep the regions themselves."""
    lines = source.split("\n")
    return "\n".join(line for line in lines if not any(mark in line for mark in MARKERS))


def _without_gaps(source: str) -> str:
    while "\n\n\n\n" in source:
        source = source.replace("\n\n\n\n", "\n\n\n")
    return source.strip("\n")
