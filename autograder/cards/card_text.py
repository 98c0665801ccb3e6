"""A verdict as plain text: everything that the HTML card says."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from autograder.cards.wording import (
    CRASHED,
    NOTEBOOK,
    OUTCOMES,
    Place,
    error_to_show,
    first_finding,
    headline,
    long_results,
    next_step,
    other_findings,
    picture_of,
    picture_title,
    points_line,
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

WIDTH = 88


def card_text(
    verdict: Verdict, exercise: Exercise, *, debrief: bool = False, place: Place = NOTEBOOK
) -> str:
    """The card as plain text.

    Args:
        verdict: what the judge says.
        exercise: what it is about.
        debrief: whether there is a debrief to be shown after a pass.
        place: where the answer is written.
    """
    look = headline(verdict.status, final=place.final)
    head = f"{look.icon} {look.word}: {exercise.name} · {exercise.title} · "
    parts = [head + stars_and_minutes(exercise), *_parts(verdict, exercise, debrief, place)]
    return "\n".join(part for part in map(clean, parts) if part)


def _parts(verdict: Verdict, exercise: Exercise, debrief: bool, place: Place) -> Iterator[str]:
    if verdict.status != "not attempted":
        if error_to_show(verdict):
            yield CRASHED
            yield _indented(verdict.error, 12)
        yield from _findings(verdict)
        yield _wrapped(tried(verdict))
        if verdict.status != "passed" and verdict.example is not None:
            yield from _example(verdict.example)
        if verdict.shares:
            yield from _shares(verdict, exercise)
    if verdict.printed.strip():
        yield "Your code printed:"
        yield _indented(verdict.printed, 40)
    yield _wrapped(next_step(verdict, exercise, debrief=debrief, place=place))


def _findings(verdict: Verdict) -> Iterator[str]:
    first = first_finding(verdict)
    if first:
        yield _wrapped(first.message)
    if where_to_look(verdict):
        yield _wrapped(f"Where to look: {where_to_look(verdict)}")
    others, left = other_findings(verdict)
    if others:
        yield "Also found:"
    for finding in others:
        yield _wrapped(finding.message, "  - ")
    if left:
        yield f"  - and {left} more"


def _example(example: Example) -> Iterator[str]:
    if example.source.strip():
        yield "The smallest case that breaks it:"
        yield _indented(example.source, 60)
    for name, values, _ in short_facts(example):
        yield f"{name + ':':<13}{values[0]}"
        yield from (" " * 13 + value for value in values[1:])
    for name, value in long_results(example):
        yield f"{name}:"
        yield _indented(value, 24)
    drawn = picture_of(example, ())
    if drawn is not None:
        yield f"{picture_title(example)}:"
        yield _indented(drawn.text, 80)


def _shares(verdict: Verdict, exercise: Exercise) -> Iterator[str]:
    yield "Parts:"
    for share in verdict.shares:
        word, status = share_word(share)
        icon = OUTCOMES[status].icon
        word = f"{word:<17}"
        yield f"  {icon} {word}  {share.says} ({share_worth(share, verdict, exercise)})"
    yield " ".join(filter(None, (points_line(verdict, exercise), shares_note(verdict))))


def _wrapped(text: str, lead: str = "") -> str:
    return textwrap.fill(
        clean(text),
        WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _indented(text: str, lines: int) -> str:
    return textwrap.indent(bounded(text, lines), "    ")
