"""What happens on a worker of a cluster: it shows what it is, and grades a submission.

The grading is done by a process of its own, as on one machine, because the worker runs tasks in
threads: a grader takes the whole process (it stops answers by signals, and bounds its memory), and
a submission that brings its grader down must not bring down the worker. Each thread has one.

Little is imported here until something is graded: a worker answers within a moment.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from autograder.classroom.journal import course

if TYPE_CHECKING:
    from autograder.classroom.lanes import Lane
    from autograder.classroom.unit import Graded

_own = threading.local()


class Unfit(Exception):
    """A worker cannot grade, whatever the submission; the message says why, and what to do."""


@dataclass(frozen=True)
class Worker:
    """What a worker says of itself.

    Attributes:
        course: which course it has; see `which_course`.
        no_box: why it cannot box notebooks; empty where it can.
    """

    course: str
    no_box: str = ""


def which_course() -> str:
    """The course and the PyTorch that are installed, as far as grades depend on them."""
    try:
        torch = version("torch").partition("+")[0]  # builds for a CPU and for CUDA are the same
    except PackageNotFoundError:
        torch = "none"
    return f"{course()} torch {torch}"


def show(boxed: bool) -> Worker:
    """What this worker is.

    Args:
        boxed: whether notebooks are to be boxed.
    """
    from autograder.sandbox.probe import why_no_box

    return Worker(which_course(), (boxed and why_no_box()) or "")


def grade_there(unit: bytes, terms: bytes, wanted: str) -> Graded:
    """Grade a submission on this worker.

    Args:
        unit: the submission, a pickled `Unit`. As bytes it is nothing to the scheduler, which
            would import PyTorch to look at it.
        terms: how it is graded, pickled `Terms`.
        wanted: the course with which it is to be graded.

    Raises:
        Unfit: nobody can be graded on this worker.
    """
    from autograder.references import MissingReference
    from autograder.sandbox.worker import NoBox

    if which_course() != wanted:
        raise Unfit(f"{_name()}: {OTHER_COURSE}")
    try:
        return _lane(terms).grade(pickle.loads(unit))
    except (NoBox, MissingReference) as error:
        raise Unfit(f"{_name()}: {error}") from None


OTHER_COURSE = (
    "it has another version of this course, or of PyTorch, than is installed here. Install the "
    "same on all machines, and start the workers again."
)


def _lane(terms: bytes) -> Lane:
    """This thread's grader; a new one for a new chapter, so that memory does not add up."""
    from autograder.classroom.lanes import Lane

    lane, known = getattr(_own, "lane", None), getattr(_own, "terms", None)
    if lane is None or known != terms:
        if lane is not None:
            lane.close()
        # All graders count with one thread, for equal results; said before torch is imported there.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        # A nanny's worker is "daemonic", and would not be let start a process. On Linux the
        # grader ends with the thread that it belongs to, however that ends.
        multiprocessing.current_process()._config["daemon"] = False
        lane = _own.lane = Lane(pickle.loads(terms))
        _own.terms = terms
    return lane


def _name() -> str:
    from distributed import get_worker

    return f"The worker {get_worker().address}"
