"""A missing cluster is reported, and a class of any size is sent to a cluster in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.classroom.grading.dask import driver
from autograder.classroom.grading.dask.worker import grade_on_worker
from autograder.classroom.records.course_digest import exact
from autograder.environment.errors import ClassroomError
from autograder.submission.contract import GradingConfig, PreloadSpec, Submission
from autograder.submission.result import GradedNotebook, Result, SubmissionStatus
from tests.support.graded_class import grade

NOBODY = "tcp://127.0.0.1:9"


def test_dask_that_is_missing_is_named(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ClassroomError, match=r"pip install .*cluster"):
        grade(room, cluster=NOBODY)


class FakeClient:
    """A cluster with three graders, which answers at once."""

    def nthreads(self) -> dict[str, int]:
        return {"one": 1, "two": 2}

    def submit(self, do: object, unit: bytes, config: bytes, course: str, *, pure: bool):
        assert do is grade_on_worker and course == exact() and not pure
        return FakeFuture(driver.pickle.loads(unit))


class FakeFuture:
    def __init__(self, unit: Submission) -> None:
        self.key, self.unit = unit.student, unit

    def add_done_callback(self, tell: Callable[[FakeFuture], None]) -> None:
        tell(self)

    def result(self, timeout: float) -> GradedNotebook:
        result = Result(self.unit.student, "07_numbers", SubmissionStatus.GRADED)
        return GradedNotebook(result, "", {})


def test_a_large_class_is_never_in_memory() -> None:
    pytest.importorskip("distributed", exc_type=ImportError)
    taken = 0

    def units() -> Iterator[Submission]:
        nonlocal taken
        for number in range(2000):
            taken += 1
            yield Submission(f"student {number}", b"")

    config = GradingConfig("07_numbers", {}, PreloadSpec("07_numbers"))
    work = driver._UnderWay(FakeClient(), config, NOBODY, units())
    for done, _ in enumerate(work.graded()):
        assert taken - done <= 3 * driver.SUBMISSIONS_PER_GRADER + 1
    assert taken == 2000
