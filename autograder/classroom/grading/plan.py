"""Decides which submissions a run grades, and with which configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property

from autograder.classroom.grading.chapter_preload import preload_spec
from autograder.classroom.grading.options import GradingOptions
from autograder.classroom.grading.settings import GradingSettings
from autograder.classroom.intake.attached_files import files_beside
from autograder.classroom.intake.closed_folders import close_folders
from autograder.classroom.intake.discover import Found, find_notebooks
from autograder.classroom.intake.preflight import RawSubmission, read_submission
from autograder.classroom.intake.selection import which_chapters, whose_work
from autograder.classroom.lateness.penalties import Penalties
from autograder.classroom.records.course_digest import deciding
from autograder.classroom.records.gradebook_writer import GradebookWriter, clean_up
from autograder.classroom.records.journal import digest_of, parts_of
from autograder.classroom.records.pools import Pools
from autograder.classroom.records.roster import clean_names, why_unsafe_id
from autograder.classroom.records.versions import PIN, differences, is_pinned, pin
from autograder.classroom.room.honoured_settings import (
    NOT_KNOWN,
    NOT_PYTHON,
    NbgraderOptions,
    foreign_kernel,
)
from autograder.environment.errors import ClassroomError
from autograder.sandbox.walls import GIVES_AWAY, NoBox, Wall, choose
from autograder.submission.contract import GradingConfig, Submission
from autograder.submission.seeds import seed_key

_RENAME = "This cannot be a student's id: {} Rename the folder."
"""The note for a student whose id the gradebook cannot contain."""


@dataclass(frozen=True)
class Work:
    """A submission that was read.

    Attributes:
        chapter: its chapter.
        raw: the submission on disk, with the files to save next to it.
        submission: the submission for the grader.
        digest: a digest of everything that its grade depends on.
        parts: digests of the parts of that, by name.
    """

    chapter: str
    raw: RawSubmission
    submission: Submission
    digest: str
    parts: Mapping[str, str]


@dataclass(frozen=True)
class ChapterPlan:
    """The data for reading and grading the submissions of one chapter.

    Attributes:
        run: the plan of the whole run.
        config: the configuration for grading the chapter.
        nbgrader: nbgrader's own settings.
        pools: the pools of the class.
        pool: the number of the pool for new work.
        course_files: the course's own files, which replace a student's.
        known: the students in the gradebook.
        graded: the students with a complete grade, which stays if their work is unchanged.
    """

    run: GradingPlan
    config: GradingConfig
    nbgrader: NbgraderOptions
    pools: Pools
    pool: int
    course_files: Mapping[str, bytes]
    known: AbstractSet[str]
    graded: AbstractSet[str]

    @property
    def chapter(self) -> str:
        """The chapter's name."""
        return self.config.chapter

    @property
    def students(self) -> Sequence[str]:
        """The students to grade."""
        return self.run.students[self.chapter]

    @cached_property
    def _deciding(self) -> GradingConfig:
        """The part of `config` that a grade depends on."""
        preload = self.config.preload
        return replace(self.config, preload=replace(preload, own=deciding(preload.own)))

    def why_not(self, student: str) -> str:
        """The reason for refusing a student's work; empty if it can be read."""
        if why_not := why_unsafe_id(student):
            return _RENAME.format(why_not)
        if not self.nbgrader.creates_students and student not in self.known:
            return NOT_KNOWN
        return ""

    def read(self, student: str) -> Work:
        """Read a student's work."""
        place, writer = self.run.found.places[self.chapter][student], self.run.writer
        raw = read_submission(
            writer.room, student, self.chapter, place, writer.grade_ids(), self.course_files
        )
        key = seed_key(self.run.settings.secret, student)
        files = {**self.nbgrader.not_ignored(raw.files), **self.course_files}  # the last ones win
        depends = raw.text or b"", sorted(files.items()), key, self._deciding
        submission = Submission(
            student, raw.text, files, key, pool=self.pool,
            pools=self.pools.used(student, self.chapter), notes=raw.notes,
        )  # fmt: skip
        raw = replace(raw, files=files)
        return Work(self.chapter, raw, submission, digest_of(*depends), parts_of(*depends))


