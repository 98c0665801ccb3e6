"""Grades a class: looks at what was handed in, has it graded side by side, and writes it down."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbgrader.api import InvalidEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import LimitOutput
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from autograder.classroom.attached_files import files_beside
from autograder.classroom.classroom_lock import (
    HOME,
    CannotGrade,
    about_files,
    is_of_the_disk,
    only_one,
)
from autograder.classroom.course_digest import deciding
from autograder.classroom.differences import Change, changes, standings
from autograder.classroom.execute_checks import ExecuteChecks
from autograder.classroom.fork_servers import no_box
from autograder.classroom.found_notebooks import Found, find_notebooks
from autograder.classroom.gradebook_copy import address_of, copy_to
from autograder.classroom.gradebook_url import (
    NoGradebook,
    try_out,
    what_failed,
    with_driver,
)
from autograder.classroom.gradebook_writer import GradebookWriter, clean_up
from autograder.classroom.journal import (
    CHANGED,
    THE_NOTEBOOK,
    Journal,
    digest_of,
    parts_of,
)
from autograder.classroom.last_run import LastRun
from autograder.classroom.late_penalties import BadDeadlines, LateRow, Penalties, Stamp, read_stamp
from autograder.classroom.nbgrader_api import api
from autograder.classroom.nbgrader_options import (
    NOT_KNOWN,
    NOT_PYTHON,
    NbgraderOptions,
    foreign_kernel,
    refused,
)
from autograder.classroom.pools import Pools
from autograder.classroom.preflight import RawSubmission, read_submission
from autograder.classroom.roster import clean_names, why_unsafe_id
from autograder.classroom.second_looks import SecondLook, still_waiting
from autograder.classroom.versions import PIN, differences, is_pinned, pin
from autograder.classroom.whose_work import which_chapters, whose_work
from autograder.classroom.worker_pool import grade_in_parallel
from autograder.sandbox.client import NoBox
from autograder.sandbox.probe import GIVES_AWAY
from autograder.submission.contract import GradingConfig, Submission
from autograder.submission.result import GradedNotebook, Result, SubmissionStatus
from autograder.submission.sanitize import in_a_line
from autograder.submission.seeds import key_of


@dataclass(frozen=True)
class Summary:
    """What became of a class.

    Attributes:
        results: one for each submission.
        seconds: how long it took in all.
        late: what being late does to each submission of these chapters that it does anything to.
        changes: of a run that was only tried, whose score it would change.
        unread: notebooks below `submitted` that were not read, and why, a sentence each.
        waiting: how many submissions of each chapter wait for a person, and how many answers.
        again: what was graded by hand and handed in again, and waits for a person.
        regraded: how many submissions are graded again though nobody handed in again, by reason.
        unwritten: submissions of which an error with files let nothing be written down.
    """

    results: tuple[Result, ...]
    seconds: float
    late: tuple[LateRow, ...] = ()
    changes: tuple[Change, ...] = ()
    unread: tuple[str, ...] = ()
    waiting: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    again: tuple[SecondLook, ...] = ()
    regraded: Mapping[str, int] = field(default_factory=dict)
    unwritten: tuple[str, ...] = ()


Tell = Callable[[Result, int, int], None]
"""Is told of each submission: what became of it, how many are done, and of how many."""


def grade_class(
    room: Path,
    chapters: Sequence[str] | None = None,
    *,
    students: Sequence[str] | None = None,
    jobs: int = 1,
    sandbox: bool = True,
    force: bool = False,
    db_url: str | None = None,
    cluster: str | None = None,
    settings: dict[str, Any] | None = None,
    say: Tell | None = None,
    dry_run: bool = False,
    warn: Callable[[str], None] = lambda sentence: None,
    expect: Callable[[int], None] = lambda count: None,
) -> Summary:
    """Grade what a class has handed in.

    What was graded before and has not changed is not graded again. Killed at any moment, the
    next run goes on, and ends with the same gradebook.

    Args:
        room: the classroom.
        chapters: the chapters; all that have been released by default.
        students: whose work; that of all by default.
        jobs: how many submissions are graded at the same time.
        sandbox: run notebooks in a box.
        force: grade again what was graded before.
        db_url: the gradebook, where it is not the one that the classroom names.
        cluster: the address of a Dask scheduler whose workers grade.
        settings: of `ExecuteChecks`, beside those in the classroom's configuration.
        say: is told of each submission.
        dry_run: try it only: say whose score would change, and write nothing.
        warn: is told first what an instructor should know before anything is graded.
        expect: is told how many submissions there are, as soon as that is known.

    Raises:
        CannotGrade: nothing was graded.
    """
    room = room.expanduser().resolve()
    try:
        return _grade_class(
            room, chapters, students=students, jobs=jobs, sandbox=sandbox, force=force,
            db_url=db_url, cluster=cluster, settings=settings, say=say, dry_run=dry_run,
            warn=warn, expect=expect,
        )  # fmt: skip
    except OSError as error:
        raise CannotGrade(about_files(error)) from None


def _grade_class(
    room: Path,
    chapters: Sequence[str] | None,
    *,
    students: Sequence[str] | None,
    jobs: int,
    sandbox: bool,
    force: bool,
    db_url: str | None,
    cluster: str | None,
    settings: dict[str, Any] | None,
    say: Tell | None,
    dry_run: bool,
    warn: Callable[[str], None],
    expect: Callable[[int], None],
) -> Summary:
    start = time.perf_counter()
    if not (room / "nbgrader_config.py").is_file():
        raise CannotGrade(
            f"{room} is not a classroom: it has no nbgrader_config.py. "
            "Make one with: fxcourse classroom create DIR"
        )
    with only_one(room), _copy_if(dry_run) as copy:
        marking = _Marking(
            room, sandbox=sandbox, db_url=db_url, settings=settings or {}, copy=copy
        )  # fmt: skip
        marking.only = None if not students else frozenset(students)
        try:
            results = marking.grade(
                chapters, jobs=jobs, force=force, cluster=cluster, say=say, warn=warn,
                expect=expect,
            )  # fmt: skip
            told = marking.told()
        except BadDeadlines as error:
            raise CannotGrade(str(error)) from None
        except (SQLAlchemyError, InvalidEntry) as error:  # the second one stands for the first
            why = what_failed(error, marking.db_url)
            raise CannotGrade(
                f"The gradebook does not answer any more: {why} What is graded is kept."
            ) from None
        finally:
            marking.writer.close()
    return replace(told, results=tuple(results), seconds=time.perf_counter() - start)


@contextlib.contextmanager
def _copy_if(wanted: bool) -> Iterator[Path | None]:
    """Where a copy of the gradebook may lie for a moment, if one is wanted."""
    if not wanted:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="fxcourse-dry-run-") as folder:
        yield Path(folder) / "gradebook.db"


class _Marking:
    """One run over a classroom; on a copy of the gradebook, where it is only tried."""

    def __init__(
        self,
        room: Path,
        *,
        sandbox: bool,
        db_url: str | None,
        settings: dict[str, Any],
        copy: Path | None = None,
    ) -> None:
        self.room = room
        self.config: Config = api(room).config
        self.config.ExecuteChecks.update(settings)
        if not sandbox:
            self.config.ExecuteChecks.sandbox = False
        if db_url:
            self.config.CourseDirectory.db_url = db_url
        if why_not := refused(self.config):
            raise CannotGrade(why_not)
        course = CourseDirectory(config=self.config)
        self.db_url = _usable(course.db_url)
        self.execute = ExecuteChecks(config=self.config)
        self.source = Path(course.format_path(course.source_directory, ".", "."))
        self.last_run = None if copy else LastRun(room, room / HOME, self.db_url)
        try:
            if copy:
                copy_to(self.db_url, copy)
                self.db_url = address_of(copy)
            self.writer = GradebookWriter(
                room, self.config, self.db_url, course.course_id, self.last_run
            )
        except SQLAlchemyError as error:
            why = what_failed(error, self.db_url)
            raise CannotGrade(f"The gradebook cannot be used: {why}") from None
        self.journal = Journal(room / HOME / "journal.jsonl")
        self.late: tuple[LateRow, ...] = ()
        self.found, self.asked = Found(), NbgraderOptions.of(self.config)
        self.chosen: list[str] = []
        self._before = standings(self.writer.gradebook) if copy else {}
        self._why: dict[tuple[str, str], str] = {}
        self.only: frozenset[str] | None = None
        self.unwritten: list[str] = []

    def grade(
        self,
        chapters: Sequence[str] | None,
        *,
        jobs: int,
        force: bool,
        cluster: str | None,
        say: Tell | None,
        warn: Callable[[str], None],
        expect: Callable[[int], None],
    ) -> list[Result]:
        chosen = self.chosen = which_chapters(chapters, self.writer.chapters())
        changed = differences(self.room)
        for sentence in changed:
            warn(sentence)
        if changed:
            warn(PIN)
        if self.last_run and not is_pinned(self.room):
            pin(self.room)
        penalties = Penalties(self.room, self.config, self.writer.chapters())
        self.writer.penalties = penalties
        for sentence in penalties.policy.unknown_students(self.room, self.writer.students()):
            warn(sentence)
        for sentence in clean_names(self.writer.gradebook, write=self.last_run is not None):
            warn(sentence)
        if not self.execute.sandbox:
            warn(f"This run has no sandbox. {GIVES_AWAY}")
        elif not cluster and (why_not := no_box()):
            raise CannotGrade(why_not)
        if self.last_run:
            clean_up(self.room)
        self.found = find_notebooks(
            self.room / "submitted", self.writer.chapters(), self.writer.grade_ids
        )
        handed_in = {chapter: self.found.students(chapter) for chapter in chosen}
        waiting = whose_work(handed_in, self.asked, self.only, self.room, warn)
        count = sum(map(len, waiting.values()))
        if not count:
            unread = "".join(f" Not read: {one}" for one in self.found.unread[:5])
            raise CannotGrade(
                f"Nothing was handed in. Put notebooks into "
                f"{self.room / 'submitted'}/STUDENT/{chosen[0]}/{chosen[0]}.ipynb.{unread}"
            )
        expect(count)
        results: list[Result] = []
        for chapter in chosen:
            for result in self._grade_chapter(chapter, waiting[chapter], jobs, force, cluster):
                results.append(result)
                if say:
                    say(result, len(results), count)
        late = self.writer.penalize()
        self.late = tuple(row for row in late if row.chapter in chosen and row.sentence)
        if self.last_run:
            self.last_run.end()
        return sorted(results, key=lambda result: (result.chapter, result.student))

    def told(self) -> Summary:
        """What there is to say of this run, besides its results."""
        book = self.writer.gradebook
        waiting = self.writer.waiting(self.chosen)
        again = [one for one in still_waiting(self.room, book) if one.chapter in self.chosen]
        unread = tuple(self.found.unread)
        return Summary(
            (),
            0.0,
            self.late,
            self._changes(),
            unread,
            waiting,
            tuple(again),
            self._regraded(),
            tuple(self.unwritten),
        )

    def _regraded(self) -> dict[str, int]:
        """Why unchanged notebooks were graded again, and how many of them."""
        reasons = Counter(why.removeprefix(CHANGED) for why in self._why.values() if CHANGED in why)
        return {why: count for why, count in reasons.items() if THE_NOTEBOOK not in why}

    def _changes(self) -> tuple[Change, ...]:
        """Whose score this run changes, where it is only tried."""
        if self.last_run:
            return ()
        after = standings(self.writer.gradebook)
        return tuple(changes(self._before, after, lambda *which: self._why.get(which, "")))

    def _grade_chapter(
        self, chapter: str, students: list[str], jobs: int, force: bool, cluster: str | None
    ) -> Iterator[Result]:
        why_not = _why_not(chapter, self.writer.notebooks(chapter)) or self._foreign(chapter)
        if why_not:
            for student in students:
                yield _refused(student, chapter, *why_not)
            return
        pools, terms = self.execute.pools(), self._terms(chapter)
        pool = terms.ready.pool
        if force and students:  # what is graded once more is tried on what it was tried on before
            ready = replace(terms.ready, pool=_commonest(pools, chapter, students))
            terms = replace(terms, ready=ready)
        given = self.asked.without_excluded(chapter, files_beside(self.source / chapter)[0])
        known = self.writer.students()
        ids, places = self.writer.grade_ids(), self.found.places[chapter]
        graded_before = set() if force else self.writer.graded_students(chapter)
        own = replace(terms.ready, own=deciding(terms.ready.own))
        how = replace(terms, ready=own)  # as far as a grade depends on it
        beside: dict[str, tuple[RawSubmission, str, dict[str, str], Submission]] = {}
        old: list[Result] = []

        def submissions() -> Iterator[Submission]:
            for student in students:
                if why_not := why_unsafe_id(student):
                    old.append(_refused(student, chapter, _RENAME.format(why_not)))
                    continue
                if not self.asked.creates_students and student not in known:
                    old.append(_refused(student, chapter, NOT_KNOWN))
                    continue
                handed = read_submission(self.room, student, chapter, places[student], ids, given)
                key = key_of(self.execute.secret, student)
                # The course's own files come last, and win.
                files = self.asked.not_ignored(handed.files) | given
                depends = handed.text or b"", sorted(files.items()), key, how
                digest, parts = digest_of(*depends), parts_of(*depends)
                before = self.journal.find(student, chapter, digest)
                if before and student in graded_before and self._has_folder(student, chapter):
                    old.append(self._or_refused(before, self._as_before, before, handed))
                    continue
                self._why[student, chapter] = self.journal.why_again(student, chapter, parts)
                one = Submission(
                    student, handed.text, files, key, pool=pool,
                    pools=pools.used(student, chapter), notes=handed.notes,
                )  # fmt: skip
                beside[student] = replace(handed, files=files), digest, parts, one
                yield one

        for graded in self._graded(submissions(), terms, min(jobs, len(students)), cluster):
            while old:
                yield old.pop()
            handed, digest, parts, one = beside.pop(graded.result.student)
            if graded.code and self.last_run:
                pools.note(one.student, chapter, graded.code, one.pool_for(graded.code))
            yield self._or_refused(graded.result, self._write, graded, handed, digest, parts)
        yield from old

    def _or_refused(
        self, result: Result, step: Callable[..., Result], *arguments: object
    ) -> Result:
        """What a step makes of a submission; an error with its files is this submission's own."""
        try:
            return step(*arguments)
        except OSError as error:
            if is_of_the_disk(error):
                raise
            self.unwritten.append(f"{result.student}, {result.chapter}")
            why = f"It could not be written: {error.strerror or type(error).__name__}."
            return _refused(result.student, result.chapter, why)

    def _graded(
        self,
        submissions: Iterator[Submission],
        terms: GradingConfig,
        jobs: int,
        cluster: str | None,
    ) -> Iterator[GradedNotebook]:
        if cluster:
            from autograder.classroom.dask.driver import on_cluster

            return on_cluster(submissions, terms, cluster)
        return grade_in_parallel(submissions, terms, max(1, jobs))

    def _terms(self, chapter: str) -> GradingConfig:
        source_cells = self.writer.source_cells(chapter)
        ready, limit = self.execute.chapter(chapter, chapter), LimitOutput(config=self.config)
        return GradingConfig(
            chapter, source_cells, ready, self.execute.patience(), self.execute.sandbox,
            proof=self.execute.proof, max_lines=limit.max_lines,
            max_traceback=limit.max_traceback,
        )  # fmt: skip

    def _foreign(self, chapter: str) -> tuple[str, ...]:
        kernel = foreign_kernel(self.writer.kernelspec(chapter))
        return (NOT_PYTHON.format(notebook=chapter, kernel=kernel),) if kernel else ()

    def _has_folder(self, student: str, chapter: str) -> bool:
        return (self.room / "autograded" / student / chapter / f"{chapter}.ipynb").is_file()

    def _write(
        self,
        graded: GradedNotebook,
        handed: RawSubmission,
        digest: str,
        parts: dict[str, str],
    ) -> Result:
        stamp = self._stamp(handed)
        self.writer.write(graded, handed.files, stamp)
        result = replace(graded.result, notes=tuple(map(in_a_line, graded.result.notes)))
        if graded.final and self.last_run:
            self.journal.add(result, digest, parts)
        return _with_note(result, stamp)

    def _as_before(self, result: Result, handed: RawSubmission) -> Result:
        """The result of a submission that has not changed; when it was handed in may have."""
        stamp = self._stamp(handed)
        self.writer.keep_time(result, stamp)
        return _with_note(result, stamp)

    def _stamp(self, handed: RawSubmission) -> Stamp | None:
        if self.writer.penalties is None:
            return None
        return read_stamp(handed.folder, self.writer.penalties.policy)


