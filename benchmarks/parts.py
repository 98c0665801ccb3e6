"""Measures each speed-up: a class is graded with and without it.

For each speed-up there is a copy of the course without it, made by replacing a few lines. All
copies grade a submission before the next one begins, one copy at a time. The figures are processor
seconds, which depend less on other processes than wall time does. So this needs Linux, and a user
who may create a control group.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from rich.console import Console
from rich.table import Table

from autograder.builder.paths import ROOT
from autograder.classroom.grading import grade_class, run, worker_pool
from autograder.classroom.grading.grade_submission import ChapterServers
from autograder.submission.contract import GradingConfig, Submission
from autograder.submission.result import GradedNotebook
from tests.support.classes import commands, course

CLASS = 60
"""Submissions of the class for which the ratios are computed."""

GRADED = int(os.environ.get("BENCH_PARTS_GRADED", "5"))
"""Number of these submissions that each copy grades."""

IDLE_SECONDS = 2.0
"""A copy is idle if it uses no processor time for this long."""

CHOSEN = os.environ.get("BENCH_PARTS", "")
"""Names of the parts, separated by commas; all if empty."""

CHAPTER = "03"

GROUPS = Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup")
"""Places for a control group that counts processor time: with version 1, and version 2."""


@dataclass(frozen=True)
class Part:
    """A speed-up, and the edits that remove it from a copy of the course.

    Attributes:
        name: the name in the table.
        edits: for each replacement the file in ``autograder``, the old text, and the new one.
    """

    name: str
    edits: tuple[tuple[str, str, str], ...]


_TRACING = "speed/fx_tracing.py"


def _without(name: str, *starts: str) -> Part:
    """A group of patches of FX: the lines of the list of patches with these beginnings."""
    text = (ROOT / "autograder" / _TRACING).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines(keepends=True) if line.strip().startswith(starts)]
    return Part(name, tuple((_TRACING, line, "") for line in lines))


PARTS = (
    Part("all patches of FX", ((_TRACING, "!= WRITTEN_FOR", "!= ''"),)),
    _without("methods of modules", "*_module_patches()"),
    _without("wrapped functions", "patch_of(_symbolic_trace, "),
    _without("generated code", "patch_of(graph_module, ", "patch_of(graph.CodeGen, "),
    _without(
        "arguments and attributes",
        "patch_of(graph, ",
        "patch_of(_symbolic_trace.Tracer",
        "patch_of(nn.Module, ",
    ),
    _without("messages", "patch_of(graph_module._WrappedCall"),
    Part("known outcomes", (("boxed/work_ahead.py", "tuple(right_answers(exercise))", "()"),)),
    Part(
        "all work ahead",
        (("boxed/judge_service.py", "return next(state.ahead, False) is None", "return False"),),
    ),
    Part("large pages", (("sandbox/fork_server.py", "    yield from huge_pages.gather()\n", ""),)),
    Part(
        "namespaces",
        (("sandbox/walls.py", "(Wall.NAMESPACES, Wall.LANDLOCK)", "(Wall.LANDLOCK,)"),),
    ),
)
"""The last one is not a speed-up: without it, Landlock makes the sandboxes."""


def copy_of_course(folder: Path, part: Part | None) -> Path:
    """Make a compiled copy of the course in a folder, without a part.

    Raises:
        ValueError: if a text to be replaced is missing.
    """
    folder.mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.name not in ("autograder", ".git", ".venv", "build"):
            (folder / path.name).symlink_to(path)
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "autograder", folder / "autograder", ignore=skip)
    for name, old, new in part.edits if part else ():
        path = folder / "autograder" / name
        text = path.read_text(encoding="utf-8")
        if old not in text:
            raise ValueError(f"{name} does not contain {old!r}")
        path.write_text(text.replace(old, new), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "compileall", "-q", str(folder / "autograder")], check=True
    )
    return folder


class Copy:
    """A copy of the course that grades a class step by step, on request.

    Args:
        root: its folder.
        room: the classroom.
    """

    def __init__(self, root: Path, room: Path) -> None:
        self.first, self.each = 0.0, list[float]()
        self._group = _new_group(root.name)
        enter = f'echo $$ > {self._group}/cgroup.procs && exec "$@"'
        serve = [sys.executable, "-m", "benchmarks.parts", str(room)]
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", enter, "sh", *serve], cwd=root, text=True,
            env=commands.environment() | {"PYTHONPATH": str(root)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def get_ready(self) -> None:
        """Start the fork servers, and wait until they have done their precomputation."""
        self._wait()
        self._wait_until_idle()
        self._step()
        self._wait_until_idle()
        self.first = self._seconds()

    def grade(self) -> None:
        """Grade the next submission."""
        began = self._seconds()
        self._step()
        self.each.append(self._seconds() - began)

    def of_class(self) -> float:
        """The seconds for a whole class."""
        return self.first + CLASS * statistics.mean(self.each)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for _ in range(50):
            with suppress(OSError):
                self._group.rmdir()
                return
            time.sleep(0.2)

    def _step(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self._wait()

    def _wait(self) -> None:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            if line == DONE:
                return
        raise RuntimeError("a copy of the course has ended")

    def _wait_until_idle(self) -> None:
        before = -1.0
        while self._seconds() - before > 0.02:
            before = self._seconds()
            time.sleep(IDLE_SECONDS)

    def _seconds(self) -> float:
        one = self._group / "cpuacct.usage"
        if one.exists():
            return int(one.read_text()) / 1e9
        fields = dict(line.split() for line in (self._group / "cpu.stat").read_text().splitlines())
        return int(fields["usage_usec"]) / 1e6


DONE = "a step is done\n"


def _new_group(name: str) -> Path:
    for home in GROUPS:
        group = home / f"fxcourse-bench-{os.getpid()}-{name}"
        with suppress(OSError):
            group.mkdir()
            return group
    raise SystemExit("This needs a user who may make a control group.")


def serve(room: Path) -> None:
    """Grade a class; after each step, print `DONE` and wait for a line."""

    def done() -> None:
        sys.stdout.write(DONE)
        sys.stdout.flush()
        sys.stdin.readline()

    def paced(
        submissions: Iterable[Submission], config: GradingConfig, jobs: int
    ) -> Iterator[GradedNotebook]:
        servers = ChapterServers(config.preload)
        done()
        servers.work_ahead()
        for submission in submissions:
            done()
            yield worker_pool.grade(submission, config, servers)
        done()

    with mock.patch.object(run, "grade_in_parallel", paced):
        grade_class.grade_class(room)


def report(console: Console) -> None:
    """Print a table: for each part, the seconds for a class without it, relative to with it."""
    chosen = [part for part in PARTS if not CHOSEN or part.name in CHOSEN.split(",")]
    table = Table(
        "without", "ready, s", "each, s", "ratio, each", "ratio, class",
        title=f"Processor time without a part by that with it: {CLASS} submissions of {CHAPTER}",
    )  # fmt: skip
    copies: list[Copy] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        room = Path(name) / "class"
        course.make(room, CHAPTER, GRADED)
        try:
            for number, part in enumerate([None, *chosen]):
                console.print(f"starting a copy without {part.name if part else 'nothing'} ...")
                root = copy_of_course(Path(name) / f"copy-{number}", part)
                copies.append(Copy(root, shutil.copytree(room, root / "class")))
                copies[-1].get_ready()
            for number in range(GRADED):
                console.print(f"grading submission {number + 1} of {GRADED} ...")
                for copy in copies:
                    copy.grade()
        finally:
            for copy in copies:
                copy.close()
    stock = copies[0]
    for part, copy in zip(chosen, copies[1:], strict=True):
        ratios = [a / b for a, b in zip(copy.each, stock.each, strict=True)]
        table.add_row(
            part.name, f"{copy.first:.1f}", f"{statistics.mean(copy.each):.2f}",
            f"{statistics.median(ratios):.2f}", f"{copy.of_class() / stock.of_class():.2f}",
        )  # fmt: skip
    console.print(table)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
