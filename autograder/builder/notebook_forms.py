"""The source form and the released form of a chapter's notebook, and the text of its file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.builder.card_headings import Card, found_exercises
from autograder.builder.chapter_lint import examine
from autograder.builder.expand import expand
from autograder.builder.proofs import proofs_of_predictions, without_proofs
from autograder.builder.release import release
from autograder.builder.sections import sections
from autograder.builder.source import read
from autograder.builder.unfold import Unfolded, unfold


def unfolded(
    chapter_path: Path,
    cards: Sequence[Card] | None = None,
    *,
    solved: bool = False,
    proofs: bool = False,
) -> tuple[Unfolded, Sequence[Card]]:
    """A chapter that follows the rules, with the cells of its notebook; and its exercises.

    Args:
        chapter_path: a file such as ``solutions/03_manipulation.py``.
        cards: its exercises in course order; by default those in its folder.
        solved: pick the right letters in predictions.
        proofs: keep the cells that prove statements of the text.

    Raises:
        BuildRefused: the chapter breaks a rule; the message names file and line.
    """
    chapter, notebook = read(chapter_path)
    cards = found_exercises(chapter.name) if cards is None else cards
    examine(chapter, cards)
    of_predictions = proofs_of_predictions(chapter)
    if not proofs:
        chapter, notebook = without_proofs(chapter, notebook)
    return unfold(chapter, notebook, solved=solved, proofs=of_predictions), cards


def source_notebook(
    chapter_path: Path,
    cards: Sequence[Card] | None = None,
    *,
    solved: bool = False,
    proofs: bool = False,
) -> NotebookNode:
    """A chapter in source form, as in a classroom's ``source/``: with solutions and hidden tests.

    Arguments and errors are those of `unfolded`.
    """
    made, cards = unfolded(chapter_path, cards, solved=solved, proofs=proofs)
    by_name = {card.name: card for card in cards}
    minutes = {each.number: each.minutes for each in sections(read(chapter_path)[0], cards)}
    resources = {"chapter": made.chapter, "cards": by_name, "minutes": minutes}
    return expand(made.notebook, resources)


def build(chapter_path: Path, cards: Sequence[Card] | None = None) -> NotebookNode:
    """A chapter in released form: without solutions, hidden tests and outputs.

    Arguments and errors are those of `source_notebook`.
    """
    return release(source_notebook(chapter_path, cards))


def as_text(notebook: NotebookNode) -> str:
    """The text of a notebook's file; equal notebooks give equal text."""
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)
    return text.rstrip("\n") + "\n"