@dataclass(frozen=True)
class GradingPlan:
    """The submissions that a run grades.

    Attributes:
        writer: the writer of the classroom's gradebook.
        options: the options of the run.
        settings: the settings of the class.
        found: the notebooks in the classroom.
        students: by chapter, the students to grade.
    """

    writer: GradebookWriter
    options: GradingOptions
    settings: GradingSettings
    found: Found
    students: Mapping[str, Sequence[str]]

    @property
    def count(self) -> int:
        """The number of submissions."""
        return sum(map(len, self.students.values()))

    def why_not(self, chapter: str) -> tuple[str, ...]:
        """The reasons why a chapter cannot be graded here, with advice."""
        notebooks = self.writer.notebooks(chapter)
        if not notebooks:
            release = f"nbgrader generate_assignment {chapter}"
            return (
                f"The gradebook has no notebook of {chapter}: it was not released. Run: {release}",
            )
        if notebooks != [chapter]:
            return (
                f"The notebooks of {chapter} are {', '.join(notebooks)}; only an assignment that "
                "is one notebook of the same name is graded here. Grade it with: nbgrader "
                f"autograde {chapter}",
            )
        kernel = foreign_kernel(self.writer.kernelspec(chapter))
        return (NOT_PYTHON.format(notebook=chapter, kernel=kernel),) if kernel else ()

    def chapter(self, chapter: str) -> ChapterPlan:
        """The plan of a chapter."""
        settings, writer, students = self.settings, self.writer, self.students[chapter]
        nbgrader, pools = NbgraderOptions.of(writer.config), settings.pools
        graded = set() if self.options.force else writer.graded_students(chapter)
        preload = preload_spec(settings, chapter, chapter)
        if self.options.force and students:  # regrade on the models of the first time
            preload = replace(preload, pool=commonest_pool(pools, chapter, students))
        course_files, _ = files_beside(settings.source(chapter))
        config = settings.for_chapter(preload, writer.source_cells(chapter))
        return ChapterPlan(
            self, config, nbgrader, pools, pools.now(chapter),
            nbgrader.without_excluded(chapter, course_files), writer.students(), graded,
        )  # fmt: skip


def make_plan(
    writer: GradebookWriter, options: GradingOptions, warn: Callable[[str], None]
) -> GradingPlan:
    """Find the submissions to grade.

    Raises:
        ClassroomError: there are none, or they cannot be graded here.
    """
    settings, submitted = GradingSettings.of(writer.config), writer.room / "submitted"
    chapters = which_chapters(options.chapters, writer.chapters())
    for sentence in _examine(writer, settings, options):
        warn(sentence)
    if writer.last_run:
        clean_up(writer.room)
        close_folders(submitted)
    found = find_notebooks(submitted, writer.chapters(), writer.grade_ids)
    handed_in = {chapter: found.students(chapter) for chapter in chapters}
    only = frozenset(options.students) if options.students else None
    nbgrader = NbgraderOptions.of(writer.config)
    students = whose_work(handed_in, nbgrader, only, writer.room, warn)
    if not any(students.values()):
        unread = "".join(f" Not read: {one}" for one in found.unread[:5])
        raise ClassroomError(
            "Nothing was handed in. Put notebooks into "
            f"{submitted}/STUDENT/{chapters[0]}/{chapters[0]}.ipynb.{unread}"
        )
    return GradingPlan(writer, options, settings, found, students)


def _examine(
    writer: GradebookWriter, settings: GradingSettings, options: GradingOptions
) -> Iterator[str]:
    """Prepare the classroom, and yield sentences for the instructor to read before the run."""
    room = writer.room
    if changed := differences(room):
        yield from (*changed, PIN)
    if writer.last_run and not is_pinned(room):
        pin(room)
    writer.penalties = Penalties(room, writer.config, writer.chapters())
    yield from writer.penalties.policy.unknown_students(room, writer.students())
    yield from clean_names(writer.gradebook, write=writer.last_run is not None)
    if settings.sandbox == Wall.NONE:
        yield f"This run has no sandbox. {GIVES_AWAY}"
    elif not options.cluster:
        try:
            choose(settings.sandbox)
        except NoBox as error:
            raise ClassroomError(str(error)) from None


def commonest_pool(pools: Pools, chapter: str, students: Sequence[str]) -> int:
    """The pool that decided most of these students' latest grades."""
    latest = [[pools.now(chapter), *pools.used(one, chapter).values()][-1] for one in students]
    return Counter(latest).most_common(1)[0][0]
