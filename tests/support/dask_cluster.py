"""A small Dask cluster on this machine for one test: a scheduler and workers as processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from autograder.builder.paths import ROOT

PATIENCE = 60.0


class Cluster:
    """A scheduler on this machine, and the workers that were started for it.

    Args:
        home: a folder for the files of scheduler and workers.
        path: first entry of the scheduler's module search path.
    """

    def __init__(self, home: Path, path: str = str(ROOT)) -> None:
        self.home = home
        self._processes: list[subprocess.Popen[bytes]] = []
        file = home / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file),
            PYTHONPATH=path,
        )  # fmt: skip
        self.address = _wait_for_address(file)

    def worker(self, *options: str, path: str = str(ROOT), **environment: str) -> subprocess.Popen:
        """Start a worker with one thread; by default, one that can import this course."""
        told = ["--nworkers", "1", "--nthreads", "1", "--host", "127.0.0.1", *options]
        scratch = ["--local-directory", str(self.home)]
        more = {"PYTHONPATH": path, **environment}
        return self._start("worker", self.address, *told, *scratch, **more)

    def stop(self) -> None:
        """End all processes and their children, the last started first."""
        for process in reversed(self._processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, role: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        start = [sys.executable, "-P", "-m", f"distributed.cli.dask_{role}", *arguments]
        with (self.home / f"{role}{len(self._processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*start, "--no-dashboard"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **environment}, cwd=self.home, start_new_session=True,
            )  # fmt: skip
        self._processes.append(process)
        return process


@contextlib.contextmanager
def running(home: Path, path: str = str(ROOT)) -> Iterator[Cluster]:
    """A cluster without workers."""
    cluster = Cluster(home, path)
    try:
        yield cluster
    finally:
        cluster.stop()


def _wait_for_address(path: Path) -> str:
    import json

    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with contextlib.suppress(OSError, ValueError):
            return json.loads(path.read_text())["address"]
        time.sleep(0.1)
    raise TimeoutError(f"no scheduler came up: {path.parent}")


def below(process: int) -> set[int]:
    """All descendants of a process."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found: set[int] = set()
    todo = [process]
    while todo:
        new = set(parents.get(todo.pop(), ())) - found
        found |= new
        todo += new
    return found
