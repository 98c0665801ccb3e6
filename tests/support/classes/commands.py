"""The command that grades, as a process that can be watched and killed, and what it has written."""

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
"""Seconds in which everything must have ended after the process that graded was killed."""


class GradingFailed(Exception):
    """The command did not come to a good end; the message is what it printed."""


def environment() -> dict[str, str]:
    """What commands and kernels need in order to find this copy of the course, and its tests."""
    scripts = str(Path(sys.executable).parent)
    path = os.pathsep.join([scripts, os.environ.get("PATH", "")])
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PATH": path}


class Grading:
    """One run of ``fxcourse grade``, in a session of its own.

    Args:
        room: the classroom.
        jobs: submissions at a time.
        words: further arguments.
        one_core: hold it, and all that it starts, to one core.
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
        """The driver's process id, which is that of its session."""
        return self.process.pid

    def wait(self, seconds: float | None = None) -> float:
        """Wait for its end; the seconds that it took.

        Raises:
            GradingFailed: it did not come to a good end.
        """
        code = self.process.wait(seconds)
        if code:
            raise GradingFailed(f"It ended with {code}:\n{self.said()[-3000:]}")
        return time.time() - self.began

    def said(self) -> str:
        """What it has printed."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def is_running(self) -> bool:
        """Whether it still grades."""
        return self.process.poll() is None

    def kill(self) -> list[int]:
        """Kill the driver alone; what of its session is still there after `GONE` seconds."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        until = time.monotonic() + GONE
        while (left := in_session(self.pid)) and time.monotonic() < until:
            time.sleep(0.05)
        return left

    def end(self) -> None:
        """End it with all that it has started, wherever it is."""
        if self.is_running():
            os.killpg(self.pid, signal.SIGKILL)
            self.process.wait()


def grade(room: Path, jobs: int = 2, *words: str, one_core: bool = False) -> float:
    """Grade a class; the seconds that it took, from the command to its end.

    Raises:
        GradingFailed: it did not come to a good end.
    """
    grading = Grading(room, jobs, *words, one_core=one_core)
    try:
        return grading.wait()
    finally:
        grading.end()


def done(room: Path) -> list[dict[str, Any]]:
    """The whole lines of the journal."""
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
    """When each graded notebook was written, in order."""
    found = (room / "autograded").glob(f"*/{chapter}/{chapter}.ipynb")
    return sorted(path.stat().st_mtime for path in found)


@dataclass(frozen=True)
class Process:
    """A process as the kernel tells of it."""

    pid: int
    parent: int
    session: int


def processes() -> Iterator[Process]:
    """The processes of this machine; those that have ended and wait to be buried are left out."""
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
    """What grading has left, without ids and times: two runs can be compared by it."""
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
    """What the check cells of a graded notebook show; nothing where there is none."""
    path = room / "autograded" / student / chapter / f"{chapter}.ipynb"
    if not path.is_file():
        return {}
    nb = nbformat.read(path, as_version=4)
    return {c.metadata["nbgrader"]["grade_id"]: c.outputs for c in nb.cells if is_grade(c)}
