"""Runs each check in a process that can be stopped; a spare one waits for the next check."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograder.environment.child import python_command
from autograder.watch.job import Job, Result

LONGEST = 180.0
"""Seconds after which a check is stopped, if its own limits did not end it."""

_WARM = {"torch", "torchvision", "matplotlib", "IPython", "functorch"}


@dataclass
class Check:
    """A check that is running.

    Attributes:
        job: the file and the exercise.
        process: the process that runs it.
        began: the time at which it began.
    """

    job: Job
    process: subprocess.Popen[bytes]
    began: float = field(default_factory=time.monotonic)

    def result(self) -> Result | None:
        """The result, as soon as there is one."""
        return Result.read(Path(self.job.result))

    @property
    def is_over(self) -> bool:
        """Whether the process has ended, or has used up its time."""
        return self.process.poll() is not None or time.monotonic() - self.began > LONGEST

    def why(self) -> str:
        """The message for a check without a result."""
        file = Path(self.job.file).name
        if self.process.poll() is None:
            return (
                f"! Crashed: the check of {file} was stopped after {LONGEST:.0f} seconds.\nLook "
                "for a loop that never ends, with a `try` in it that catches everything."
            )
        return (
            f"! Crashed: {file} ended Python itself during the check (exit status "
            f"{self.process.returncode}).\nLook for calls that end the process, such as "
            "`os._exit`, and for endless recursion."
        )

    def stop(self) -> None:
        """Stop the process and all processes that it started."""
        if self.process.poll() is None:
            with contextlib.suppress(OSError):
                if sys.platform == "win32":
                    self.process.kill()
                else:
                    os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()


class Checker:
    """Starts checks. As a context manager, it ends all of its processes.

    Attributes:
        modules: the modules of files that spare processes import in advance.
    """

    def __init__(self, modules: list[str]) -> None:
        """Start the first spare process."""
        self.modules = modules
        self._place = tempfile.TemporaryDirectory(prefix="fxcourse-", ignore_cleanup_errors=True)
        self._count = 0
        self._spare: subprocess.Popen[bytes] | None = self._start()
        self._current: Check | None = None

    def __enter__(self) -> Checker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._spare is not None:
            self._stop_spare(self._spare)
        self._place.cleanup()

    def check(self, exercise: str, file: Path, page: Path, *, keys: bool, lines: int) -> Check:
        """Start a check of a file. A check that is still running is stopped.

        Args:
            exercise: the exercise.
            file: the file with the answer.
            page: the file for the page with the picture.
            keys: whether a card can name keys.
            lines: how many lines the terminal has for the card.
        """
        self.stop()
        self._count += 1
        result = Path(self._place.name) / f"{self._count}.json"
        job = Job(exercise, str(file), str(result), str(page), keys, lines)
        process = self._spare or self._start()
        self._spare = None
        if not _ask(process, job):  # the spare process has ended
            self._stop_spare(process)
            process = self._start()
            _ask(process, job)
        self._current = Check(job, process)
        return self._current

    def prepare(self) -> None:
        """Start the process for the next check."""
        if self._spare is None:
            self._spare = self._start()

    def stop(self) -> None:
        """Stop the check that is running, if there is one."""
        if self._current is not None:
            self._current.stop()
            self._current = None

    def _stop_spare(self, process: subprocess.Popen[bytes]) -> None:
        Check(Job("", "", "", ""), process).stop()

    def _start(self) -> subprocess.Popen[bytes]:
        # Its output is discarded, because the card shows the output of the learner's code.
        command = python_command("-m", "autograder.watch.child", *self.modules)
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=sys.platform != "win32",
        )  # fmt: skip


def _ask(process: subprocess.Popen[bytes], job: Job) -> bool:
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(asdict(job)).encode() + b"\n")
        process.stdin.flush()
    except OSError:
        return False
    return True


def heavy_modules(code: str) -> list[str]:
    """The modules that a file imports and that take long to import."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return [name for name in dict.fromkeys(found) if name.partition(".")[0] in _WARM]
