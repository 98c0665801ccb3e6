"""Grades a class: looks at what was handed in, has it graded side by side, and writes it down."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbgrader.api import InvalidEntry
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from autograder.classroom.attached_files import files_beside
from autograder.classroom.create import api, is_called
from autograder.classroom.execute_checks import ExecuteChecks
from autograder.classroom.fork_servers import no_box
from autograder.classroom.gradebook_url import (
    MAX_NAME,
    NoGradebook,
    is_storable,
    try_out,
    what_failed,
    with_driver,
)
from autograder.classroom.gradebook_writer import GradebookWriter, clean_up
from autograder.classroom.journal import Journal, digest_of
from autograder.classroom.preflight import RawSubmission, read_submission, students_of
from autograder.classroom.worker_pool import grade_in_parallel
from autograder.sandbox.client import NoBox
from autograder.submission.contract import GradingConfig, Submission
from autograder.submission.result import GradedNotebook, Result, SubmissionStatus
from autograder.submission.sanitize import in_a_line
from autograder.submission.seeds import key_of

HOME = ".fxcourse"
"""The folder in a classroom that holds the journal, and the lock."""


class CannotGrade(Exception):
    """Nothing was graded; the message says why, and what to do."""


@dataclass(frozen=True)
class Summary:
    """What became of a class.

    Attributes:
        results: one for each submission.
        seconds: how long it took in all.
    """

    results: tuple[Result, ...]
    seconds: float


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

    Raises:
        CannotGrade: nothing was graded.
    """
    start = time.perf_counter()
    room = room.expanduser().resolve()
    if not (room / "nbgrader_config.py").is_file():
        raise CannotGrade(
            f"{room} is not a classroom: it has no nbgrader_config.py. "
            "Make one with: fxcourse classroom create DIR"
        )
    with only_one(room):
        marking = _Marking(room, sandbox=sandbox, db_url=db_url, settings=settings or {})
        marking.only = None if not students else frozenset(students)
        try:
            results = marking.grade(chapters, jobs=jobs, force=force, cluster=cluster, say=say)
        except (SQLAlchemyError, InvalidEntry) as error:  # the second one stands for the first
            why = what_failed(error, marking.db_url)
            raise CannotGrade(
                f"The gradebook does not answer any more: {why} What is graded is kept."
            ) from None
        finally:
            marking.writer.close()
    return Summary(tuple(results), time.perf_counter() - start)


