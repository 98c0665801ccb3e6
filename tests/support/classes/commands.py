"""Runs the grading command as a process that tests can watch and kill, and reads its results."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook
from nbgrader.utils import is_grade

from autograder.builder.paths import ROOT

JOURNAL = Path(".fxcourse") / "journal.jsonl"
GONE = 60.0
"""Seconds in which all processes must end after the grading process was killed."""


class GradingFailed(Exception):
    """The command failed; the message is its output."""


def environment() -> dict[str, str]:
    """Environment in which commands and kernels find this copy of the course and its tests."""
    scripts = str(Path(sys.executable).parent)
    path = os.pathsep.join([scripts, os.environ.get("PATH", "")])
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PATH": path}


class Grading:
    """One run of ``fxcourse grade`` in a new session.

    Args:
        room: the classroom.
        jobs: number of submissions to grade at the same time.
        words: further arguments.
        one_core: restrict it, and all processes that it starts, to one core.
    """

    def __init__(self, room: Path, jobs: int, *words: str, one_core: bool = False) -> None:
        self.room, self.began = room, time.time()
        self._log = room.with_name(f"{room.name}.log")
        command = [sys.executable, "-m", "autograder.cli", "grade", str(room), "-j", str(jobs)]
        core = min(os.sched_getaffinity(0))
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *words], cwd=ROOT, env=environment(), start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                preexec_fn=(lambda: os.sched_setaffinity(0, {core})) if one_core else None,
            )  # fmt: skip

    @property
    def pid(self) -> int:
        """The driver's process id, which is also its session id."""
        return self.process.pid

    def wait(self, seconds: float | None = None) -> float:
        """Wait for its end; return the seconds that it took.

        Raises:
            GradingFailed: the command failed.
        """
        code = self.process.wait(seconds)
        if code:
            raise GradingFailed(f"It ended with {code}:\n{self.said()[-3000:]}")
        return time.time() - self.began

    def said(self) -> str:
        """The output so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def is_running(self) -> bool:
        """Whether it is still grading."""
        return self.process.poll() is None

    def kill(self) -> list[int]:
        """Kill only the driver; return its session's processes that remain after `GONE` seconds."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        until = time.monotonic() + GONE
        while (left := in_session(self.pid)) and time.monotonic() < until:
            time.sleep(0.05)
        return left

    def end(self) -> None:
        """End it and all processes that it has started."""
        if self.is_running():
            os.killpg(self.pid, signal.SIGKILL)
            self.process.wait()


def grade(room: Path, jobs: int = 2, *words: str, one_core: bool = False) -> float:
    """Grade a class; return the seconds from the command's start to its end.

    Raises:
        GradingFailed: the command failed.
    """
    grading = Grading(room, jobs, *words, one_core=one_core)
    try:
        return grading.wait()
    finally:
        grading.end()


def done(room: Path) -> list[dict[str, Any]]:
    """The complete lines of the journal."""
    path = room / JOURNAL
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
    return [entry for line in lines if (entry := _entry(line))]


def _entry(line: str) -> dict[str, Any]:
    try:
        return json.loads(line)
    except ValueError:
        return {}


def finished(room: Path, chapter: str) -> list[float]:
    """The times at which the graded notebooks were written, sorted."""
    found = (room / "autograded").glob(f"*/{chapter}/{chapter}.ipynb")
    return sorted(path.stat().st_mtime for path in found)


@dataclass(frozen=True)
class Process:
    """A process as listed in ``/proc``."""

    pid: int
    parent: int
    session: int


def processes() -> Iterator[Process]:
    """The processes of this machine, without zombies."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] not in "ZX":
                yield Process(int(name), int(fields[1]), int(fields[3]))


def in_session(session: int) -> list[int]:
    """The processes of a session."""
    return [process.pid for process in processes() if process.session == session]


def snapshot(room: Path, chapter: str) -> dict[str, Any]:
    """The results of grading without ids and times, for comparing two runs."""
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as book:
        grades = {
            submission.student_id: {
                "late": submission.total_seconds_late,
                "grades": sorted(
                    (g.name, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade)
                    for notebook in submission.notebooks
                    for g in notebook.grades
                ),
                "comments": sorted(
                    (comment.name, comment.auto_comment, comment.manual_comment)
                    for notebook in submission.notebooks
                    for comment in notebook.comments
                ),
            }
            for submission in book.assignment_submissions(chapter)
        }
    files = sorted(
        path.relative_to(room).as_posix()
        for path in (room / "autograded").rglob("*")
        if path.is_file()
    )
    shown = {student: check_outputs(room, student, chapter) for student in grades}
    return {"grades": grades, "files": files, "shown": shown}


def check_outputs(room: Path, student: str, chapter: str) -> dict[str, Any]:
    """The outputs of the check cells in a graded notebook; empty if there is no notebook."""
    path = room / "autograded" / student / chapter / f"{chapter}.ipynb"
    if not path.is_file():
        return {}
    nb = nbformat.read(path, as_version=4)
    return {c.metadata["nbgrader"]["grade_id"]: c.outputs for c in nb.cells if is_grade(c)}
