"""Grades on other machines: sends submissions to a Dask scheduler, and receives the results.

Only enough submissions to keep the workers busy are in flight, so a class of thousands is never in
memory. Gradebook and journal stay with the one writer, which reads the results from here.
"""

from __future__ import annotations

import contextlib
import pickle
import queue
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from autograder.classroom.grading.dask.worker import (
    OTHER_COURSE,
    Worker,
    WorkerUnfit,
    grade_on_worker,
    show,
)
from autograder.classroom.records.course_digest import exact
from autograder.environment.errors import ClassroomError
from autograder.environment.extras import how_to_install
from autograder.submission.contract import GradingConfig, Submission, failed_result
from autograder.submission.result import GradedNotebook, Result

CONNECT_SECONDS = 10.0
"""Time limit for a scheduler's answer, in seconds."""

NO_WORKERS_SECONDS = 60.0
"""The longest time without any worker, in seconds."""

IDLE_SECONDS = 5.0
"""The time without a result after which the driver checks the cluster, in seconds."""

SUBMISSIONS_PER_GRADER = 2
"""Submissions in flight for each grader: one in progress, and one that waits for it."""

_MISSING = f"Dask is not installed. {how_to_install('distributed')}"
_KEPT = "Graded submissions are kept. The same command continues from here."
_LOST = (
    "The machines that graded this notebook were lost, time and again. It earns nothing so far; "
    "the same command tries again, without --cluster on this machine."
)


def on_cluster(
    submissions: Iterable[Submission], config: GradingConfig, address: str
) -> Iterator[GradedNotebook]:
    """Grade submissions on the workers of a cluster, and yield each when it is done.

    If a worker is lost, another one grades its submission. After several losses the driver gives
    up the submission (see the scheduler's setting `allowed-failures`).

    Args:
        submissions: the submissions; read one at a time, as needed.
        config: the configuration of grading.
        address: the scheduler's address.

    Raises:
        ClassroomError: the cluster cannot grade, or has stopped grading.
    """
    waiting = iter(submissions)
    first = next(waiting, None)
    if first is None:  # nothing has changed, so no cluster is needed
        return
    with _connected(address) as client:
        _examine(client, config, address)
        yield from _UnderWay(client, config, address, chain([first], waiting)).graded()


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Any]:
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise ClassroomError(_MISSING) from None
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        try:
            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="fxcourse")
        except (OSError, ValueError) as error:  # a TimeoutError is an OSError
            raise ClassroomError(
                f"No Dask scheduler answers at {address} ({_short(error)}). "
                "Start one with: dask scheduler"
            ) from None
        try:
            yield client
        finally:
            client.close(timeout=CONNECT_SECONDS)


def _examine(client: Any, config: GradingConfig, address: str) -> None:
    """Check that there are workers, that each can grade, and that the scheduler has the course."""
    try:
        client.run_on_scheduler(exact)
    except OSError as error:
        raise ClassroomError(_scheduler_lost(address, error)) from None
    except Exception as error:
        raise ClassroomError(f"The Dask scheduler at {address}: {_missing(error)}") from None
    try:
        client.wait_for_workers(1, timeout=NO_WORKERS_SECONDS)
        found = client.run(show, config.wall, on_error="return")
    except TimeoutError:
        raise ClassroomError(_no_workers(address)) from None
    except OSError as error:
        raise ClassroomError(_scheduler_lost(address, error)) from None
    own = exact()
    for name, worker in found.items():
        if why_not := _why_unfit(worker, own):
            raise ClassroomError(f"The worker {name}: {why_not}")


def _why_unfit(worker: Worker | BaseException, own: str) -> str:
    if _is_missing(worker):
        return _missing(worker)
    if not isinstance(worker, Worker):
        return f"it does not answer as it should ({_short(worker)})."
    return worker.no_box if worker.course == own else OTHER_COURSE


