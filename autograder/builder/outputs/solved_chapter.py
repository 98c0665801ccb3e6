"""Solved notebooks for readers: every chapter executed, with outputs, in ``build/solutions/``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import nbformat

from autograder.builder.card_headings import Card
from autograder.builder.notebook_forms import as_text, source_notebook, unfolded
from autograder.builder.outputs.execute import ExecutionFailed, execute, solved
from autograder.builder.outputs.trust import sign
from autograder.builder.paths import BUILD, shown
from autograder.builder.problems import BuildRefused

SOLVED = BUILD / "solutions"


class SolvingFailed(Exception):
    """A chapter could not be built, or one of its cells failed."""


def is_current(chapter: Path, folder: Path = SOLVED, cards: Sequence[Card] | None = None) -> bool:
    """Whether the notebook that `write_solved` wrote has the same cells as the chapter.

    Raises:
        SolvingFailed: the chapter breaks a rule.
    """
    path = folder / f"{chapter.stem}.ipynb"
    if not path.is_file():
        return False
    try:
        now = solved(source_notebook(chapter, cards, solved=True, proofs=True))
    except BuildRefused as refusal:
        raise SolvingFailed(str(refusal)) from None
    then = nbformat.read(path, as_version=4)
    return [(c.id, c.source) for c in then.cells] == [(c.id, c.source) for c in now.cells]


def write_solved(chapter: Path, folder: Path = SOLVED, cards: Sequence[Card] | None = None) -> Path:
    """Execute a chapter in solved form, and write the notebook with its outputs.

    Returns:
        The notebook's path.

    Raises:
        SolvingFailed: with the line of the cell that failed.
    """
    try:
        run = execute(source_notebook(chapter, cards, solved=True, proofs=True))
    except BuildRefused as refusal:
        raise SolvingFailed(str(refusal)) from None
    except ExecutionFailed as failure:
        line = unfolded(chapter, cards, proofs=True)[0].chapter.cells[failure.index].line
        raise SolvingFailed(f"{shown(chapter)}:{line}: {failure}") from None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{chapter.stem}.ipynb"
    path.write_text(as_text(solved(run)), encoding="utf-8", newline="\n")
    sign(path)
    return path
