"""Removes everything that identifies students from a class's record."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from autograder.classroom.reports.class_report.records import ClassRecord, SubmissionEntry


def without_names(record: ClassRecord) -> ClassRecord:
    """Replace the students of a record by numbers, in random order.

    Notes may contain a name or a student's own text, and the exact lateness identifies a
    submission. Only the number of notes and the fact of lateness stay.
    """
    order = list(record.names)
    random.SystemRandom().shuffle(order)
    width = len(str(len(order)))
    numbers = {name: f"student {place:0{width}}" for place, name in enumerate(order, start=1)}
    entries = [_anonymized(entry, numbers[entry.student]) for entry in record.entries]
    entries.sort(key=_sort_key)
    names = dict.fromkeys(sorted(numbers.values()), "")
    return replace(record, names=names, entries=tuple(entries))


def _anonymized(entry: SubmissionEntry, student: str) -> SubmissionEntry:
    late = timedelta(days=1) if entry.is_late else timedelta()
    return replace(entry, student=student, why=_note_count(entry.why), late=late)


def _note_count(why: Sequence[str]) -> tuple[str, ...]:
    if not why:
        return ()
    return (f"{len(why)} note{'' if len(why) == 1 else 's'}, not shown here.",)


def _sort_key(entry: SubmissionEntry) -> tuple[str, str]:
    return entry.student, entry.chapter
