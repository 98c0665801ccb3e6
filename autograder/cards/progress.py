"""Which exercises are done: a table by chapter, in HTML and in plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from autograder.cards import links
from autograder.cards.wording import OUTCOMES, number, points
from autograder.drawing.html import (
    INK,
    PAPER,
    QUIET,
    RULE,
    SANS,
    clean,
    code,
    escaped,
    rich,
    tinted,
)
from autograder.lessons.course_map import is_deep_dive

BAR = 24  # characters


@dataclass(frozen=True)
class Row:
    """How one exercise stands.

    Attributes:
        chapter: stem of the chapter's file, such as ``03_manipulation``.
        name: the exercise.
        title: its heading.
        stars: its size, 1 to 4.
        points: full marks.
        status: one of the four outcomes of a verdict.
    """

    chapter: str
    name: str
    title: str
    stars: int
    points: float
    status: str = "not attempted"

    @property
    def passed(self) -> bool:
        """Whether it is done."""
        return self.status == "passed"

    @property
    def is_of_deep_dive(self) -> bool:
        """Whether its chapter is a deep dive, such as ``03b_effects``."""
        return is_deep_dive(self.chapter)


@dataclass(frozen=True)
class Predicted:
    """How the predictions of one chapter stand.

    Attributes:
        asked: how many the chapter has.
        made: for how many a letter was picked.
        right: how many of these were right at the first pick.
    """

    asked: int
    made: int
    right: int

    def __str__(self) -> str:
        said = f"{self.made} of {self.asked} predictions made"
        return f"{said}, {self.right} right at first" if self.made else said


@dataclass(frozen=True)
class Progress:
    """How far a learner is.

    Attributes:
        rows: those of all exercises, in course order.
        predictions: how those of each chapter stand, by the stem of the chapter's file.
        linked: whether the chapters lie beside the notebook, so that their names can be links.
    """

    rows: Sequence[Row]
    predictions: Mapping[str, Predicted] = field(default_factory=dict)
    linked: bool = False

    def __repr__(self) -> str:
        return progress_text(self.rows, self.predictions)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {
            "text/html": progress_html(self.rows, self.predictions, linked=self.linked),
            "text/plain": repr(self),
        }


def progress_text(rows: Sequence[Row], predictions: Mapping[str, Predicted]) -> str:
    """The table as plain text."""
    if not rows:
        return "There are no exercises yet."
    wide = max(len(row.name) for row in rows)
    lines = [headline(rows), go_on(rows)]
    for chapter, own in _chapters(rows):
        count = _count(own, predictions.get(chapter))
        lines.append(f"\n{chapter}  {_bar_text(own)}  {count}")
        for row in own:
            look = OUTCOMES.get(row.status, OUTCOMES["not attempted"])
            lines.append(
                f"  {look.icon} {row.name:<{wide}}  {'★' * row.stars:<4}  "
                f"{points(row.points):>10}  {look.word.lower()}"
            )
    return clean("\n".join(lines))


def progress_html(
    rows: Sequence[Row], predictions: Mapping[str, Predicted], *, linked: bool = False
) -> str:
    """The table as HTML."""
    frame = (
        f"{SANS};font-size:14px;line-height:1.45;background:{PAPER};color:{INK};"
        f"border:1px solid {RULE};border-radius:6px;padding:10px 16px 12px 16px;margin:4px 0;"
        "max-width:900px;box-sizing:border-box;overflow-x:auto"
    )
    if not rows:
        return f'<div style="{frame}">There are no exercises yet.</div>'
    body = "".join(
        _chapter_html(chapter, own, _count(own, predictions.get(chapter)), linked=linked)
        for chapter, own in _chapters(rows)
    )
    table = "border-collapse:collapse;border:0;margin:0;font-size:13.5px;background:none"
    return (
        f'<div style="{frame}"><strong>{escaped(headline(rows))}</strong>'
        f"<div>{_go_on_html(rows, linked=linked)}</div>"
        f'<table style="{table}"><tbody>{body}</tbody></table></div>'
    )


def headline(rows: Sequence[Row]) -> str:
    """``You have passed 3 of 17 exercises, 8 of 62 points.``"""
    done = [row for row in rows if row.passed]
    return (
        f"You have passed {len(done)} of {len(rows)} exercises, "
        f"{number(sum(r.points for r in done))} of {number(sum(r.points for r in rows))} points."
    )


def next_row(rows: Sequence[Row]) -> Row | None:
    """The exercise to go on with: the first that is not done, and is in no deep dive."""
    left = [row for row in rows if not row.passed]
    return next((row for row in left if not row.is_of_deep_dive), left[0] if left else None)


def go_on(rows: Sequence[Row]) -> str:
    """``Go on here: add_to_mul, in 03_manipulation.``"""
    row = next_row(rows)
    return f"Go on here: {row.name}, in {row.chapter}." if row else "You have done all of them."


def _go_on_html(rows: Sequence[Row], *, linked: bool) -> str:
    row = next_row(rows)
    if row is None:
        return escaped(go_on(rows))
    name = _exercise_name(row, linked=linked)
    return f"Go on here: {name}, in {_chapter_name(row.chapter, linked=linked)}."


def _chapter_name(chapter: str, *, linked: bool) -> str:
    name = escaped(chapter)
    return links.linked(name, chapter) if linked else name


def _exercise_name(row: Row, *, linked: bool) -> str:
    """An exercise's name, which leads to its task."""
    name = code(row.name)
    return links.linked(name, row.chapter, f"card-{row.name}") if linked else name


