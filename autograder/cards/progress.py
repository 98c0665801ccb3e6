"""The table of progress: the next section, and the status of each exercise, by chapter.

The chapter of the next section is open. The others are one fold in HTML, and one line each in plain
text, so that the next step is visible. In a terminal, the last line is the visible one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from autograder.cards import links
from autograder.cards.wording import STATUS_LOOKS, StatusLook
from autograder.drawing.html import (
    INK,
    PAPER,
    QUIET,
    RULE,
    SANS,
    clean,
    code,
    escaped,
    folded,
    rich,
    tinted,
)
from autograder.lessons.course_map import Section
from autograder.lessons.record_status import PASSED_SEEN, SEEN, is_passed
from autograder.lessons.standing import Place

BAR = 24  # characters
_LOOKS: Mapping[str, StatusLook] = {
    **STATUS_LOOKS,
    SEEN: StatusLook("◐", "Solution seen", "#4b5868"),
    PASSED_SEEN: StatusLook("✓", "Passed, solution seen", STATUS_LOOKS["passed"].colour),
}


@dataclass(frozen=True)
class Row:
    """The status of one exercise.

    Attributes:
        chapter: stem of the chapter's file, such as ``03_manipulation``.
        name: the exercise.
        title: its heading.
        stars: its size, 1 to 4.
        status: from the learner's record.
    """

    chapter: str
    name: str
    title: str
    stars: int
    status: str = "not attempted"

    @property
    def passed(self) -> bool:
        """Whether the exercise is passed."""
        return is_passed(self.status)

    @property
    def look(self) -> StatusLook:
        """Its sign, words and color."""
        return _LOOKS.get(self.status, STATUS_LOOKS["not attempted"])


@dataclass(frozen=True)
class SmallTasks:
    """Counts of the predictions and drills of one chapter.

    Attributes:
        asked: predictions in the chapter.
        made: predictions for which a letter was picked.
        right: predictions whose first pick was right.
        drills: drills in the chapter.
        drilled: drills that were passed.
    """

    asked: int
    made: int
    right: int
    drills: int = 0
    drilled: int = 0

    def __str__(self) -> str:
        first = f", {self.right} right at first" if self.made else ""
        predictions = f"{self.made} of {self.asked} predictions made{first}"
        drills = f"{self.drilled} of {self.drills} drills"
        return " · ".join([predictions] * bool(self.asked) + [drills] * bool(self.drills))


@dataclass(frozen=True)
class Progress:
    """The progress of a learner.

    Attributes:
        rows: the exercises to show, in course order.
        small: the small tasks of each chapter, by the stem of the chapter's file.
        place: the section to continue with, as in the index; ``None`` if all is done.
        linked: whether the chapters are in the notebook's folder, so that names can be links.
    """

    rows: Sequence[Row]
    small: Mapping[str, SmallTasks] = field(default_factory=dict)
    place: Place | None = None
    linked: bool = False

    def __repr__(self) -> str:
        return progress_text(self.rows, self.small, self.place)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        shown = progress_html(self.rows, self.small, self.place, linked=self.linked)
        return {"text/html": shown, "text/plain": repr(self)}


def progress_text(
    rows: Sequence[Row], small: Mapping[str, SmallTasks], place: Place | None = None
) -> str:
    """The table as plain text."""
    if not rows:
        return "There are no exercises yet."
    wide = max(len(row.name) for row in rows)
    chapters = _chapters(rows)
    longest = max(len(chapter) for chapter, _ in chapters)
    lines = [headline(rows)]
    for chapter, own in chapters:
        count = _count(own, small.get(chapter))
        lines.append(f"{chapter:<{longest}}  {_bar_text(own)}  {count}")
        if _is_open(chapter, chapters, place):
            lines += [
                f"  {row.look.icon} {row.name:<{wide}}  {'★' * row.stars:<4}  "
                f"{row.look.word.lower()}"
                for row in own
            ]
    return clean("\n".join([*lines, go_on(place)]))


def progress_html(
    rows: Sequence[Row],
    small: Mapping[str, SmallTasks],
    place: Place | None = None,
    *,
    linked: bool = False,
) -> str:
    """The table as HTML."""
    frame = (
        f"{SANS};font-size:14px;line-height:1.45;background:{PAPER};color:{INK};"
        f"border:1px solid {RULE};border-radius:6px;padding:10px 16px 12px 16px;margin:4px 0;"
        "max-width:900px;box-sizing:border-box;overflow-x:auto"
    )
    if not rows:
        return f'<div style="{frame}">There are no exercises yet.</div>'
    chapters = _chapters(rows)
    here, others = "", ""
    for chapter, own in chapters:
        is_open = _is_open(chapter, chapters, place)
        count = _count(own, small.get(chapter))
        shown = _chapter_html(chapter, own, count, linked=linked, is_open=is_open)
        here, others = (here + shown, others) if is_open else (here, others + shown)
    if others:
        others = folded("The other chapters" if here else "The chapters", others)
    return (
        f'<div style="{frame}"><strong>{_go_on_html(place, linked=linked)}</strong>'
        f"<div>{escaped(headline(rows))}</div>{here}{others}</div>"
    )


def _is_open(chapter: str, chapters: Sequence[tuple[str, list[Row]]], place: Place | None) -> bool:
    """Whether the exercises of a chapter are listed: it is the current one, or the only one."""
    return len(chapters) == 1 or (place is not None and place[0].name == chapter)


def headline(rows: Sequence[Row]) -> str:
    """``You have passed 3 of 17 exercises.``"""
    return f"You have passed {sum(row.passed for row in rows)} of {len(rows)} exercises."


def go_on(place: Place | None) -> str:
    """``Go on here: 3.2 Retargeting, in 03_manipulation.``"""
    if place is None:
        return "You have done all of them."
    chapter, section = place
    return f"Go on here: {_title(section)}, in {chapter.name}."


def _go_on_html(place: Place | None, *, linked: bool) -> str:
    if place is None or not linked:
        return escaped(go_on(place))
    chapter, section = place
    title = links.linked(escaped(_title(section)), chapter.name, section.cell)
    return f"Go on here: {title}, in {links.linked(escaped(chapter.name), chapter.name)}."


def _title(section: Section) -> str:
    return f"{section.number} {section.title}".replace("`", "")


def _exercise_name(row: Row, *, linked: bool) -> str:
    """An exercise's name, linked to its task."""
    name = code(row.name)
    return links.linked(name, row.chapter, f"card-{row.name}") if linked else name


