"""The input of grading: one submission, and the configuration. It needs no shared file system.

A grader on another machine computes the same result from the same data; the one writer of the
gradebook receives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import nbformat

from autograder.sandbox.resource_limits import Bounds
from autograder.sandbox.walls import AUTO
from autograder.submission.repair import read_forgivingly, repair
from autograder.submission.result import GradedNotebook, Result, Score, SubmissionStatus
from autograder.submission.seeds import NOTES
from autograder.submission.source_cells import SourceCell


@dataclass(frozen=True)
class Timeouts:
    """Time limits for the parts of one notebook, in seconds.

    Processor time decides, so that a busy machine changes no grade; wall time is limited too.

    Attributes:
        cell_cpu: processor time of a cell.
        cell_wall: wall time of a cell.
        case_cpu: processor time of an answer on one case.
        case_wall: wall time of an answer on one case.
        trial: wall time of an answer on all cases; after it, the answer is stopped and earns
            nothing.
        notebook: wall time of the whole notebook; later cells are not run.
        restarts: most processes that one notebook may use.
    """

    cell_cpu: float = 30.0
    cell_wall: float = 60.0
    case_cpu: float = 10.0
    case_wall: float = 60.0
    trial: float = 240.0
    notebook: float = 1800.0
    restarts: int = 10


@dataclass(frozen=True)
class PreloadSpec:
    """The preparation of the processes for a chapter's notebooks.

    Attributes:
        name: the chapter's stem.
        syllabus: the module that contains its exercises.
        imports: modules that its cells import.
        covered: folders that must not be visible in the sandbox.
        bounds: resource limits of one notebook.
        pool: the number of the pool of random models that is precomputed.
        own: paths and texts of the instructor's own exercises; see `core.own_exercises`.
        released_text: the text of the released notebook's file, if it could be read.
    """

    name: str
    syllabus: str = "autograder.exercises"
    imports: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    bounds: Bounds = Bounds()
    pool: int = field(default=0, repr=False)  # affects neither grades nor the digest
    own: tuple[tuple[str, str], ...] = ()
    released_text: str = field(default="", repr=False)  # the same: it is only read in advance


@dataclass(frozen=True)
class GradingConfig:
    """The configuration for grading all submissions of a chapter.

    Attributes:
        chapter: the chapter, which is the assignment and the notebook.
        source_cells: its released cells, by grade id.
        preload: the preparation of the processes for its notebooks.
        timeouts: time limits for the parts of a notebook.
        boxed: whether notebooks run in a sandbox.
        only: the only exercise to try; all of them by default.
        proof: whether a notebook with known scores is graded first.
        max_lines: lines of printed text kept for a cell, from nbgrader's `LimitOutput`.
        max_traceback: lines of a traceback kept for a cell.
        wall: the wall of the sandbox, as `sandbox.walls.choose` takes it.
    """

    chapter: str
    source_cells: Mapping[str, SourceCell]
    preload: PreloadSpec
    timeouts: Timeouts = Timeouts()
    boxed: bool = True
    only: str = ""
    proof: bool = True
    max_lines: int = 1000
    max_traceback: int = 100
    wall: str = field(default=AUTO, repr=False)  # affects neither grades nor the digest


@dataclass(frozen=True)
class Submission:
    """One submission.

    Attributes:
        student: the student.
        text: the notebook's file; ``None`` if it was refused.
        files: the other submitted files.
        key: the key from which seeds are derived: the student's, not the classroom's secret.
        seed: the seed itself, if a grade is examined again.
        pool: the number of the pool of random models.
        pools: the pools of this student's earlier hand-ins, by `code_of`: each keeps its own.
        notes: earlier remarks, a sentence each.
    """

    student: str
    text: bytes | None
    files: Mapping[str, bytes] = field(default_factory=dict)
    key: bytes = b""
    seed: int | None = None
    pool: int = 0
    pools: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def pool_for(self, code: str) -> int:
        """The pool of random models for a hand-in.

        Args:
            code: the digest of the hand-in; see `code_of`.
        """
        return self.pools.get(code, self.pool)


def failed_result(
    submission: Submission, config: GradingConfig, why: str, *, final: bool = False
) -> GradedNotebook:
    """The result of a submission that could not be graded: no points so far, and a reason."""
    nb, why_unread = read_forgivingly(b"")
    repair(nb, config.source_cells, why_unread)
    nb.metadata[NOTES] = {"happened": [why]}
    scores = {
        m.name: Score(0.0, m.points or 0.0)
        for m in config.source_cells.values()
        if m.grade or m.task
    }
    crashed = Result(submission.student, config.chapter, SubmissionStatus.CRASHED, notes=(why,))
    return GradedNotebook.of(crashed, nbformat.writes(nb), scores, final=final)
