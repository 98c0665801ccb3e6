"""What grading takes: one submission, and how it is graded. It needs no shared file system.

A grader on another machine does the same with the same data; what comes back goes to the one
writer of the gradebook.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import nbformat

from autograder.sandbox.resource_limits import Bounds
from autograder.submission.repair import read_forgivingly, repair
from autograder.submission.result import GradedNotebook, Result, Score, SubmissionStatus
from autograder.submission.seeds import NOTES
from autograder.submission.source_cells import SourceCell


@dataclass(frozen=True)
class Timeouts:
    """How long the parts of one notebook may take, in seconds.

    Processor time decides, so that a busy machine changes no grade; waiting is bounded too.

    Attributes:
        cell_cpu: processor time of a cell.
        cell_wall: waiting for a cell.
        case_cpu: processor time of an answer on one case.
        case_wall: waiting for an answer on one case.
        trial: waiting for an answer on all cases; it is ended then, and earns nothing.
        notebook: waiting for the whole notebook; cells after that are not run.
        restarts: how many processes one notebook may use up.
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
    """What the processes for a chapter's notebooks are made ready for.

    Attributes:
        name: the chapter's stem.
        syllabus: the module that holds its exercises.
        imports: modules that its cells import.
        covered: folders that must not be seen from inside.
        bounds: what one notebook may take.
        pool: the number of the pool of random models that is worked out ahead.
        own: paths and texts of the instructor's own exercises; see `core.own_exercises`.
        released_text: the notebook as it was given out, as a file's text, where it could be read.
    """

    name: str
    syllabus: str = "autograder.exercises"
    imports: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    bounds: Bounds = Bounds()
    pool: int = field(default=0, repr=False)  # it changes no grade, nor the digest of one
    own: tuple[tuple[str, str], ...] = ()
    released_text: str = field(default="", repr=False)  # nor does this: it is only read ahead


@dataclass(frozen=True)
class GradingConfig:
    """How all submissions of a chapter are graded.

    Attributes:
        chapter: the chapter, which is the assignment and the notebook.
        source_cells: its cells as they were given out, by grade id.
        ready: what the processes for its notebooks are made ready for.
        timeouts: how long the parts of a notebook may take.
        boxed: whether notebooks run in a box.
        only: the one exercise that is tried; all of them by default.
        proof: whether a notebook with known marks is graded first.
        max_lines: of printed text that a cell keeps; nbgrader's `LimitOutput` says it.
        max_traceback: lines of a traceback that a cell keeps.
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


@dataclass(frozen=True)
class Submission:
    """One submission.

    Attributes:
        student: whose it is.
        text: the notebook's file; ``None`` where it was refused.
        files: what lies beside it.
        key: what the seed of a hand-in comes from: this student's, not the classroom's secret.
        seed: the seed itself, where a grade is looked at again.
        pool: the number of the pool from which random models come.
        pools: the pools of this student's earlier hand-ins, by `code_of`: each keeps its own.
        notes: what was noticed before, a sentence each.
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
        """The pool on which a hand-in is tried.

        Args:
            code: of the hand-in; see `code_of`.
        """
        return self.pools.get(code, self.pool)


def failed_result(
    submission: Submission, config: GradingConfig, why: str, *, final: bool = False
) -> GradedNotebook:
    """What is given to a submission that could not be graded: no points so far, and a reason."""
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
