"""What happens on a worker of a cluster: it shows what it is, and grades a submission.

Submissions are graded in sandboxes, as on one machine; the worker's threads only wait for them,
and share the fork servers of their chapter.

Little is imported here until something is graded: a worker answers within a moment.
"""

from __future__ import annotations

import multiprocessing
import pickle
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.classroom.records.course_digest import exact

if TYPE_CHECKING:
    from autograder.classroom.grading.grade_submission import ChapterServers
    from autograder.submission.contract import GradingConfig
    from autograder.submission.result import GradedNotebook

_kept: dict[bytes, ChapterServers] = {}
_making = threading.Lock()


class WorkerUnfit(Exception):
    """A worker cannot grade, whatever the submission; the message says why, and what to do."""


@dataclass(frozen=True)
class Worker:
    """What a worker says of itself.

    Attributes:
        course: which course it has; see `course_digest.exact`.
        no_box: why it cannot box notebooks; empty where it can.
    """

    course: str
    no_box: str = ""


def show(boxed: bool) -> Worker:
    """What this worker is.

    Args:
        boxed: whether notebooks are to be boxed.
    """
    from autograder.sandbox.probe import why_no_box

    return Worker(exact(), (boxed and why_no_box()) or "")


def grade_on_worker(submission: bytes, config: bytes, wanted: str) -> GradedNotebook:
    """Grade a submission on this worker.

    Args:
        submission: a pickled `Submission`. As bytes it is nothing to the scheduler, which would
            import PyTorch to look at it.
        config: how it is graded, pickled `GradingConfig`.
        wanted: the course with which it is to be graded.

    Raises:
        WorkerUnfit: nobody can be graded on this worker.
    """
    from autograder.classroom.grading.worker_pool import grade
    from autograder.sandbox.client import NoBox

    if exact() != wanted:
        raise WorkerUnfit(f"{_name()}: {OTHER_COURSE}")
    how = pickle.loads(config)
    try:
        return grade(pickle.loads(submission), how, _boxes(config, how))
    except NoBox as error:
        raise WorkerUnfit(f"{_name()}: {error}") from None


OTHER_COURSE = (
    "it has another version of this course, or of PyTorch, than is installed here. Install the "
    "same on all machines, and start the workers again."
)


def _boxes(packed: bytes, config: GradingConfig) -> ChapterServers:
    """The servers of a chapter, which all threads share; others for a new chapter."""
    from autograder.classroom.grading.canary import prove
    from autograder.classroom.grading.grade_submission import ChapterServers
    from autograder.sandbox.client import NoBox

    with _making:
        if packed not in _kept:
            while _kept:
                _kept.popitem()[1].close()
            # A nanny's worker is "daemonic", and would not be let start a process. On Linux the
            # servers end with the thread that started them, however that ends.
            vars(multiprocessing.current_process())["_config"]["daemon"] = False
            made = ChapterServers(config.preload, boxed=config.boxed)
            try:
                if config.proof:
                    prove(made, config.preload)
                made.work_ahead()
            except NoBox:
                made.close()
                raise
            _kept[packed] = made
        return _kept[packed]


def _name() -> str:
    from distributed import get_worker

    return f"The worker {get_worker().address}"
