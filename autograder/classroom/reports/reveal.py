"""Shows students the hidden cases that their answers fail, after the last extension."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.classroom.grading.settings import GradingSettings
from autograder.classroom.intake.selection import which_chapters
from autograder.classroom.lateness import reveals
from autograder.classroom.lateness.deadlines import (
    NoTime,
    Policy,
    day_and_time,
    in_utc,
    last_extension,
    read_policy,
)
from autograder.classroom.lateness.same_work import written
from autograder.classroom.records.journal import JOURNAL, Journal
from autograder.classroom.records.versions import CHECKS, installed
from autograder.classroom.room.open_classroom import OpenClassroom, open_classroom
from autograder.environment.errors import ClassroomError

_DAY_ALONE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Shown:
    """The cases that pages of a chapter show after a `reveal`.

    Attributes:
        chapter: the chapter.
        hidden: by hidden case, as ``exercise: case``, the number of students who see it.
        random: the number of answers whose random model is shown with its results.
        new: the hidden cases that no reveal has shown before.
        too_early: in a dry run, the reason why it would be refused now; usually empty.
    """

    chapter: str
    hidden: Mapping[str, int]
    random: int
    new: tuple[str, ...]
    too_early: str = ""


def reveal(
    folder: Path,
    chapter: str,
    *,
    random_only: bool = False,
    after: str = "",
    dry_run: bool = False,
    now: datetime | None = None,
) -> Shown:
    """Let feedback pages show the cases that answers of a chapter fail.

    Args:
        folder: the classroom.
        chapter: the name or number of the chapter.
        random_only: show no hidden cases.
        after: a day or a time, for a chapter without a due date: work ends then.
        dry_run: write nothing.
        now: the time, in UTC without a time zone; by default, the clock's.

    Raises:
        ClassroomError: it is too early, or nobody knows when work of the chapter ends.
    """
    now = now or datetime.now(UTC).replace(tzinfo=None)
    with open_classroom(folder) as classroom:
        chapters = sorted(one.name for one in classroom.gradebook.assignments)
        (name,) = which_chapters([chapter], chapters)
        policy = read_policy(classroom.room, chapters)
        too_early = why_too_early(classroom.gradebook, name, policy, after, now)
        if too_early and not dry_run:
            raise ClassroomError(too_early)
        hidden, random = _failing(classroom.room, name)
        if random_only:
            hidden = Counter()
        before = reveals.reveals_of(classroom.room, name)
        known = {case for one in before for case in one.cases}
        new = tuple(sorted(hidden.keys() - known))
        if not dry_run and (new or not before):
            reveals.add(classroom.room, _record(classroom, name, new, now))
        return Shown(name, hidden, random, new, too_early)


def why_too_early(book: Gradebook, chapter: str, policy: Policy, after: str, now: datetime) -> str:
    """The reason for not showing cases yet; empty if the last extension is over.

    Raises:
        ClassroomError: nobody knows when that is.
    """
    assignment = book.find_assignment(chapter)
    end, says = None, ""
    if assignment.duedate:
        own = {one.student_id: one.duedate for one in assignment.submissions}
        end, whose = last_extension(policy, chapter, assignment.duedate, own)
        says = f"The last extension ends on {day_and_time(end, policy.zone)}"
        says += f", for {whose}." if whose else "."
    elif not after:
        raise ClassroomError(
            f"{chapter} has no due date, so nobody knows when work on it ends. Set it in "
            "Formgrader (Manage Assignments), or name the last day: --after 2026-12-04"
        )
    if after:
        named = _end_of(after, policy)
        if end is None or named > end:
            end, says = named, f"You said --after {after}, which is not over yet."
    return says if end is not None and now <= end else ""


def _end_of(after: str, policy: Policy) -> datetime:
    """The moment that ``--after`` names; for a day, its end."""
    try:
        moment = in_utc(f"{after} 00:00" if _DAY_ALONE.fullmatch(after) else after, policy.zone)
    except NoTime as error:
        raise ClassroomError(f"--after '{after}' {error}. An example: 2026-12-04") from None
    return moment + timedelta(days=1) if _DAY_ALONE.fullmatch(after) else moment


def _failing(room: Path, chapter: str) -> tuple[Counter[str], int]:
    """The hidden cases that pages can show, each with its number of students, and the number of
    random models."""
    hidden: Counter[str] = Counter()
    random = 0
    for result in Journal(room / JOURNAL).results():
        for check in result.checks if result.chapter == chapter else ():
            if check.private and check.private.kind == "hidden":
                hidden[f"{check.exercise}: {check.private.case}"] += 1
            random += bool(check.private and check.private.kind == "random")
    return hidden, random


def _record(
    classroom: OpenClassroom, chapter: str, cases: tuple[str, ...], now: datetime
) -> reveals.Reveal:
    versions = installed()
    course = f"fxcourse {versions['fxcourse']}, {CHECKS} {versions[CHECKS]}"
    pools = GradingSettings.of(classroom.nbgrader.config).pools
    return reveals.Reveal(chapter, written(now), course, cases, pools.now(chapter))


def lines_about(shown: Shown, folder: Path, *, dry_run: bool) -> Iterator[str]:
    """Describe what pages show, a line each."""
    count = len(shown.new)
    cases = "1 hidden case is" if count == 1 else f"{count} hidden cases are"
    yield f"{shown.chapter}: {cases} given away{_further(shown)}."
    for case, students in sorted(shown.hidden.items()):
        yield f"  {case} ({students} student{'' if students == 1 else 's'})"
    models = "1 answer" if shown.random == 1 else f"{shown.random} answers"
    yield f"{models} failed on random models: the page shows the results on the smallest one."
    if not shown.hidden and not shown.random:
        yield "If answers failed, they may have been graded by an earlier version of the course."
        yield f"Grade them again: fxcourse grade {folder} {shown.chapter} --force"
    if dry_run:
        yield f"Nothing was written. {shown.too_early}".rstrip()
        return
    yield "Pages that you make now show this. For pages that exist:"
    yield f"  nbgrader generate_feedback {shown.chapter} --force"


def _further(shown: Shown) -> str:
    known = len(shown.hidden) - len(shown.new)
    return f", next to {known} that {'was' if known == 1 else 'were'} before" if known else ""