def _with_note(result: Result, stamp: Stamp | None) -> Result:
    """A result that says, too, what is wrong with its time; that is no part of the journal."""
    notes = tuple(n for n in result.notes if not n.startswith("timestamp.txt "))
    return replace(result, notes=(*notes, stamp.note) if stamp and stamp.note else notes)


def _commonest(pools: Pools, chapter: str, students: Sequence[str]) -> int:
    """The pool on which most of these students' latest hand-ins were tried."""
    latest = [[pools.now(chapter), *pools.used(one, chapter).values()][-1] for one in students]
    return Counter(latest).most_common(1)[0][0]


def _usable(db_url: str) -> str:
    """The gradebook's address, once it has answered."""
    try:
        address = with_driver(db_url)
        try_out(address)
    except NoGradebook as error:
        raise CannotGrade(str(error)) from None
    return address


def _why_not(chapter: str, notebooks: Sequence[str]) -> tuple[str, ...]:
    """Why an assignment cannot be graded here, and what to do."""
    if list(notebooks) == [chapter]:
        return ()
    if not notebooks:
        release = f"nbgrader generate_assignment {chapter}"
        return (f"The gradebook has no notebook of {chapter}: it was not released. Run: {release}",)
    return (
        f"The notebooks of {chapter} are {', '.join(notebooks)}; only an assignment that is one "
        f"notebook of the same name is graded here. Grade it with: nbgrader autograde {chapter}",
    )


_RENAME = "This cannot be a student's id: {} Rename the folder."
"""Of a student who stays out of the gradebook."""


def _refused(student: str, chapter: str, *why: str) -> Result:
    """The result of a submission that was not looked at."""
    return Result(in_a_line(student), chapter, SubmissionStatus.REFUSED, notes=why)


__all__ = ["CannotGrade", "NoBox", "Summary", "grade_class", "only_one"]
