"""Grades submissions in parallel, each with its own judge in a sandbox.

A worker is a thread that waits; the work is done in sandboxes. All workers share the fork
servers of their chapter.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future

from autograder.classroom.grading.canary import prove
from autograder.classroom.grading.grade_submission import ChapterServers, grade_submission
from autograder.sandbox.walls import NoBox, choose
from autograder.submission.contract import GradingConfig, Submission, failed_result
from autograder.submission.result import GradedNotebook

_log = logging.getLogger(__name__)


def grade_in_parallel(
    submissions: Iterable[Submission], config: GradingConfig, jobs: int
) -> Iterator[GradedNotebook]:
    """Grade submissions in parallel, and yield each when it is done.

    Args:
        submissions: the submissions; read one at a time, as needed.
        config: the configuration of grading.
        jobs: the number of submissions to grade at the same time.

    Raises:
        NoBox: this machine cannot sandbox notebooks, or gives wrong points to known answers.
    """
    source, taking = iter(submissions), threading.Lock()
    done: queue.Queue[GradedNotebook | BaseException | None] = queue.Queue()
    stop = threading.Event()
    first = next(source, None)
    if first is None:
        return  # there is no new work, so no process is started
    servers = ChapterServers(config.preload, choose(config.wall))
    waiting = [first]
    proof: Future[None] = Future()

    def run_canary() -> None:
        try:
            if config.proof:
                prove(servers, config.preload)
            proof.set_result(None)
        except BaseException as error:  # the reader of the results raises it
            proof.set_exception(error)
            done.put(error)

    def take() -> Submission | None:
        with taking:
            if stop.is_set():
                return None
            return waiting.pop() if waiting else next(source, None)

    def work() -> None:
        try:
            while (submission := take()) is not None:
                done.put(grade(submission, config, servers))
        except BaseException as error:  # the reader of the results raises it
            done.put(error)
        finally:
            done.put(None)

    def prove_and_work() -> None:
        run_canary()
        work()

    # One thread begins with the canary. Results of the others count only if the canary passes.
    for target in [prove_and_work, *[work] * (jobs - 1)]:
        threading.Thread(target=target, daemon=True).start()
    try:
        working, began = jobs, False
        while working:
            found = done.get()
            proof.result()
            if not began:
                servers.work_ahead()
                began = True
            if found is None:
                working -= 1
            elif isinstance(found, BaseException):
                raise found
            else:
                yield found
    except BaseException:  # such as a Ctrl-C
        stop.set()
        servers.close(at_once=True)
        raise
    stop.set()
    servers.close()


def grade(submission: Submission, config: GradingConfig, servers: ChapterServers) -> GradedNotebook:
    """Grade a submission; an error of our own affects no other submission.

    Raises:
        NoBox: it could not be sandboxed.
    """
    try:
        return grade_submission(submission, config, servers)
    except NoBox:
        raise  # not the student's fault: no submission can be graded like this
    except Exception as error:
        _log.exception("The notebook of %s could not be graded", submission.student)
        why = f"It could not be graded: {type(error).__name__}: {error}"[:500]
        return failed_result(submission, config, f"{why} Please report this, with the notebook.")