def _chapters(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    return [(chapter, list(own)) for chapter, own in groupby(rows, key=lambda row: row.chapter)]


def _count(rows: Sequence[Row], predicted: Predicted | None) -> str:
    passed = f"{sum(row.passed for row in rows)} of {len(rows)} passed"
    return f"{passed} · {predicted}" if predicted and predicted.asked else passed


def _bar_text(rows: Sequence[Row]) -> str:
    done, left = _bar(rows, BAR)
    return f"[{'#' * done}{'.' * left}]"


def _bar(rows: Sequence[Row], length: int) -> tuple[int, int]:
    done = length * sum(row.passed for row in rows) // len(rows)
    return done, length - done


def _chapter_html(chapter: str, rows: Sequence[Row], count: str, *, linked: bool) -> str:
    done, _ = _bar(rows, 120)
    bar = (
        '<span style="display:inline-block;width:120px;height:8px;background:#e3e8ee;'
        'border-radius:4px;margin:0 8px;vertical-align:middle">'
        f'<span style="display:block;width:{done}px;height:8px;border-radius:4px;'
        f'background:{OUTCOMES["passed"].colour}"></span></span>'
    )
    cell = f"padding:1px 14px 1px 0;border:0;background:none;color:{INK};text-align:left"
    head = (
        f'<tr style="background:none"><td colspan="5" style="{cell};padding-top:10px">'
        f"<strong>{_chapter_name(chapter, linked=linked)}</strong>{bar}"
        f'<span style="color:{QUIET};font-size:13px">{count}</span></td></tr>'
    )
    return head + "".join(_row_html(row, cell, linked=linked) for row in rows)


def _row_html(row: Row, cell: str, *, linked: bool) -> str:
    look = OUTCOMES.get(row.status, OUTCOMES["not attempted"])
    quiet = f"{cell};color:{QUIET};white-space:nowrap"
    return (
        f'<tr style="background:none"><td style="{cell};white-space:nowrap;'
        f'color:{tinted(look.colour)}"><strong>{look.icon}</strong> {look.word}</td>'
        f'<td style="{cell}">{_exercise_name(row, linked=linked)}</td>'
        f'<td style="{cell}">{rich(row.title)}</td>'
        f'<td style="{quiet}">{"★" * row.stars}</td>'
        f'<td style="{quiet};text-align:right">{points(row.points)}</td></tr>'
    )
