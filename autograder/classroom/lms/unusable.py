"""Records submissions that cannot be graded, to distinguish them from missing ones."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from autograder.classroom.lms.export import Grade, few
from autograder.classroom.records.journal import JOURNAL, Journal
from autograder.submission.result import SubmissionStatus

FILE = ".fxcourse/unusable.jsonl"
"""Submissions without a notebook of the class, a line for each student and chapter."""


def note(room: Path, chapter: str, reasons: Mapping[str, str]) -> None:
    """Record the students whose submission for a chapter has no notebook of the class, and why."""
    before = noted(room)
    rows = [
        {"student": student, "chapter": chapter, "why": why}
        for student, why in reasons.items()
        if before.get((student, chapter)) != why
    ]
    if rows:
        with (room / FILE).open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


def noted(room: Path) -> dict[tuple[str, str], str]:
    """The reasons, by student and chapter; some students may have submitted a notebook since."""
    path, found = room / FILE, {}
    for line in path.read_text("utf-8", "replace").splitlines() if path.exists() else ():
        try:
            row = json.loads(line)
            found[str(row["student"]), str(row["chapter"])] = str(row["why"])
        except (ValueError, KeyError, TypeError):
            continue  # the line was cut off when the machine stopped
    return found


def notes_for_export(
    room: Path, chapter: str, found: Mapping[str, Grade], exported: Collection[str]
) -> list[str]:
    """Explain the students whose grade is empty or 0, a sentence each.

    Args:
        room: the classroom.
        chapter: the chapter.
        found: the grades, by student.
        exported: the students whose grades were filled in.
    """
    said = []
    if left := [who for who, name in noted(room) if name == chapter and who not in found]:
        said.append(f"{chapter}: handed in something without a notebook, no grade: {few(left)}.")
    unread = (SubmissionStatus.REFUSED, SubmissionStatus.UNREADABLE)
    zero = [
        one.student
        for one in Journal(room / JOURNAL).results()
        if one.chapter == chapter and one.status in unread
        if one.student in exported and not found[one.student].points
    ]
    if zero:
        said.append(f"{chapter}: the notebook could not be read, graded as 0: {few(zero)}.")
    return said
