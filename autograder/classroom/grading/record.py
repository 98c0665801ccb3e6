"""Writes the results of a run into the gradebook, the folders and the journal."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbgrader.api import InvalidEntry
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from autograder.classroom.grading.plan import GradingPlan, Work
from autograder.classroom.grading.same_answers import (
    ANSWERS,
    digest_of_answers,
    find_same_answers,
)
from autograder.classroom.lateness.penalties import LateRow, Stamp
from autograder.classroom.lateness.same_work import note, stamp_that_counts
from autograder.classroom.records.gradebook_copy import address_of, copy_to
from autograder.classroom.records.gradebook_writer import GradebookWriter
from autograder.classroom.records.journal import CHANGED, THE_NOTEBOOK, Journal
from autograder.classroom.records.regrade_queue import SecondLook, still_waiting
from autograder.classroom.records.score_changes import ScoreChange, changes, standings
from autograder.classroom.records.undo_log import LastRun
from autograder.classroom.room.gradebook_url import try_out, what_failed, with_driver
from autograder.classroom.room.lock import HOME, is_of_the_disk
from autograder.environment.errors import ClassroomError
from autograder.submission.result import GradedNotebook, Result, SubmissionStatus
from autograder.submission.sanitize import in_a_line


@dataclass(frozen=True)
class Summary:
    """The outcome of a run.

    Attributes:
        results: the results, one for each submission.
        seconds: the duration of the run.
        late: the submissions of these chapters that lateness affects.
        changes: for a dry run, the scores that it would change.
        unread: sentences about notebooks below `submitted` that were not read, with the reasons.
        waiting: by chapter, the numbers of submissions and of answers that wait for a person.
        again: answers graded by hand and submitted again, which wait for a person.
        regraded: by reason, the number of submissions graded again without a new submission.
        unwritten: submissions that could not be written because of an error with files.
    """

    results: tuple[Result, ...]
    seconds: float
    late: tuple[LateRow, ...] = ()
    changes: tuple[ScoreChange, ...] = ()
    unread: tuple[str, ...] = ()
    waiting: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    again: tuple[SecondLook, ...] = ()
    regraded: Mapping[str, int] = field(default_factory=dict)
    unwritten: tuple[str, ...] = ()


@contextlib.contextmanager
def open_record(room: Path, config: Config, *, dry_run: bool) -> Iterator[GradingRecord]:
    """Open the gradebook that a run writes to; in a dry run, a copy that is deleted afterwards.

    Raises:
        ClassroomError: the gradebook does not answer, or has stopped answering.
    """
    course = CourseDirectory(config=config)
    db_url = with_driver(course.db_url)
    try_out(db_url)
    last_run = None if dry_run else LastRun(room, room / HOME, db_url)
    with contextlib.ExitStack() as stack:
        try:
            if dry_run:
                folder = tempfile.TemporaryDirectory(prefix="fxcourse-dry-run-")
                copy = Path(stack.enter_context(folder)) / "gradebook.db"
                copy_to(db_url, copy)
                db_url = address_of(copy)
            writer = GradebookWriter(room, config, db_url, course.course_id, last_run)
            stack.callback(writer.close)
        except SQLAlchemyError as error:
            why = what_failed(error, db_url)
            raise ClassroomError(f"The gradebook cannot be used: {why}") from None
        try:
            yield GradingRecord(writer)
        except (SQLAlchemyError, InvalidEntry) as error:  # nbgrader wraps the first in the second
            why = what_failed(error, db_url)
            raise ClassroomError(
                f"The gradebook does not answer any more: {why} What is graded is kept."
            ) from None


class GradingRecord:
    """Writes the results of a run.

    Args:
        writer: the writer of the gradebook; without an undo log, the run is a dry run.
    """

    def __init__(self, writer: GradebookWriter) -> None:
        self.writer = writer
        self._journal = Journal(writer.room / HOME / "journal.jsonl")
        self._before = {} if writer.last_run else standings(writer.gradebook)
        self._reasons: dict[tuple[str, str], str] = {}
        self._unwritten: list[str] = []

    def find_unchanged(self, work: Work) -> Result | None:
        """The result of a submission that has not changed since it was graded."""
        student, chapter = work.submission.student, work.chapter
        path = self.writer.room / "autograded" / student / chapter / f"{chapter}.ipynb"
        return self._journal.find(student, chapter, work.digest) if path.is_file() else None

    def note_reason(self, work: Work) -> None:
        """Record why this run grades a submission."""
        whose = work.submission.student, work.chapter
        self._reasons[whose] = self._journal.why_again(*whose, work.parts)

    def keep(self, before: Result, work: Work) -> Result:
        """Keep the result of an unchanged submission; its time of submission may have changed."""

        def keep(stamp: Stamp | None) -> Result:
            self.writer.keep_time(before, stamp)
            return before

        return self._or_refuse(before, work, keep)

    def write(self, graded: GradedNotebook, work: Work) -> Result:
        """Write a graded submission."""

        def write(stamp: Stamp | None) -> Result:
            before = self._journal.parts(work.submission.student, work.chapter)
            if again := find_same_answers(self.writer, before, graded, work, stamp):
                stamp = again.stamp
                if self.writer.last_run:
                    note(self.writer.room, again)
            self.writer.write(graded, work.raw.files, stamp)
            result = replace(graded.result, notes=tuple(map(in_a_line, graded.result.notes)))
            if graded.final and self.writer.last_run:
                parts = {**work.parts, ANSWERS: digest_of_answers(graded, work)}
                self._journal.add(result, work.digest, parts)
            return result

        return self._or_refuse(graded.result, work, write)

    def _or_refuse(
        self, result: Result, work: Work, step: Callable[[Stamp | None], Result]
    ) -> Result:
        """The result of a step, or a refused result after an error with this submission's files."""
        penalties, whose = self.writer.penalties, (work.submission.student, work.chapter)
        try:
            stamp = (
                stamp_that_counts(self.writer.room, *whose, work.raw.folder, penalties.policy)
                if penalties
                else None
            )
            return _with_note(step(stamp), stamp)
        except OSError as error:
            if is_of_the_disk(error):
                raise
            self._unwritten.append(f"{result.student}, {result.chapter}")
            why = f"It could not be written: {error.strerror or type(error).__name__}."
            return refused_result(result.student, result.chapter, why)

    def finish(self, plan: GradingPlan, results: Sequence[Result]) -> Summary:
        """Write the penalties for late work, and end the run."""
        late = tuple(r for r in self.writer.penalize() if r.chapter in plan.students and r.sentence)
        if self.writer.last_run:
            self.writer.last_run.end()
        return Summary(
            tuple(sorted(results, key=lambda result: (result.chapter, result.student))),
            0.0,
            late,
            tuple(self._changes()),
            tuple(plan.found.unread),
            self.writer.waiting(list(plan.students)),
            tuple(
                one
                for one in still_waiting(self.writer.room, self.writer.gradebook)
                if one.chapter in plan.students
            ),
            self._regraded(),
            tuple(self._unwritten),
        )

    def _regraded(self) -> dict[str, int]:
        """By reason, the number of unchanged notebooks that were graded again."""
        reasons = Counter(
            why.removeprefix(CHANGED) for why in self._reasons.values() if CHANGED in why
        )
        return {why: count for why, count in reasons.items() if THE_NOTEBOOK not in why}

    def _changes(self) -> Iterator[ScoreChange]:
        """The scores that a dry run would change."""
        if not self.writer.last_run:
            after = standings(self.writer.gradebook)
            yield from changes(self._before, after, lambda *whose: self._reasons.get(whose, ""))


def _with_note(result: Result, stamp: Stamp | None) -> Result:
    """Replace a result's note about its time, which is not part of the journal."""
    notes = tuple(n for n in result.notes if not n.startswith("timestamp.txt "))
    return replace(result, notes=(*notes, stamp.note) if stamp and stamp.note else notes)


def refused_result(student: str, chapter: str, *why: str) -> Result:
    """The result of a submission that was not graded."""
    return Result(in_a_line(student), chapter, SubmissionStatus.REFUSED, notes=why)
