"""The marked regions of a cell: solutions, which learners do not get, and hidden tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it imports jupytext, which a judge does not need
    from autograder.builder.source import Cell

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"
MARKERS = (BEGIN, END, BEGIN_HIDDEN, END_HIDDEN)

STUB = "raise NotImplementedError  # Write your code here, in place of this line."
"""The line that replaces a solution in a released notebook."""

OWN_STUB = "### STUB "
"""Begins a line in a region; the rest of the line replaces the solution, instead of `STUB`."""


def markers(cell: Cell) -> list[tuple[int, str]]:
    """The markers in a cell, each with its line number in the chapter's file."""
    lines = enumerate(cell.source.splitlines(), start=cell.line + 1)
    return [(number, mark) for number, line in lines for mark in MARKERS if mark in line]


def without_helpers(source: str) -> str:
    """Drop the solution regions at top level, which define helpers of the answer.

    A stub instead of such a region would raise before the learner's function is defined. If all
    regions are at top level, they are the answer itself and stay. If a region has no end,
    everything stays, and nbgrader then rejects the cell.
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
    return without_gaps("\n".join(kept))


def own_stubs(source: str) -> list[list[str]]:
    """The lines of each solution region's own stub; empty for a region without one."""
    stubs: list[list[str]] = []
    for line in source.split("\n"):
        if BEGIN in line:
            stubs.append([])
        elif stubs and line.lstrip().startswith(OWN_STUB):
            stubs[-1].append(line.lstrip().removeprefix(OWN_STUB))
    return stubs


def with_own_stubs(released: str, stubs: list[list[str]]) -> str:
    """Replace the common stub of each region by the region's own stub, if it has one.

    Args:
        released: a cell in which each region is one line with `STUB`.
        stubs: the result of `own_stubs` for the cell with its regions.
    """
    left = iter(stubs)
    lines: list[str] = []
    for line in released.split("\n"):
        own = next(left, []) if line.lstrip() == STUB else []
        indent = line[: len(line) - len(line.lstrip())]
        lines += [indent + text for text in own] or [line]
    return "\n".join(lines)


def without_markers(source: str) -> str:
    """Drop the lines that mark a region or are its stub, and keep the solutions."""
    marks = (*MARKERS, OWN_STUB)
    lines = source.split("\n")
    return "\n".join(line for line in lines if not any(mark in line for mark in marks))


def without_gaps(source: str) -> str:
    """Shorten each run of blank lines to two, and remove blank lines at both ends."""
    while "\n\n\n\n" in source:
        source = source.replace("\n\n\n\n", "\n\n\n")
    return source.strip("\n")
