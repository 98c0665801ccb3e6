"""Takes out of a class's record what says who is who."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from autograder.classroom.reports.class_report.records import ClassRecord, SubmissionEntry

MIN_SAME_TEXT = 3
"""A message or a model is quoted in a report without names only if so many students got the same:
it may hold a student's own words, and random models are each student's own."""


def without_names(record: ClassRecord) -> ClassRecord:
    """The record with numbers in place of students, in an order that says nothing.

    What is said of a submission in words may hold a name or a student's own text, and how late it
    was tells it apart: of both only the fact stays.
    """
    order = list(record.names)
    random.SystemRandom().shuffle(order)
    width = len(str(len(order)))
    numbers = {name: f"student {place:0{width}}" for place, name in enumerate(order, start=1)}
    entries = [_hidden(entry, numbers[entry.student]) for entry in record.entries]
    entries.sort(key=_place)
    names = dict.fromkeys(sorted(numbers.values()), "")
    return replace(record, names=names, entries=tuple(entries))


def _hidden(entry: SubmissionEntry, student: str) -> SubmissionEntry:
    late = timedelta(days=1) if entry.is_late else timedelta()
    return replace(entry, student=student, why=_told_in_number(entry.why), late=late)


def _told_in_number(why: Sequence[str]) -> tuple[str, ...]:
    if not why:
        return ()
    return (f"{len(why)} note{'' if len(why) == 1 else 's'}, not shown here.",)


def _place(entry: SubmissionEntry) -> tuple[str, str]:
    return entry.student, entry.chapter
