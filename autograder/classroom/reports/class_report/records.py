"""Reads the record of a class from the journal and the gradebook, without running anything.

Points come from the gradebook, in which people can override them. Outcomes and findings come from
the journal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    Gradebook,
    GradeCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import select

from autograder.classroom.lateness.deadlines import Policy, read_policy
from autograder.classroom.lms.unusable import noted
from autograder.classroom.records.journal import Journal
from autograder.submission.check_result import CheckResult
from autograder.submission.result import Result, SubmissionStatus
from autograder.submission.source_cells import CHECK

NOT_HANDED_IN = "not handed in"
UNUSABLE = "nothing usable"
NOT_GRADED = "not graded yet"
ELSEWHERE = "graded elsewhere"
"""Outcomes in addition to those of `SubmissionStatus`. `UNUSABLE`: the submission has no notebook
of the class. `ELSEWHERE`: the gradebook has points, and the journal has no result."""

_WHY_ELSEWHERE = (
    "The gradebook has points of it, and the journal of fxcourse grade has none: it was graded "
    "with nbgrader or Formgrader, or its grader was stopped. fxcourse grade grades it again."
)


@dataclass(frozen=True)
class GradedAnswer:
    """The result of one graded cell.

    Attributes:
        exercise: the exercise's name; for a cell of the instructor's own, its grade id.
        points: the points that it earned, including a person's.
        max_points: full marks.
        waits: whether a person has to look at it.
        tried: whether there was an answer.
        check: the recorded verdict; ``None`` if there is none, or if the points have changed since.
    """

    exercise: str
    points: float
    max_points: float
    waits: bool = False
    tried: bool = True
    check: CheckResult | None = None

    @property
    def share(self) -> float:
        """The share of the points that it earned, from 0 to 1."""
        return min(1.0, max(0.0, self.points / self.max_points)) if self.max_points > 0 else 0.0


@dataclass(frozen=True)
class SubmissionEntry:
    """The outcome of one student's chapter.

    Attributes:
        student: the student's id.
        chapter: the chapter.
        ended: the outcome: a `SubmissionStatus`, or one of this module's constants.
        why: notes about refusals, repairs and other events, a sentence each.
        answers: its graded cells.
        penalty: the points taken off for lateness.
        late: the time between its due date and its submission.
        restarts: the number of times that Python had to be restarted.
        repairs: the number of repairs.
        wall: the sandbox in which it was graded; empty if unknown.
    """

    student: str
    chapter: str
    ended: str
    why: tuple[str, ...] = ()
    answers: tuple[GradedAnswer, ...] = ()
    penalty: float = 0.0
    late: timedelta = timedelta()
    restarts: int = 0
    repairs: int = 0
    wall: str = ""

    @property
    def is_handed_in(self) -> bool:
        """Whether there is a submission."""
        return self.ended != NOT_HANDED_IN

    @property
    def points(self) -> float:
        """The points that it earned, after the penalty."""
        return max(0.0, sum(answer.points for answer in self.answers) - self.penalty)

    @property
    def max_points(self) -> float:
        """Full marks."""
        return sum(answer.max_points for answer in self.answers)

    @property
    def waits(self) -> tuple[str, ...]:
        """The exercises that wait for a person."""
        return tuple(answer.exercise for answer in self.answers if answer.waits)

    @property
    def is_late(self) -> bool:
        """Whether it was submitted after its due date."""
        return self.late > timedelta()

    @property
    def needs_a_look(self) -> bool:
        """Whether anything about it is unusual."""
        ordinary = (SubmissionStatus.GRADED, NOT_HANDED_IN)
        return bool(self.ended not in ordinary or self.why or self.waits or self.restarts)


@dataclass(frozen=True)
class ClassRecord:
    """A class.

    Attributes:
        name: its name.
        names: first and last names of its students by their ids.
        chapters: its chapters, in order.
        entries: one for each student and chapter.
    """

    name: str
    names: dict[str, str]
    chapters: tuple[str, ...]
    entries: tuple[SubmissionEntry, ...]

    def of_chapter(self, chapter: str) -> list[SubmissionEntry]:
        """The entries of one chapter."""
        return [entry for entry in self.entries if entry.chapter == chapter]


def read_class(
    room: Path, db_url: str, course: str, journal: Path, results: Iterable[Result] = ()
) -> ClassRecord:
    """Read the record of a class.

    Args:
        room: the classroom.
        db_url: its gradebook, with a driver.
        course: its name.
        journal: the journal's file.
        results: the results of the current run, which are newer than the journal.

    Raises:
        ClassroomError: `deadlines.toml` cannot be used.
    """
    known = {(found.student, found.chapter): found for found in Journal(journal).results()}
    known |= {(found.student, found.chapter): found for found in results}
    with Gradebook(db_url, course) as book:
        names = {
            key: " ".join(filter(None, (first, last)))
            for key, first, last in book.db.execute(
                select(Student.id, Student.first_name, Student.last_name)
            )
        }
        chapters = tuple(sorted(book.db.scalars(select(Assignment.name))))
        submitted = _submissions(book, read_policy(room, chapters))
        answers = _answers(book)
    for student, chapter in known:
        if chapter in chapters:
            names.setdefault(student, "")
    useless = {key: why for key, why in noted(room).items() if key[1] in chapters}
    names |= {student: "" for student, _ in useless if student not in names}
    lying = {chapter: _with_a_folder(room, chapter) for chapter in chapters}
    names |= {each: "" for one in lying.values() for each in one if each not in names}
    entries = []
    for student in sorted(names):
        for chapter in chapters:
            key = student, chapter
            result, row = known.get(key), submitted.get(key)
            if result is None and row is None:
                ended = NOT_HANDED_IN
                why: tuple[str, ...] = ()
                if student in lying[chapter]:
                    ended = NOT_GRADED
                elif key in useless:
                    ended, why = UNUSABLE, (useless[key],)
                entries.append(SubmissionEntry(student, chapter, ended, why))
            else:
                entries.append(_entry(student, chapter, result, row, answers.get(key, ())))
    return ClassRecord(course or room.name, names, chapters, tuple(entries))


def _with_a_folder(room: Path, chapter: str) -> set[str]:
    """The students with a folder for a chapter in ``submitted``."""
    return {path.parent.name for path in (room / "submitted").glob(f"*/{chapter}")}


def _submissions(book: Gradebook, policy: Policy) -> dict[tuple[str, str], tuple[timedelta, float]]:
    """Lateness by the policy and penalty of each submission, by student and chapter."""
    query = (
        select(
            SubmittedAssignment.student_id,
            Assignment.name,
            SubmittedAssignment.__table__.c.timestamp,
            Assignment.__table__.c.duedate,
            SubmittedAssignment.__table__.c.extension,
            SubmittedNotebook.__table__.c.late_submission_penalty,
        )
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .outerjoin(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    )
    found: dict[tuple[str, str], tuple[timedelta, float]] = {}
    for student, chapter, when, due, extension, penalty in book.db.execute(query):
        _, so_far = found.get((student, chapter), (None, 0.0))
        more = (extension or timedelta()) + policy.extension(student, chapter) + policy.grace
        late = max(timedelta(), when - due - more) if when and due else timedelta()
        found[student, chapter] = late, so_far + (penalty or 0.0)
    return found


def _answers(book: Gradebook) -> dict[tuple[str, str], list[tuple[Any, ...]]]:
    """The rows of graded cells by student and chapter, in the notebook's order of names."""
    cells, tasks = GradeCell.__table__, TaskCell.__table__
    query = (
        select(
            SubmittedAssignment.student_id,
            Assignment.name,
            BaseCell.__table__.c.name,
            cells.c.max_score,
            tasks.c.max_score,
            Grade.__table__.c.auto_score,
            Grade.__table__.c.manual_score,
            Grade.__table__.c.extra_credit,
            Grade.__table__.c.needs_manual_grade,
        )
        .select_from(Grade.__table__)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.__table__.c.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(BaseCell.__table__, BaseCell.__table__.c.id == Grade.__table__.c.cell_id)
        .outerjoin(cells, cells.c.id == Grade.__table__.c.cell_id)
        .outerjoin(tasks, tasks.c.id == Grade.__table__.c.cell_id)
    )
    found = defaultdict(list)
    for student, chapter, *row in book.db.execute(query):
        found[student, chapter].append(tuple(row))
    return found