def _chapters(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    return [(chapter, list(own)) for chapter, own in groupby(rows, key=lambda row: row.chapter)]


def _count(rows: Sequence[Row], small: SmallTasks | None) -> str:
    passed = f"{sum(row.passed for row in rows)} of {len(rows)} passed"
    return f"{passed} · {small}" if small and str(small) else passed


def _bar_text(rows: Sequence[Row]) -> str:
    done, left = _bar(rows, BAR)
    return f"[{'#' * done}{'.' * left}]"


def _bar(rows: Sequence[Row], length: int) -> tuple[int, int]:
    done = length * sum(row.passed for row in rows) // len(rows)
    return done, length - done


def _chapter_html(
    chapter: str, rows: Sequence[Row], count: str, *, linked: bool, is_open: bool
) -> str:
    """A fold with a chapter's exercises; its summary has a bar, the name and the count.

    The summary is a button, which cannot contain a link, so the chapter's link is in the fold.
    """
    done, _ = _bar(rows, 120)
    bar = (
        '<span style="display:inline-block;width:120px;height:8px;background:#80808055;'
        'border-radius:4px;margin:0 8px;vertical-align:middle">'
        f'<span style="display:block;width:{done}px;height:8px;border-radius:4px;'
        f'background:{STATUS_LOOKS["passed"].colour}"></span></span>'
    )
    cell = f"padding:1px 14px 1px 0;border:0;background:none;color:{INK};text-align:left"
    table = "border-collapse:collapse;border:0;margin:0 0 0 14px;font-size:13.5px;background:none"
    body = "".join(_row_html(row, cell, linked=linked) for row in rows)
    name = escaped(chapter)
    way = f'<div style="margin:0 0 0 14px">{links.linked(f"Open {name}", chapter)}</div>'
    return (
        f'<details{" open" if is_open else ""} style="margin:2px 0 0 0;color:{INK}">'
        f'<summary style="cursor:pointer">{bar}'
        f"<strong>{name}</strong> "
        f'<span style="color:{QUIET};font-size:13px">{count}</span></summary>'
        f'{way if linked else ""}<table style="{table}"><tbody>{body}</tbody></table></details>'
    )


def _row_html(row: Row, cell: str, *, linked: bool) -> str:
    look = row.look
    return (
        f'<tr style="background:none"><td style="{cell};white-space:nowrap;'
        f'color:{tinted(look.colour)}"><strong>{look.icon}</strong> {look.word}</td>'
        f'<td style="{cell}">{_exercise_name(row, linked=linked)}</td>'
        f'<td style="{cell}">{rich(row.title)}</td>'
        f'<td style="{cell};color:{QUIET};white-space:nowrap">{"★" * row.stars}</td></tr>'
    )
