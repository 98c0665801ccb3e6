"""A run shows progress at once, stops at once, and reports a problem in one sentence."""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from autograder.classroom.grading import worker_pool
from autograder.classroom.grading.grade_class import Listener, grade_class
from autograder.classroom.records.gradebook_writer import GradebookWriter
from autograder.cli import main
from autograder.cli.grading_progress import Watch
from autograder.environment.errors import ClassroomError
from autograder.sandbox.client import ForkServer
from autograder.sandbox.zygote import ForkedServer
from autograder.submission.contract import GradingConfig, PreloadSpec, Submission
from autograder.submission.result import Result, SubmissionStatus
from tests.support.stub_class import ONE, scores

pytestmark = pytest.mark.filterwarnings(
    "ignore:Object of type.*:sqlalchemy.exc.SAWarning"  # from nbgrader
)


# ------------------------------------------------------------------ progress


def test_how_many_there_are_is_told_before_the_first_is_graded(room: Path) -> None:
    told: list[object] = []

    def say(result: Result, done: int, count: int) -> None:
        told.append((done, count))

    grade_class(room, listener=Listener(expect=told.append, say=say))
    assert told == [3, (1, 3), (2, 3), (3, 3)]


def test_what_had_been_graded_before_does_not_count_as_fast() -> None:
    with Watch(Console(record=True, width=100)) as watch:
        watch.expect(10)
        watch.tell(Result("ann", ONE, SubmissionStatus.GRADED, in_this_run=False), 1, 10)
        assert watch._progress.per_minute is None
        watch.tell(Result("bo", ONE, SubmissionStatus.GRADED), 2, 10)
        assert watch._progress.per_minute


# ------------------------------------------------------------------ Ctrl-C


class ChapterServers:
    """Fork servers that start no process."""

    closed: list[bool] = []
    told: list[str] = []

    def __init__(self, *_: Any, **__: Any) -> None:
        self.closed.clear()
        self.told.clear()

    def work_ahead(self) -> None:
        self.told.append("work ahead")

    def close(self, *, at_once: bool = False) -> None:
        self.closed.append(at_once)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_no_more_is_done_at_a_time_than_was_asked_for(
    jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, most, counting = 0, 0, threading.Lock()

    def work(*_: Any) -> str:
        nonlocal busy, most
        with counting:
            busy += 1
            most = max(most, busy)
        time.sleep(0.05)
        with counting:
            busy -= 1
        return "done"

    monkeypatch.setattr(worker_pool, "ChapterServers", ChapterServers)
    monkeypatch.setattr(worker_pool, "grade", work)
    monkeypatch.setattr(worker_pool, "prove", work)
    handed_in = [Submission(str(number), b"") for number in range(8)]
    config = GradingConfig(ONE, {}, PreloadSpec(ONE))
    assert list(worker_pool.grade_in_parallel(handed_in, config, jobs)) == ["done"] * 8
    assert most <= jobs  # the proof counts as one of them


def test_stopped_run_waits_for_no_box(monkeypatch: pytest.MonkeyPatch) -> None:
    def graded(submission: Submission, config: GradingConfig, servers: ChapterServers) -> str:
        return submission.student

    monkeypatch.setattr(worker_pool, "ChapterServers", ChapterServers)
    monkeypatch.setattr(worker_pool, "grade", graded)
    config = GradingConfig(ONE, {}, PreloadSpec(ONE), proof=False)
    work = [Submission(name, b"") for name in ("ann", "bo", "cy")]
    assert set(worker_pool.grade_in_parallel(work, config, 2)) == {"ann", "bo", "cy"}
    assert ChapterServers.closed == [False]
    assert ChapterServers.told == ["work ahead"]
    run = worker_pool.grade_in_parallel(work, config, 2)
    next(run)
    with pytest.raises(KeyboardInterrupt):
        run.throw(KeyboardInterrupt())  # type: ignore[attr-defined]
    assert ChapterServers.closed == [True]


@pytest.mark.skipif(sys.platform != "linux", reason="there are boxes on Linux only")
def test_fork_server_that_does_not_end_by_itself_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    server = ForkServer.__new__(ForkServer)
    server._control = open(os.devnull)  # type: ignore[assignment]
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    server._process = ForkedServer(process.pid, os.open(os.devnull, os.O_RDONLY))
    server._folder = Path("no such folder")
    server.close(0.2)
    assert process.wait() == -9


def test_ctrl_c_gives_the_prompt_back_and_the_gradebook_is_whole(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(result: Result, done: int, count: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade_class(room, listener=Listener(say=stop))
    assert scores(room) == {"ann": 10.0, "bo": 10.0}
    real = GradebookWriter._write_grades

    def in_the_middle(self: GradebookWriter, *words: Any) -> None:
        real(self, *words)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(GradebookWriter, "_write_grades", in_the_middle)
        done = CliRunner().invoke(main.app, ["grade", str(room)])
    assert done.exit_code == 130 and "The same command continues from here" in done.output
    assert {row.student for row in grade_class(room).results if row.in_this_run} == {"cy"}
    assert scores(room) == {"ann": 10.0, "bo": 10.0, "cy": 10.0}


# ------------------------------------------------------------------ the disk


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "The disk is full (somewhere). Make room. Graded submissions are kept."),
        (
            errno.EROFS,
            "A file cannot be written or read (somewhere): Read-only file system.",
        ),
        (errno.EACCES, "A file cannot be written or read (somewhere): Permission denied."),
        (errno.EIO, "Input/output error (somewhere). Graded submissions are kept."),
    ],
)
def test_full_disk_and_read_only_folder_are_one_sentence(
    room: Path, monkeypatch: pytest.MonkeyPatch, number: int, says: str
) -> None:
    def fail(*_: Any) -> Iterator[None]:
        raise OSError(number, os.strerror(number), "somewhere")

    with monkeypatch.context() as patch:
        patch.setattr(GradebookWriter, "_write_folder", fail)
        with pytest.raises(ClassroomError) as found:
            grade_class(room)
        assert str(found.value).startswith(says)
        done = CliRunner().invoke(main.app, ["grade", str(room)])
        assert done.exit_code == 1 and "Traceback" not in done.output
    assert {row.student for row in grade_class(room).results} == {"ann", "bo", "cy"}
    assert scores(room) == {"ann": 10.0, "bo": 10.0, "cy": 10.0}
