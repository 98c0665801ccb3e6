"""A verdict as plain text: everything that the HTML card says."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from autograder.cards.shown_source import shown_source
from autograder.cards.wording import (
    CRASHED,
    NOTEBOOK,
    OUTCOMES,
    Place,
    error_to_show,
    first_finding,
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
"""Characters of a line: a terminal has 80."""

MOST_LINES = 25
"""Lines of a card. What has no room is the picture, the list of parts, and lines of the model."""

FEWEST_SOURCE_LINES, SOURCE_LINES = 3, 14
RESULT_LINES, PRINTED_LINES = 3, 3
ROOM_FOR_A_MODEL = 12
"""Lines that are left for the model before the parts are listed one by one."""


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
    look = OUTCOMES[verdict.status]
    head = f"{look.icon} {look.word}: {exercise.name} · {exercise.title} · "
    first = [_wrapped(head + stars_and_minutes(exercise)), *_said(verdict)]
    last = [
        *_printed(verdict),
        _wrapped(next_step(verdict, exercise, debrief=debrief, place=place)),
    ]
    example = None
    if verdict.status not in ("passed", "not attempted"):
        example = verdict.example
    facts = list(_facts(example)) if example else []
    room = MOST_LINES - sum(map(_height, (*first, *facts, *last)))
    parts = list(_shares(verdict, exercise, room))
    source = list(_source(example, room - sum(map(_height, parts)))) if example else []
    room -= sum(map(_height, (*parts, *source)))
    every = [*first, *source, *facts, *_picture(example, room), *parts, *last]
    return "\n".join(part for part in map(clean, every) if part)


def _height(part: str) -> int:
    return part.count("\n") + 1 if part else 0


def _said(verdict: Verdict) -> Iterator[str]:
    """What is wrong, and where to look."""
    if verdict.status == "not attempted":
        return
    if error_to_show(verdict):
        yield CRASHED
        yield _indented(verdict.error, 5)
    yield from _findings(verdict)
    yield _wrapped(tried(verdict))


def _findings(verdict: Verdict) -> Iterator[str]:
    first = first_finding(verdict)
    if first:
        yield _wrapped(first.message)
    if where_to_look(verdict):
        yield _wrapped(f"Where to look: {where_to_look(verdict)}")
    others, left = other_findings(verdict)
    if others:
        yield _wrapped(f"Also found: {others[0].message}")
        left += len(others) - 1
    if left:
        yield f"  and {left} more"


def _source(example: Example, room: int) -> Iterator[str]:
    """The lines of the model, as far as there is room; at least a few."""
    if not example.source.strip():
        return
    yield "The smallest case that breaks it:"
    most = max(FEWEST_SOURCE_LINES, min(room - 1, SOURCE_LINES))
    for lines in range(most, 0, -1):
        text = _indented(shown_source(example.source, lines), most)
        if _height(text) <= most or lines == 1:
            yield text
            return


def _facts(example: Example) -> Iterator[str]:
    for name, values, _ in short_facts(example):
        shown = values if len(values) <= 2 else (values[0], f"and {len(values) - 1} more")
        for i, value in enumerate(shown):
            yield _wrapped(value, f"{name + ':':<13}" if i == 0 else " " * 13)
    for name, (before, differs, after) in long_results(example):
        mark = f"»{differs}«" if differs else ""
        lines = _wrapped(f"{before}{mark}{after}", f"{name + ':':<13}").split("\n")
        yield "\n".join([*lines[:RESULT_LINES], *[" " * 13 + "…"] * (len(lines) > RESULT_LINES)])


def _picture(example: Example | None, room: int) -> Iterator[str]:
    """The graphs, where the whole of them has room."""
    drawn = picture_of(example, ()) if example is not None and room > 3 else None
    if example is not None and drawn is not None and _height(drawn.text) < room:
        yield f"{picture_title(example)}:"
        yield textwrap.indent(drawn.text, "    ")


def _shares(verdict: Verdict, exercise: Exercise, room: int) -> Iterator[str]:
    """The parts, one in a line where there is room, and what they earn."""
    if verdict.status == "not attempted" or not verdict.shares:
        return
    if room < len(verdict.shares) + ROOM_FOR_A_MODEL:
        yield _wrapped(parts_title(verdict, exercise))
        return
    yield "Parts:"
    for share in verdict.shares:
        word, status = share_word(share)
        icon = OUTCOMES[status].icon
        word = f"{word:<17}"
        worth = share_worth(share, verdict, exercise)
        yield _wrapped(f"{share.says} ({worth})", f"  {icon} {word}  ")
    yield _wrapped(" ".join(filter(None, (points_line(verdict, exercise), shares_note(verdict)))))


def _printed(verdict: Verdict) -> Iterator[str]:
    if verdict.printed.strip():
        yield f"{printed_title(verdict.printed)}:"
        yield _indented(verdict.printed, PRINTED_LINES)


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
    """Lines of code or output; a long one goes on in the next line."""
    shown = [
        part
        for line in bounded(text, lines).split("\n")
        for part in (textwrap.wrap(line, WIDTH - 4, subsequent_indent=" " * 8,
                                   replace_whitespace=False, drop_whitespace=False) or [""])
    ]  # fmt: skip
    return textwrap.indent("\n".join(shown), "    ")
