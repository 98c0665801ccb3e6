"""Grades a small class and a large one, and compares their rates and the use of memory."""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.support.classes import commands, course, two_questions
from tests.support.classes.commands import Grading, Process
from tests.support.numbers import numbers_syllabus

SMALL = int(os.environ.get("BENCH_SMALL", "100"))
LARGE = int(os.environ.get("BENCH_LARGE", "1000"))
JOBS = int(os.environ.get("BENCH_JOBS", "2"))

EVERY = 0.5
"""Seconds between two measurements of the memory of all processes."""

_PAGE = os.sysconf("SC_PAGE_SIZE")
_MIB = 1024 * 1024


@dataclass
class Memory:
    """The memory of the processes of a run, in MiB, by measurement.

    Attributes:
        resident: by the role of a process: the number of submissions done, and the memory of
            the largest process with this role.
        above: private memory of a student's process, in addition to that of its fork server.
    """

    resident: dict[str, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    above: list[float] = field(default_factory=list)


class Watcher(threading.Thread):
    """Measures the memory of a run until the run ends."""

    def __init__(self, grading: Grading) -> None:
        super().__init__(daemon=True)
        self.grading, self.memory = grading, Memory()

    def run(self) -> None:
        """Measure repeatedly."""
        while self.grading.is_running():
            self._measure()
            time.sleep(EVERY)

    def _measure(self) -> None:
        done = len(commands.done(self.grading.room))
        largest: dict[str, float] = {}
        for process, part in parts(self.grading.pid).items():
            if part == "student":
                self.memory.above.append(own_memory(process))
            else:
                largest[part] = max(largest.get(part, 0.0), resident(process))
        for part, size in largest.items():
            self.memory.resident[part].append((done, size))


def parts(driver: int) -> dict[int, str]:
    """The processes of a run, with the role of each."""
    children: dict[int, list[Process]] = defaultdict(list)
    for process in commands.processes():
        children[process.parent].append(process)
    zygotes = [p.pid for p in children[driver] if b"sandbox.zygote" in _command(p.pid)]
    found = {driver: "driver"} | dict.fromkeys(zygotes, "what fork servers are forked from")
    servers = sorted(server.pid for zygote in zygotes for server in children[zygote])
    # In the order of their start; a process that runs a notebook's graphs counts as a student's.
    for server, forked in zip(servers, ("judge", "student"), strict=False):
        found[server] = f"fork server ({forked})"
        # Between the two are a process that waits and one that supervises.
        waits = children[server]
        keeps = [process for parent in waits for process in children[parent.pid]]
        boxed = [process for parent in keeps for process in children[parent.pid]]
        found.update({process.pid: forked for process in boxed})
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def resident(pid: int) -> float:
    """The memory of a process, in MiB; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE / _MIB
    except (OSError, IndexError):
        return 0.0


def own_memory(pid: int) -> float:
    """The private memory of a process, in MiB; 0 if it has ended, or may not be read."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


@dataclass(frozen=True)
class Run:
    """The figures of a graded class of one size."""

    students: int
    seconds: float
    steady: float
    memory: Memory
    agree: int
    scores: int


def measure(students: int) -> Run:
    """Grade a class of a size, and measure its memory."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        room = Path(folder) / "class"
        scores = two_questions.make(room, students)
        grading = Grading(room, JOBS)
        watcher = Watcher(grading)
        watcher.start()
        try:
            seconds = grading.wait()
        finally:
            grading.end()
        watcher.join()
        times = commands.finished(room, numbers_syllabus.CHAPTER)
        start = min(20, len(times) // 2)
        steady = (times[-1] - times[start - 1]) / (len(times) - start)
        count, wrong = course.differences(room, scores)
        return Run(students, seconds, steady, watcher.memory, count - len(wrong), count)


def report(console: Console) -> None:
    """Print the rates of both sizes, then the memory of each part."""
    console.print(f"grading classes of {SMALL} and {LARGE} ...")
    runs = [measure(students) for students in (SMALL, LARGE)]
    table = Table(
        "submissions", "a minute", "a minute, steady", "scores as known",
        title=f"A small class and a large one, -j {JOBS}",
    )  # fmt: skip
    for run in runs:
        whole, steady = 60 * run.students / run.seconds, 60 / run.steady
        agree = f"{run.agree} of {run.scores}"
        table.add_row(str(run.students), f"{whole:.0f}", f"{steady:.0f}", agree)
    console.print(table)
    ratio = runs[0].steady / runs[1].steady
    console.print(f"steady rate of {LARGE} by that of {SMALL}: {ratio:.2f} (aim: 0.90 to 1.10)")
    for run in runs:
        console.print(_memory_table(run))
        _print_above(console, run)


def _memory_table(run: Run) -> Table:
    """The memory of each role at five times; in a large class, growth is visible."""
    shares = (0.1, 0.3, 0.5, 0.7, 0.9)
    table = Table(
        "MiB resident", *(f"at {share:.0%}" for share in shares), "a 100 works more",
        title=f"Memory while {run.students} submissions are graded",
    )  # fmt: skip
    for part, looks in run.memory.resident.items():
        sizes = [_around(looks, share * run.students, run.students / 10) for share in shares]
        known = [size for size in (sizes[0], sizes[-1]) if size is not None]
        growth = "-"
        if len(known) == 2:
            growth = f"{(known[1] - known[0]) / (0.8 * run.students) * 100:+.1f}"
        shown = ["-" if size is None else f"{size:.0f}" for size in sizes]
        table.add_row(part, *shown, growth)
    return table


def _around(looks: list[tuple[int, float]], done: float, width: float) -> float | None:
    """The median of the measurements near a number of submissions."""
    near = [size for at, size in looks if at and abs(at - done) <= width]
    return statistics.median(near) if near else None


def _print_above(console: Console, run: Run) -> None:
    seen = [size for size in run.memory.above if size]
    if seen:
        console.print(
            f"a student's process above the fork server: {statistics.median(seen):.0f} MiB in "
            f"the median of {len(seen)} looks, {max(seen):.0f} at most (aim: 300)"
        )
    else:
        console.print("a student's process above the fork server: could not be looked at")
