"""Rules for a chapter. Each rule is one small function; `examine` applies all of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches

from autograder.builder import (
    cell_lint,
    comparisons,
    drills,
    plain_english,
    proofs,
    standalone,
    statements,
)
from autograder.builder.card_headings import FINE_PRINT, Card, above_the_fold
from autograder.builder.minutes import effort, words_of
from autograder.builder.predictions import is_prediction
from autograder.builder.problems import BuildRefused, Problem
from autograder.builder.sections import NUMBERED
from autograder.builder.source import Cell, Chapter
from autograder.builder.unfold import OWN_IMPORT

Rule = Callable[[Chapter, Sequence[Card]], Iterator[Problem]]

_TIME = re.compile(r"^\| \*\*Time\*\* \| about (\d+) minutes(?:.*?(\d+) of them for )?", re.M)
_MINUTES_BY_HAND = re.compile(r" \(\d+ minutes?\)$")
_IMPORT = "Add a line 'from autograder import ...' to a cell above; the builder completes it."
MOST_WORDS = 100
"""Maximum number of words in a card above its fine print."""

_PARTS = ("card", "solve", "check")
_NAMING = ("card", "solve", "check", "hint")


def begins_with_a_title(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """The first cell is markdown with the title; the builder adds the note on the source there."""
    first = chapter.cells[0]
    if first.kind != "markdown" or first.tag or not first.source.startswith("# "):
        yield Problem(
            first.line,
            "The chapter does not begin with its title.",
            "Make the first cell a '# %% [markdown]' cell that begins with '# # '.",
        )


def time_is_computed(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """Minutes in the first cell are the minutes that the builder computes."""
    first = chapter.cells[0]
    said = _TIME.search(first.source)
    if not said:
        return
    line = first.line + 1 + first.source.count("\n", 0, said.start())
    whole = effort(chapter, cards)
    if int(said[1]) != whole.about:
        message = f"The chapter takes {whole.about} minutes, and not {said[1]}."
        yield Problem(line, message, f"Write 'about {whole.about} minutes'.")
    if said[2] and int(said[2]) != whole.exercises:
        message = f"The exercises take {whole.exercises} minutes, and not {said[2]}."
        yield Problem(line, message, f"Write '{whole.exercises} of them for'.")


def sections_begin_cells(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """The heading of a section is the first line of its cell, and does not name minutes."""
    for cell in chapter.cells:
        for found in NUMBERED.finditer(cell.source) if cell.kind == "markdown" else ():
            line = cell.line + 1 + cell.source.count("\n", 0, found.start())
            if found.start():
                message = f"Section {found['number']} begins in the middle of a cell."
                yield Problem(line, message, "Put '# %% [markdown]' above it.")
            if _MINUTES_BY_HAND.search(found["title"]):
                message = f"The heading of section {found['number']} names its minutes."
                yield Problem(line, message, "Remove them: the builder computes and adds them.")


def exercises_are_known(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """Every name in a tag is an exercise of this chapter."""
    names = [card.name for card in cards]
    told: set[str] = set()
    for cell in chapter.cells:
        named = cell.tag in _NAMING or cell.tag == "uses"
        if named and cell.value not in names and cell.value not in told:
            told.add(cell.value)
            near = get_close_matches(cell.value, names, n=1)
            yield Problem(
                cell.line,
                f"There is no exercise '{cell.value}' in {chapter.name}.",
                f"Did you mean '{near[0]}'?"
                if near
                else "Correct the name, or add the exercise's folder.",
            )


def tags_are_unique(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """No tag occurs twice with the same name, because both cells would have the same grade id."""
    first: dict[tuple[str, str], Cell] = {}
    for cell in chapter.cells:
        if cell.tag not in _NAMING:
            continue
        earlier = first.setdefault((cell.tag, cell.value), cell)
        if earlier is not cell:
            yield Problem(
                cell.line,
                f'{cell.tag}="{cell.value}" comes here for the second time.',
                f"It is on line {earlier.line} already: keep one of the two.",
            )


def exercises_are_whole(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """Every exercise of the chapter has its card, solution, check and, with hints, a hint."""
    for card in cards:
        cells = {cell.tag: cell for cell in chapter.cells if cell.value == card.name and cell.tag}
        if not cells:
            yield Problem(
                chapter.cells[-1].line,
                f"There is an exercise '{card.name}' that this chapter does not show.",
                f'Write its cells, beginning with # %% [markdown] card="{card.name}".',
            )
            continue
        wanted = (*_PARTS, "hint") if card.hints else _PARTS
        for part in wanted:
            if part not in cells:
                yield Problem(
                    min(cell.line for cell in cells.values()),
                    f"Exercise '{card.name}' has no {part} cell.",
                    f'Add a cell with the header tag {part}="{card.name}".',
                )


def parts_are_in_order(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """The cells of an exercise are in this order: card, solve, check, hint."""
    for card in cards:
        cells = [c for c in chapter.cells if c.tag in _NAMING and c.value == card.name]
        for earlier, later in zip(cells, cells[1:], strict=False):
            if _NAMING.index(earlier.tag) > _NAMING.index(later.tag):
                yield Problem(
                    later.line,
                    f"The {later.tag} cell of '{card.name}' comes after its {earlier.tag} cell.",
                    "Order the cells of an exercise: card, solve, check, hint.",
                )


def cards_are_in_order(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """Exercises come in the order of their numbers."""
    place = {card.name: number for number, card in enumerate(cards)}
    shown = [cell for cell in chapter.tagged("card") if cell.value in place]
    for earlier, later in zip(shown, shown[1:], strict=False):
        if place[earlier.value] > place[later.value]:
            yield Problem(
                later.line,
                f"Exercise '{later.value}' has a smaller number than '{earlier.value}' above it.",
                "Order the exercises by the numbers in their `cases.py`, or change the numbers.",
            )


def cards_are_complete(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """A card has a title, stars, minutes and points."""
    at = {cell.value: cell.line for cell in chapter.tagged("card")}
    for card in cards:
        missing = [
            fact for fact in ("title", "stars", "minutes", "points") if not getattr(card, fact)
        ]
        if card.name in at and missing:
            yield Problem(
                at[card.name],
                f"The card of '{card.name}' has no {' and no '.join(missing)}.",
                "Add it in the exercise's `cases.py`.",
            )


def calls_are_at_hand(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """The functions that generated cells call are imported, or an import above can be extended."""
    known: set[str] = set()
    for cell in chapter.cells:
        if cell.kind == "code":
            known |= _names_in(cell.source)
            if OWN_IMPORT.search(cell.source):
                return
        elif is_prediction(cell) and "predict" not in known:
            yield Problem(cell.line, "This prediction needs `predict`.", _IMPORT)
            return


def english_is_plain(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """A chapter has none of the turns of phrase in `plain_english`."""
    yield from plain_english.findings(chapter)


def statements_are_executed(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """A cell asserts each statement about code in the prose."""
    yield from statements.findings(chapter)


def comparisons_can_fail(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """Results of a torchvision network are compared relative to the effect of other inputs."""
    yield from comparisons.findings(chapter)


def exercises_stand_alone(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """An exercise needs no cell of the chapter except the first code cell."""
    yield from standalone.findings(chapter)


def drills_are_sound(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """A drill has a solution, a likely mistake, and a name in the text above it."""
    yield from drills.findings(chapter)


def cards_are_short(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """At most `MOST_WORDS` words of a card are visible before it is unfolded."""
    for cell in chapter.tagged("card"):
        words = words_of(above_the_fold(cell.source))
        if words > MOST_WORDS:
            message = f"The card of '{cell.value}' shows {words} words, and not {MOST_WORDS}."
            advice = f"Write a line '{FINE_PRINT}' above the rare clauses: they are folded."
            yield Problem(cell.line, message, advice)


def assertions_are_few(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """Cells that a learner reads show values; proofs assert them."""
    yield from proofs.visible_assertions(chapter)


def proofs_are_not_needed(chapter: Chapter, cards: Sequence[Card]) -> Iterator[Problem]:
    """No cell needs a name that only a proof or a drill sets: a learner may not have it."""
    yield from proofs.findings(chapter)


def _names_in(source: str) -> set[str]:
    """The names that a cell defines or imports at top level; none if it is not valid Python."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return set()
    found = {part.name for part in body if isinstance(part, ast.FunctionDef | ast.ClassDef)}
    imports = [part for part in body if isinstance(part, ast.Import | ast.ImportFrom)]
    return found | {alias.asname or alias.name for part in imports for alias in part.names}


RULES: tuple[Rule, ...] = (
    begins_with_a_title,
    time_is_computed,
    sections_begin_cells,
    exercises_are_known,
    tags_are_unique,
    exercises_are_whole,
    parts_are_in_order,
    cards_are_in_order,
    cards_are_complete,
    calls_are_at_hand,
    english_is_plain,
    statements_are_executed,
    comparisons_can_fail,
    exercises_stand_alone,
    cards_are_short,
    drills_are_sound,
    assertions_are_few,
    proofs_are_not_needed,
)


def examine(chapter: Chapter, cards: Sequence[Card]) -> None:
    """Check every rule.

    Raises:
        BuildRefused: with all problems, if there are any.
    """
    problems = [problem for cell in chapter.cells for problem in cell_lint.examine(cell)]
    problems += [problem for rule in RULES for problem in rule(chapter, cards)]
    if problems:
        raise BuildRefused(chapter.path, problems)
