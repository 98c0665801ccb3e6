"""Compares the grading speed with another commit: both grade the same answers, one after the other.

All answers are distinct: each contains a line with its student's name. So neither commit profits
from a cache for equal answers.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import nbformat
from rich.console import Console
from rich.table import Table

from autograder.builder.paths import ROOT
from benchmarks import grading
from tests.support.classes import commands, course
from tests.support.submissions import room as rooms
from tests.support.submissions.edits import edited, fill

COMMIT = os.environ.get("BENCH_COMMIT", "935fb6d")
"""The other commit."""

CHAPTER = "03_manipulation"

_POLL_SECONDS = 0.02
"""Seconds between two checks for the first result."""

Points = dict[str, dict[str, float | None]]


@dataclass(frozen=True)
class Run:
    """A class, graded by one commit.

    Attributes:
        seconds: from the command to its end.
        first: from the command to the first result.
        steady: between two results in the middle.
        points: the points of each student.
    """

    seconds: float
    first: float
    steady: float
    points: Points


def report(console: Console) -> None:
    """Print a table with both commits for each way of grading."""
    table = Table(
        "graded by", "works", "s each", "s each, steady", "s to the first", "ratio",
        "ratio, steady", "scores as there",
        title=f"{CHAPTER}, every answer distinct, the box on, compared with {COMMIT}",
    )  # fmt: skip
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        theirs = Path(folder) / "theirs"
        if not _checked_out(theirs):
            console.print(f"This clone does not have the commit {COMMIT}: nothing is compared.")
            return
        if missing := _install_missing(theirs):
            console.print(f"{COMMIT} needs what cannot be installed here: {missing}.")
            return
        for way in grading.WAYS:
            console.print(f"grading {CHAPTER}, compared with {COMMIT}, {way.name} ...")
            there, here = (
                _graded(root, Path(folder) / f"{name} {way.name}", way)
                for name, root in (("there", theirs), ("here", ROOT))
            )
            _add_rows(table, way, there, here)
    console.print(table)


def _add_rows(table: Table, way: grading.Way, there: Run, here: Run) -> None:
    works = len(here.points)
    for name, run in ((COMMIT, there), ("this commit", here)):
        table.add_row(
            f"{name}, {way.name}", str(works), f"{run.seconds / works:.2f}", f"{run.steady:.2f}",
            f"{run.first:.1f}", f"{there.seconds / run.seconds:.2f}",
            f"{there.steady / run.steady:.2f}", _agreement(here.points, run.points),
        )  # fmt: skip


def _agreement(some: Points, others: Points) -> str:
    """The number of equal scores."""
    pairs = [(own, others.get(student, {}).get(name)) for student, row in some.items()
             for name, own in row.items()]  # fmt: skip
    same = sum(a is not None and b is not None and abs(a - b) < 1e-6 for a, b in pairs)
    return f"{same} of {len(pairs)}"


def _checked_out(folder: Path) -> bool:
    """Check out the other commit into a folder; whether this succeeded."""
    steps = (
        ["git", "clone", "--quiet", "--shared", str(ROOT), str(folder)],
        ["git", "-C", str(folder), "checkout", "--quiet", COMMIT],
    )
    return all(subprocess.run(step, capture_output=True).returncode == 0 for step in steps)


def _install_missing(root: Path) -> str:
    """Install the packages that only the other commit needs into its folder, and compile it.

    An installed course is compiled. Without compiled files that can be written, each process would
    compile all of it again, and this time would dominate.

    Returns:
        The packages that could not be installed.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    missing = [line for line in project["dependencies"] if not _is_installed(line)]
    if missing:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(root), *missing]
        if subprocess.run(pip).returncode:
            return ", ".join(missing)
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(root / "autograder")], check=True)
    return ""


def _is_installed(requirement: str) -> bool:
    """Whether the package of a requirement such as ``torch==2.14.1`` is installed."""
    try:
        return bool(version(re.split(r"[^\w.-]", requirement)[0]))
    except PackageNotFoundError:
        return False


def _graded(root: Path, room: Path, way: grading.Way) -> Run:
    """Let one commit create a classroom and grade it, with all students' answers in it."""
    made = _fxcourse(root, "classroom", "create", str(room), "--chapters", CHAPTER[:2])
    if made.wait():
        raise RuntimeError(f"The course in {root} could not make a classroom.")
    released = rooms.released(room, CHAPTER)
    for student in course.names(grading.CHAPTER_WORKS):
        chosen = course.choices(CHAPTER, student).items()
        written = [
            fill(name, f"# {student}\n{choice.text}") for name, choice in chosen if choice.style
        ]
        rooms.hand_in(room, student, CHAPTER, nbformat.writes(edited(released, *written)))
    began = time.time()
    process = _fxcourse(root, "grade", str(room), "-j", str(way.jobs), one_core=way.one_core)
    first = 0.0
    while process.poll() is None:
        first = first or (time.time() - began if commands.done(room) else 0.0)
        time.sleep(_POLL_SECONDS)
    seconds = time.time() - began
    found = grading.rate(room, CHAPTER, seconds)
    return Run(seconds, first, found.steady, rooms.points(room, CHAPTER))


def _fxcourse(root: Path, *words: str, one_core: bool = False) -> subprocess.Popen[bytes]:
    """Start a command of the course in a folder."""
    core = min(os.sched_getaffinity(0))
    return subprocess.Popen(
        [sys.executable, "-m", "autograder.cli", *words], cwd=root,
        env=commands.environment() | {"PYTHONPATH": str(root)},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT,
        preexec_fn=(lambda: os.sched_setaffinity(0, {core})) if one_core else None,
    )  # fmt: skip
