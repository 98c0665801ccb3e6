"""Graders that work side by side, each in a process of its own.

A grader that is lost (its own memory used up by a forged result, say) costs nobody else
anything: what it had in hand is tried once more by a new one, and then given up.
"""

from __future__ import annotations

import logging
import multiprocessing
import queue
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from autograder.classroom import watchdog
from autograder.classroom.unit import Graded, Terms, Unit, grade_unit, nothing_from
from autograder.references import MissingReference
from autograder.sandbox.bounds import MIB
from autograder.sandbox.worker import NoBox

_log = logging.getLogger(__name__)

JUDGE_MEMORY = 4096 * MIB
"""Bytes that a grader may use above what it starts with."""

_LOST = (
    "Judging what this notebook returned ended the grader, twice. It earns nothing so far; the "
    "same command tries again."
)


def in_lanes(units: Iterable[Unit], terms: Terms, jobs: int) -> Iterator[Graded]:
    """Grade submissions side by side, and yield each as it is done.

    Args:
        units: the submissions; read one at a time, as they are needed.
        terms: how they are graded.
        jobs: how many graders there are.

    Raises:
        NoBox: notebooks cannot be boxed here.
    """
    source, taking = iter(units), threading.Lock()
    done: queue.Queue[Graded | BaseException | None] = queue.Queue()
    stop = threading.Event()

    def take() -> Unit | None:
        with taking:
            return None if stop.is_set() else next(source, None)

    def work() -> None:
        lane = Lane(terms)
        try:
            while (unit := take()) is not None:
                done.put(lane.grade(unit))
        except BaseException as error:  # shown by whoever waits for the results
            done.put(error)
        finally:
            lane.close()
            done.put(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        working = jobs
        while working:
            found = done.get()
            if found is None:
                working -= 1
            elif isinstance(found, BaseException):
                raise found
            else:
                yield found
    finally:
        stop.set()


class Lane:
    """One grader, replaced when it is lost."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._pool: ProcessPoolExecutor | None = None

    def grade(self, unit: Unit) -> Graded:
        for _ in range(2):
            try:
                return self._grader().submit(_grade, unit, self._terms).result()
            except BrokenProcessPool:
                self.close()
        return nothing_from(unit, self._terms, _LOST)

    def _grader(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_begin)
        return self._pool

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = None


def _begin() -> None:
    """Bound what this grader may use: it looks at what students' processes have sent."""
    import signal

    watchdog.allow()
    warnings.simplefilter("ignore")  # what libraries think of a notebook's form helps nobody here
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what a Ctrl-C ends
    if sys.platform == "linux":
        from autograder.sandbox.bounds import hold_memory
        from autograder.sandbox.linux import die_with_parent

        die_with_parent()
        hold_memory(JUDGE_MEMORY)


def _grade(unit: Unit, terms: Terms) -> Graded:
    try:
        return grade_unit(unit, terms)
    except (NoBox, MissingReference):
        raise  # not the student's doing: nobody can be graded like this
    except Exception as error:
        _log.exception("The notebook of %s could not be graded", unit.student)
        why = f"It could not be graded: {type(error).__name__}: {error}"[:500]
        return nothing_from(unit, terms, f"{why} Please report this, with the notebook.")
