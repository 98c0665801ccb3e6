"""The plain text of a verdict's card, with everything that the HTML says."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from autograder.cards.shown_source import LEFT_OUT, shown_source
from autograder.cards.wording import (
    CRASHED,
    INPUTS,
    NOTEBOOK,
    OTHERS,
    STATUS_LOOKS,
    Place,
    StatusLook,
    error_to_show,
    fine_print,
    first_finding,
    headline,
    long_results,
    next_step,
    other_findings,
    parts_title,
    picture_of,
    picture_title,
    points_line,
    printed_title,
    share_word,
    share_worth,
    shares_note,
    short_facts,
    stars_and_minutes,
    tried,
    where_to_look,
)
from autograder.core.exercise import Exercise
from autograder.core.verdict import Example, Verdict
from autograder.drawing.html import bounded, clean

WIDTH = 79
"""Characters in a line: a terminal has 80."""

MOST_LINES = 25
"""Maximum number of lines. To fit, a card omits the picture, parts, and lines of the model."""

FEWEST_SOURCE_LINES, SOURCE_LINES = 3, 14
LONGEST_TEXT = 2_000
RESULT_LINES, ENOUGH, LONGEST_RESULT = 3, 8, 400
ROOM_FOR_A_MODEL = 12
"""Lines reserved for the model before the parts are listed one by one."""


def card_text(
    verdict: Verdict,
    exercise: Exercise,
    *,
    debrief: bool = False,
    place: Place = NOTEBOOK,
    most: int = MOST_LINES,
) -> str:
    """The card as plain text.

    Args:
        verdict: the judge's verdict.
        exercise: its exercise.
        debrief: whether there is a debrief to show after a pass.
        place: where the answer is written.
        most: maximum number of lines; a terminal may have few.
    """
    look = headline(verdict.status, final=place.final)
    end = _wrapped(next_step(verdict, exercise, debrief=debrief, place=place))
    card = ""
    for limits in _LIMITS:
        card, is_cramped = _card(look, verdict, exercise, end, limits, most)
        if not is_cramped:
            break
    return card


def parts_text(verdict: Verdict, exercise: Exercise) -> str:
    """The parts of an exercise with their results; empty without a verdict."""
    return clean("\n".join(_shares(verdict, exercise, len(verdict.shares) + ROOM_FOR_A_MODEL)))


class _Limits(NamedTuple):
    """Maximum numbers of lines: of other findings, an error, inputs, and printed text."""

    others: int
    error: int
    inputs: int
    printed: int


_LIMITS = (_Limits(OTHERS, 5, INPUTS, 3), _Limits(1, 5, INPUTS, 3), _Limits(0, 3, 1, 0))


def _card(
    look: StatusLook, verdict: Verdict, exercise: Exercise, end: str, limits: _Limits, most: int
) -> tuple[str, bool]:
    """The card, and whether it is too long or shows too little of the model."""
    head = f"{look.icon} {look.word}: {exercise.name} · {exercise.title} · "
    first = [_wrapped(head + stars_and_minutes(exercise)), *_said(verdict, limits)]
    last = [*_printed(verdict, limits.printed), end]
    example = None
    if verdict.status not in ("passed", "not attempted"):
        example = verdict.example
    facts = list(_facts(example, limits.inputs)) if example else []
    room = most - sum(map(_height, (*first, *facts, *last)))
    parts = list(_shares(verdict, exercise, room))
    source = list(_source(example, room - sum(map(_height, parts)))) if example else []
    room -= sum(map(_height, (*parts, *source)))
    every = [*first, *source, *facts, *_picture(example, room), *parts, *last]
    card = "\n".join(part for part in map(clean, every) if part)
    wanted = min(ENOUGH, _height(shown_source(example.source))) if source and example else 0
    return card, _height(card) > most or sum(map(_height, source[1:])) < wanted


def _height(part: str) -> int:
    return part.count("\n") + 1 if part else 0


def _said(verdict: Verdict, limits: _Limits) -> Iterator[str]:
    """The mistake and the advice."""
    if verdict.status == "not attempted":
        return
    if error_to_show(verdict):
        yield CRASHED
        yield _indented(verdict.error, limits.error)
    yield from _findings(verdict, limits.others)
    yield _wrapped(tried(verdict))


def _findings(verdict: Verdict, most: int) -> Iterator[str]:
    first = first_finding(verdict)
    if first:
        yield _wrapped(first.message)
    if where_to_look(verdict):
        yield _wrapped(f"Where to look: {where_to_look(verdict)}")
    if verdict.status != "passed" and fine_print(verdict.example):
        yield _wrapped(f"The fine print says: {fine_print(verdict.example)}")
    others, left = other_findings(verdict)
    shown = others[:most]
    if shown:
        yield "Also found:"
    for finding in shown:
        yield _wrapped(finding.message, "  - ")
    left += len(others) - len(shown)
    if left and shown:
        yield f"  - and {left} more"


def _source(example: Example, room: int) -> Iterator[str]:
    """The lines of the model that fit, but at least a few."""
    if not example.source.strip():
        return
    yield "The smallest case that breaks it:"
    most = max(FEWEST_SOURCE_LINES, min(room - 1, SOURCE_LINES))
    for lines in range(most, 0, -1):
        text = _indented(shown_source(example.source, lines), most)
        if _height(text) <= most or lines == 1:
            yield text
            return


def _facts(example: Example, most: int) -> Iterator[str]:
    for name, values, _ in short_facts(example):
        shown = values if len(values) <= most else (*values[:most], LEFT_OUT)
        for i, value in enumerate(shown):
            yield _wrapped(value, f"{name + ':':<13}" if i == 0 else " " * 13)
    for name, (before, differs, after) in long_results(example):
        mark = f"»{differs}«" if differs else ""
        lines = _wrapped(
            f"{before[:LONGEST_RESULT]}{mark[:LONGEST_RESULT]}{after[:LONGEST_RESULT]}",
            f"{name + ':':<13}",
        ).split("\n")
        yield "\n".join([*lines[:RESULT_LINES], *[" " * 13 + "…"] * (len(lines) > RESULT_LINES)])


def _picture(example: Example | None, room: int) -> Iterator[str]:
    """The graphs, if they fit completely."""
    drawn = picture_of(example, ()) if example is not None and room > 3 else None
    if example is None or drawn is None:
        return
    if _height(drawn.text) < room and max(map(len, drawn.text.split("\n"))) < WIDTH - 4:
        yield f"{picture_title(example)}:"
        yield textwrap.indent(drawn.text, "    ")


def _shares(verdict: Verdict, exercise: Exercise, room: int) -> Iterator[str]:
    """The parts and their points, one in a line if they fit."""
    if verdict.status == "not attempted" or not verdict.shares:
        return
    if room < len(verdict.shares) + ROOM_FOR_A_MODEL:
        yield _wrapped(parts_title(verdict, exercise))
        return
    yield "Parts:"
    for share in verdict.shares:
        word, status = share_word(share)
        icon = STATUS_LOOKS[status].icon
        word = f"{word:<17}"
        worth = share_worth(share, verdict, exercise)
        yield _wrapped(f"{share.says} ({worth})", f"  {icon} {word}  ")
    yield _wrapped(" ".join(filter(None, (points_line(verdict, exercise), shares_note(verdict)))))


def _printed(verdict: Verdict, lines: int) -> Iterator[str]:
    if verdict.printed.strip():
        yield f"{printed_title(verdict.printed)}{':' if lines else '.'}"
        shown = clean(verdict.printed[:LONGEST_TEXT]).strip("\n").split("\n")[:lines]
        yield _indented("\n".join(shown), lines) if lines else ""


def _wrapped(text: str, lead: str = "") -> str:
    return (
        ""
        if not text
        else textwrap.fill(
            clean(text),
            WIDTH,
            initial_indent=lead,
            subsequent_indent=" " * len(lead),
            break_long_words=True,
            break_on_hyphens=False,
        )
    )


def _indented(text: str, lines: int) -> str:
    """Lines of code or output; a long line continues in the next one."""
    shown = [
        part
        for line in bounded(text, lines).split("\n")
        for part in (textwrap.wrap(line, WIDTH - 4, subsequent_indent=" " * 8,
                                   replace_whitespace=False, drop_whitespace=False) or [""])
    ]  # fmt: skip
    return textwrap.indent("\n".join(shown), "    ")