class _UnderWay:
    """The submissions of one chapter, with those in flight."""

    def __init__(
        self, client: Any, config: GradingConfig, address: str, submissions: Iterator[Submission]
    ) -> None:
        self._client, self._config, self._address, self._units = (
            client,
            config,
            address,
            submissions,
        )
        self._packed, self._course = pickle.dumps(config), exact()
        self._in_flight: dict[str, tuple[Any, Submission]] = {}  # by the scheduler's key
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._workers_seen = time.monotonic()

    def graded(self) -> Iterator[GradedNotebook]:
        """Grade all submissions."""
        self._send()
        while self._in_flight:
            key = self._next()
            if key not in self._in_flight:
                continue
            graded = self._fetch(*self._in_flight[key])
            if graded is None:
                continue
            del self._in_flight[key]
            self._send()
            yield graded

    def _send(self) -> None:
        """Send as many submissions as the current workers can use."""
        most = max(1, SUBMISSIONS_PER_GRADER * self._graders())
        while len(self._in_flight) < most and (submission := next(self._units, None)) is not None:
            future = self._client.submit(
                grade_on_worker, pickle.dumps(submission), self._packed, self._course, pure=False
            )
            self._in_flight[future.key] = future, submission
            future.add_done_callback(lambda future: self._ended.put(future.key))

    def _graders(self) -> int:
        try:
            return sum(self._client.nthreads().values())
        except (OSError, RuntimeError) as error:
            raise ClassroomError(_scheduler_lost(self._address, error)) from None

    def _next(self) -> str:
        """Wait for a submission to end, with a result or not, and return its key."""
        while True:
            try:
                key = self._ended.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                self._check_workers()
            else:
                self._workers_seen = time.monotonic()
                return key

    def _check_workers(self) -> None:
        """Check that there are workers; fail after `NO_WORKERS_SECONDS` without any."""
        if self._graders():
            self._workers_seen = time.monotonic()
        elif time.monotonic() - self._workers_seen > NO_WORKERS_SECONDS:
            raise ClassroomError(f"{_no_workers(self._address)} {_KEPT}")

    def _fetch(self, future: Any, submission: Submission) -> GradedNotebook | None:
        """The graded submission; `None` if it must be graded again."""
        from distributed import CancelledError, KilledWorker

        try:
            found = future.result(timeout=NO_WORKERS_SECONDS)
        except KilledWorker:
            return failed_result(submission, self._config, _LOST)
        except TimeoutError:  # the worker was lost after grading; another one grades it again
            self._check_workers()
            self._ended.put(future.key)
            return None
        except WorkerUnfit as error:
            raise ClassroomError(f"{error} {_KEPT}") from None
        except (OSError, RuntimeError, CancelledError) as error:
            raise ClassroomError(_scheduler_lost(self._address, error)) from None
        except Exception as error:
            what = "does not have this course, or not all of it" if _is_missing(error) else "failed"
            raise ClassroomError(f"A worker {what} ({_short(error)}). {_KEPT}") from None
        if not isinstance(found, GradedNotebook) or not self._is_about(submission, found.result):
            raise ClassroomError(f"A worker sent something that is not a result. {_KEPT}")
        return found

    def _is_about(self, submission: Submission, result: Result) -> bool:
        return (result.student, result.chapter) == (submission.student, self._config.chapter)


def _missing(error: object) -> str:
    return f"it does not have this course, or not all of it ({_short(error)}). Install it there."


def _is_missing(error: object) -> bool:
    """Whether an error reports a missing module; Dask passes some errors on as text."""
    return isinstance(error, ImportError) or "ModuleNotFoundError" in str(error)


def _no_workers(address: str) -> str:
    return (
        f"The Dask scheduler at {address} has had no workers for {NO_WORKERS_SECONDS:g} seconds. "
        f"On each machine, start some with: dask worker {address} --nworkers 1 --nthreads CORES"
    )


def _scheduler_lost(address: str, error: BaseException) -> str:
    return f"The cluster of the Dask scheduler at {address} failed ({_short(error)}). {_KEPT}"


def _short(error: object) -> str:
    said = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