def _entry(
    student: str,
    chapter: str,
    result: Result | None,
    row: tuple[timedelta, float] | None,
    answers: Sequence[tuple[Any, ...]],
) -> SubmissionEntry:
    late, penalty = row or (timedelta(), 0.0)
    checks = {check.exercise: check for check in result.checks} if result else {}
    graded = tuple(sorted((_answer(each, checks, result) for each in answers), key=_by_name))
    ended = str(result.status) if result else ELSEWHERE
    if result is None:
        return SubmissionEntry(student, chapter, ended, (_WHY_ELSEWHERE,), graded, penalty, late)
    looks = filter(None, (check.not_followed() for check in result.checks))
    return SubmissionEntry(
        student, chapter, ended, (*result.notes, *looks), graded, penalty, late, result.restarts,
        result.repairs, result.wall,
    )  # fmt: skip


def _answer(
    row: tuple[Any, ...], checks: dict[str, CheckResult], result: Result | None
) -> GradedAnswer:
    name, of_cell, of_task, auto, manual, extra, waits = row
    most = float(of_cell if of_cell is not None else of_task or 0.0)
    given = manual if manual is not None else auto
    points = (given + (extra or 0.0)) if given is not None else 0.0
    exercise = name.removeprefix(CHECK)
    check = checks.get(exercise)
    if check is not None and auto is not None and abs(check.score * most - auto) > 1e-6:
        check = None  # another grader has graded it since
        tried = True
    elif check is not None:
        tried = check.status != "not attempted"
    else:
        tried = points > 0 or not (name.startswith(CHECK) and _has_checks(result))
    return GradedAnswer(exercise, points, most, bool(waits), tried, check)


def _has_checks(result: Result | None) -> bool:
    """Whether a check without a result was missing in the notebook; old results have no checks."""
    unread = (SubmissionStatus.REFUSED, SubmissionStatus.UNREADABLE)
    return result is not None and bool(result.checks or result.status in unread)


def _by_name(answer: GradedAnswer) -> str:
    return answer.exercise
