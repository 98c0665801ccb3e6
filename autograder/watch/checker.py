"""Has files checked in processes that can be stopped. Each is used once; the next one waits."""

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

from autograder.watch.job import Job, Result

LONGEST = 180.0
"""Seconds after which a check is stopped. Its own limits end it before, where they can."""

_WARM = {"torch", "torchvision", "matplotlib", "IPython", "functorch"}


@dataclass
class Check:
    """A check that is under way.

    Attributes:
        job: what is asked.
        process: who does it.
        began: when.
    """

    job: Job
    process: subprocess.Popen[bytes]
    began: float = field(default_factory=time.monotonic)

    def result(self) -> Result | None:
        """What came of it, as soon as something did."""
        return Result.read(Path(self.job.result))

    @property
    def is_over(self) -> bool:
        """Whether the process has ended, or has had enough time."""
        return self.process.poll() is not None or time.monotonic() - self.began > LONGEST

    def why(self) -> str:
        """What to say where nothing came of it."""
        file = Path(self.job.file).name
        if self.process.poll() is None:
            return (
                f"! Crashed: {file} was still being checked after {LONGEST:.0f} seconds, and was "
                "stopped.\nLook for a loop that never ends, with a `try` in it that catches "
                "everything."
            )
        return (
            f"! Crashed: {file} ended Python itself while it was checked (exit status "
            f"{self.process.returncode}).\nLook for calls that end the process, such as "
            "`os._exit`, and for endless recursion."
        )

    def stop(self) -> None:
        """Stop it, and what it has started, wherever it is."""
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
    """Starts checks. Used with `with`, it leaves no process behind."""

    def __init__(self, modules: list[str]) -> None:
        """With the modules that files import, so that nobody waits for them."""
        self._modules = modules
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

    def check(self, exercise: str, file: Path, page: Path, *, keys: bool) -> Check:
        """Begin to check a file. A check that is under way is stopped."""
        self.stop()
        self._count += 1
        result = Path(self._place.name) / f"{self._count}.json"
        job = Job(exercise, str(file), str(result), str(page), keys)
        process = self._spare or self._start()
        self._spare = None
        if not _ask(process, job):  # the one that waited has ended meanwhile
            self._stop_spare(process)
            process = self._start()
            _ask(process, job)
        self._current = Check(job, process)
        return self._current

    def prepare(self) -> None:
        """Start the process for the next check, while nobody waits for this one."""
        if self._spare is None:
            self._spare = self._start()

    def stop(self) -> None:
        """Stop the check that is under way, if there is one."""
        if self._current is not None:
            self._current.stop()
            self._current = None

    def _stop_spare(self, process: subprocess.Popen[bytes]) -> None:
        Check(Job("", "", "", ""), process).stop()

    def _start(self) -> subprocess.Popen[bytes]:
        # What it prints itself is lost: what a learner's code prints is in the card.
        command = [sys.executable, "-m", "autograder.watch.child", *self._modules]
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
    """The modules among those that a file imports for which a learner would wait."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return [name for name in dict.fromkeys(found) if name.partition(".")[0] in _WARM]
