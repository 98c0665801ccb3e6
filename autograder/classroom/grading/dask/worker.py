"""Code that runs on a cluster's worker: reports its version of the course, grades a submission.

Submissions are graded in sandboxes, as on one machine. The worker's threads only wait for the
sandboxes, and share the fork servers of their chapter.

This module imports little until a submission arrives, because a worker must report quickly.
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

_servers: dict[bytes, ChapterServers] = {}
_servers_lock = threading.Lock()


class WorkerUnfit(Exception):
    """A worker cannot grade any submission; the message says why, and what to do."""


@dataclass(frozen=True)
class Worker:
    """A worker's report about itself.

    Attributes:
        course: the digest of its course; see `course_digest.exact`.
        no_box: the reason why it cannot sandbox notebooks; empty if it can.
    """

    course: str
    no_box: str = ""


def show(wall: str) -> Worker:
    """Report on this worker.

    Args:
        wall: the wall of the sandboxes, as `walls.choose` takes it.
    """
    from autograder.sandbox.walls import NoBox, choose

    try:
        choose(wall)
    except NoBox as error:
        return Worker(exact(), str(error))
    return Worker(exact())


def grade_on_worker(submission: bytes, config: bytes, wanted: str) -> GradedNotebook:
    """Grade a submission on this worker.

    Args:
        submission: a pickled `Submission`. The scheduler does not unpickle bytes, for which it
            would import PyTorch.
        config: a pickled `GradingConfig`.
        wanted: the digest of the course that must grade it.

    Raises:
        WorkerUnfit: this worker cannot grade any submission.
    """
    from autograder.classroom.grading.worker_pool import grade
    from autograder.sandbox.walls import NoBox

    if exact() != wanted:
        raise WorkerUnfit(f"{_name()}: {OTHER_COURSE}")
    how = pickle.loads(config)
    try:
        return grade(pickle.loads(submission), how, _servers_for(config, how))
    except NoBox as error:
        raise WorkerUnfit(f"{_name()}: {error}") from None


OTHER_COURSE = (
    "it has another version of this course, or of PyTorch, than is installed here. Install the "
    "same on all machines, and start the workers again."
)


def _servers_for(packed: bytes, config: GradingConfig) -> ChapterServers:
    """The servers of a chapter, shared by all threads; a new chapter replaces them."""
    from autograder.classroom.grading.canary import prove
    from autograder.classroom.grading.grade_submission import ChapterServers
    from autograder.sandbox.walls import NoBox, choose

    with _servers_lock:
        if packed not in _servers:
            while _servers:
                _servers.popitem()[1].close()
            # The worker of a nanny is "daemonic", so it may not start processes. On Linux the
            # servers end together with the thread that started them, however that thread ends.
            vars(multiprocessing.current_process())["_config"]["daemon"] = False
            made = ChapterServers(config.preload, choose(config.wall))
            try:
                if config.proof:
                    prove(made, config.preload)
                made.work_ahead()
            except NoBox:
                made.close()
                raise
            _servers[packed] = made
        return _servers[packed]


def _name() -> str:
    from distributed import get_worker

    return f"The worker {get_worker().address}"