class _Marking:
    """One run over a classroom."""

    def __init__(
        self, room: Path, *, sandbox: bool, db_url: str | None, settings: dict[str, Any]
    ) -> None:
        self.room = room
        self.config: Config = api(room).config
        self.config.ExecuteChecks.update(settings)
        if not sandbox:
            self.config.ExecuteChecks.sandbox = False
        if db_url:
            self.config.CourseDirectory.db_url = db_url
        course = CourseDirectory(config=self.config)
        self.db_url = _usable(course.db_url)
        self.execute = ExecuteChecks(config=self.config)
        self.source = Path(course.format_path(course.source_directory, ".", "."))
        try:
            self.writer = GradebookWriter(room, self.config, self.db_url, course.course_id)
        except SQLAlchemyError as error:
            why = what_failed(error, self.db_url)
            raise CannotGrade(f"The gradebook cannot be used: {why}") from None
        self.journal = Journal(room / HOME / "journal.jsonl")
        self.only: frozenset[str] | None = None

    def grade(
        self,
        chapters: Sequence[str] | None,
        *,
        jobs: int,
        force: bool,
        cluster: str | None,
        say: Tell | None,
    ) -> list[Result]:
        chosen = self._choose(chapters)
        if self.execute.sandbox and not cluster and (why_not := no_box()):
            raise CannotGrade(why_not)
        clean_up(self.room)
        waiting = {chapter: self._students(chapter) for chapter in chosen}
        self._look_for_all(waiting)
        count = sum(map(len, waiting.values()))
        if not count:
            raise CannotGrade(
                f"Nothing was handed in. Put notebooks into "
                f"{self.room / 'submitted'}/STUDENT/{chosen[0]}/{chosen[0]}.ipynb"
            )
        results: list[Result] = []
        for chapter in chosen:
            for result in self._grade_chapter(chapter, waiting[chapter], jobs, force, cluster):
                results.append(result)
                if say:
                    say(result, len(results), count)
        return sorted(results, key=lambda result: (result.chapter, result.student))

    def _students(self, chapter: str) -> list[str]:
        """Who has handed in a chapter, of those that are asked for."""
        found = students_of(self.room, chapter)
        return [name for name in found if self.only is None or name in self.only]

    def _look_for_all(self, waiting: Mapping[str, Sequence[str]]) -> None:
        """See to it that of all students who are asked for there is something."""
        missing = sorted(
            (self.only or frozenset()) - {n for found in waiting.values() for n in found}
        )
        if missing:
            raise CannotGrade(
                f"{', '.join(missing)} has handed in nothing of {', '.join(waiting)}: there is no "
                f"such folder in {self.room / 'submitted'}."
            )

    def _choose(self, chapters: Sequence[str] | None) -> list[str]:
        known = self.writer.chapters()
        if not known:
            raise CannotGrade(
                "The gradebook has no chapters. Is this the right gradebook? To begin a new one "
                "for this class, name it in nbgrader_config.py as c.CourseDirectory.db_url, and "
                "run 'nbgrader generate_assignment CHAPTER --force' for each chapter."
            )
        chosen = []
        for word in chapters or known:
            found = [name for name in known if is_called(name, word)]
            if not found:
                raise CannotGrade(f"There is no chapter '{word}'. Chapters: {', '.join(known)}.")
            chosen += found
        return list(dict.fromkeys(chosen))

    def _grade_chapter(
        self, chapter: str, students: list[str], jobs: int, force: bool, cluster: str | None
    ) -> Iterator[Result]:
        why_not = _why_not(chapter, self.writer.notebooks(chapter))
        if why_not:
            for student in students:
                yield _refused(student, chapter, *why_not)
            return
        terms = self._terms(chapter)
        given = files_beside(self.source / chapter)
        graded_before = set() if force else self.writer.graded_students(chapter)
        beside: dict[str, tuple[RawSubmission, str]] = {}
        old: list[Result] = []

        def submissions() -> Iterator[Submission]:
            for student in students:
                if not is_storable(student):
                    old.append(_refused(student, chapter, _NO_NAME))
                    continue
                handed = read_submission(self.room, student, chapter)
                key = key_of(self.execute.secret, student)
                files = handed.files | given  # the course's own files come last, and win
                digest = digest_of(handed.text or b"", sorted(files.items()), key, terms)
                before = self.journal.find(student, chapter, digest)
                if before and student in graded_before and self._has_folder(student, chapter):
                    old.append(before)
                    continue
                beside[student] = replace(handed, files=files), digest
                yield Submission(student, handed.text, files, key, notes=handed.notes)

        for graded in self._graded(submissions(), terms, min(jobs, len(students)), cluster):
            while old:
                yield old.pop()
            handed, digest = beside.pop(graded.result.student)
            yield self._write(graded, handed, digest)
        yield from old

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
        ready = self.execute.chapter(chapter, chapter)
        return GradingConfig(
            chapter, source_cells, ready, self.execute.patience(), self.execute.sandbox,
            proof=self.execute.proof,
        )  # fmt: skip

    def _has_folder(self, student: str, chapter: str) -> bool:
        return (self.room / "autograded" / student / chapter / f"{chapter}.ipynb").is_file()

    def _write(self, graded: GradedNotebook, handed: RawSubmission, digest: str) -> Result:
        stamp = handed.folder / "timestamp.txt"
        timestamp = ""
        if stamp.is_file() and not stamp.is_symlink() and not handed.folder.is_symlink():
            with contextlib.suppress(OSError):
                timestamp = stamp.read_bytes()[:200].decode(errors="replace")
        said = (*graded.result.notes, *self.writer.write(graded, handed.files, timestamp))
        result = replace(graded.result, notes=tuple(map(in_a_line, said)))
        if graded.final:
            self.journal.add(result, digest)
        return result


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


_NO_NAME = f"The gradebook holds names of up to {MAX_NAME} characters; rename the folder."
"""Of a student whom no database could hold, and who stays out of the gradebook."""


def _refused(student: str, chapter: str, *why: str) -> Result:
    """The result of a submission that was not looked at."""
    return Result(in_a_line(student), chapter, SubmissionStatus.REFUSED, notes=why)


@contextlib.contextmanager
def only_one(room: Path) -> Iterator[None]:
    """Hold a classroom, so that there is one writer.

    Raises:
        CannotGrade: somebody else holds it.
    """
    path = room / HOME / "lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as file:
        try:
            _lock(file)
        except OSError:
            raise CannotGrade(f"{room} is being graded already, by another process.") from None
        yield


def _lock(file: Any) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


__all__ = ["CannotGrade", "NoBox", "Summary", "grade_class", "only_one"]
