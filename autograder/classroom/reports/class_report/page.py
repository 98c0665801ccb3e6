"""Renders the report as one HTML page, which needs neither network nor scripts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from markupsafe import Markup

from autograder.classroom.reports.class_report import charts
from autograder.classroom.reports.class_report.item_analysis import (
    EASY_ABOVE,
    HARD_BELOW,
    MIN_TRIED,
    POOR_DISCRIMINATION,
    Statistics,
)
from autograder.classroom.reports.class_report.records import ClassRecord, SubmissionEntry
from autograder.classroom.room.private import MIN_SAME_TEXT
from autograder.drawing.html import rich
from autograder.drawing.templates import environment
from autograder.submission.result import SubmissionStatus


@dataclass(frozen=True)
class Chapter:
    """A row of the table of chapters."""

    name: str
    students: int
    handed_in: int
    late: int
    mean: float
    max_points: float
    endings: str


@dataclass(frozen=True)
class PageRow:
    """A row of the table of students."""

    student: str
    name: str
    chapters: int
    handed_in: int
    points: float
    max_points: float
    late: int
    waits: int
    restarts: int
    repairs: int


MIN_SAME_NOTES = 3
"""The number of ordinary submissions from which on the same notes are shown only once."""


def page(
    record: ClassRecord, statistics: Sequence[Statistics], *, made: datetime, anonymous: bool
) -> str:
    """Render the page.

    Args:
        record: the class; without names, if the page must have none.
        statistics: the statistics of its exercises.
        made: the time of the report.
        anonymous: whether the names were removed.
    """
    handed_in = [entry for entry in record.entries if entry.is_handed_in]
    waiting: dict[tuple[str, str], list[str]] = defaultdict(list)
    for entry in handed_in:
        for exercise in entry.waits:
            waiting[entry.chapter, exercise].append(entry.student)
    shared = _shared_notes(handed_in)
    chapters = groupby(statistics, key=lambda each: each.chapter)
    html: str = _template().render(
        record=record,
        made=made.strftime("%d %B %Y, %H:%M"),
        anonymous=anonymous,
        facts=_facts(record, handed_in, waiting),
        walls=Counter(entry.wall for entry in handed_in if entry.wall),
        standouts=[each for each in statistics if each.faults],
        anchors={(s.chapter, s.exercise): f"e{i}" for i, s in enumerate(statistics)},
        enough=MIN_TRIED, hard=HARD_BELOW, easy=EASY_ABOVE, poor=POOR_DISCRIMINATION,
        alike=MIN_SAME_TEXT,
        overview=charts.overview(statistics),
        waiting=[who for those in waiting.values() for who in those],
        waiting_by_exercise=sorted(waiting.items()),
        chapters=[_chapter(name, record.of_chapter(name)) for name in record.chapters],
        by_chapter=[(name, list(those)) for name, those in chapters],
        look=[e for e in handed_in if e.needs_a_look and _notes_of(e) not in shared],
        shared=sorted(shared.items()),
        handed_in=len(handed_in),
        students=_students(record),
    )  # fmt: skip
    return html


def _shared_notes(entries: Sequence[SubmissionEntry]) -> dict[tuple[str, tuple[str, ...]], int]:
    """Notes that many ordinary submissions of a chapter share, as after a change of points."""
    counts = Counter(filter(None, map(_notes_of, entries)))
    return {notes: count for notes, count in counts.items() if count >= MIN_SAME_NOTES}


def _notes_of(entry: SubmissionEntry) -> tuple[str, tuple[str, ...]] | None:
    """A submission's chapter and notes; `None` without notes, or if it is unusual otherwise."""
    ordinary = entry.ended == SubmissionStatus.GRADED and not entry.waits and not entry.restarts
    return (entry.chapter, entry.why) if ordinary and entry.why else None


def _facts(
    record: ClassRecord,
    handed_in: Sequence[SubmissionEntry],
    waiting: dict[tuple[str, str], list[str]],
) -> list[tuple[int, str]]:
    return [
        (len(record.names), "students"),
        (len(handed_in), "submissions"),
        (sum(entry.is_late for entry in handed_in), "late"),
        (sum(map(len, waiting.values())), "answers wait for you"),
        (sum(bool(entry.restarts) for entry in handed_in), "with restarts"),
        (sum(bool(entry.repairs) for entry in handed_in), "repaired"),
    ]


def _chapter(name: str, entries: Sequence[SubmissionEntry]) -> Chapter:
    handed_in = [entry for entry in entries if entry.is_handed_in]
    graded = [entry for entry in handed_in if entry.answers]
    ended = Counter(entry.ended for entry in handed_in)
    return Chapter(
        name, len(entries), len(handed_in), sum(entry.is_late for entry in handed_in),
        fmean(entry.points for entry in graded) if graded else 0.0,
        max((entry.max_points for entry in graded), default=0.0),
        ", ".join(f"{count} {word}" for word, count in ended.most_common()),
    )  # fmt: skip


def _students(record: ClassRecord) -> list[PageRow]:
    rows = []
    for student, those in groupby(record.entries, key=lambda entry: entry.student):
        own = list(those)
        rows.append(
            PageRow(
                student,
                record.names[student],
                len(own),
                sum(e.is_handed_in for e in own),
                sum(e.points for e in own),
                sum(e.max_points for e in own),
                sum(e.is_late for e in own),
                sum(len(e.waits) for e in own),
                sum(e.restarts for e in own),
                sum(e.repairs for e in own),
            )  # fmt: skip
        )
    return rows


def _template() -> Any:
    """The template, which escapes everything except `Markup`."""
    found = environment(Path(__file__).parent / "templates", trim_blocks=True)
    found.filters |= {
        "percent": lambda part: f"{part:.0%}",
        "figure": lambda value: "–" if value is None else f"{value:.2f}".replace("-", "−"),
        "points": lambda value: f"{round(value, 2):g}",
        "late": lateness,
        "sentences": _sentences,
        "rich": lambda text: Markup(rich(text)),
        "by_ability": charts.by_ability,
    }
    return found.get_template("report.html")


_MOST = 4
"""The most sentences about one submission; report.csv has all."""


def _sentences(why: Sequence[str]) -> str:
    kept = [each if each.endswith((".", "!", "?")) else f"{each}." for each in why[:_MOST]]
    left = len(why) - len(kept)
    return " ".join([*kept, f"And {left} more."] if left else kept)


def lateness(late: timedelta) -> str:
    """Describe a lateness in words: ``2 days``, ``3 hours``."""
    if not late:
        return ""
    minutes = max(1, round(late.total_seconds() / 60))
    for unit, size in (("day", 1440), ("hour", 60), ("minute", 1)):
        if minutes >= size:
            count = minutes // size
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return ""
