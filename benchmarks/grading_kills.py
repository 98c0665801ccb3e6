"""Kills grading at random moments and resumes it; grades two classes at the same time."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.support.classes import commands, course, two_questions
from tests.support.classes.commands import Grading
from tests.support.numbers.numbers_syllabus import CHAPTER

KILLS = int(os.environ.get("BENCH_KILLS", "20"))
KILLED_CLASS = int(os.environ.get("BENCH_KILLED_CLASS", "8"))
"""Submissions of the class that is interrupted."""

BESIDE = int(os.environ.get("BENCH_BESIDE", "30"))
"""Submissions of each of the two classes that are graded at the same time."""

SEED = int(os.environ.get("BENCH_SEED", "0"))
JOBS = 2


@dataclass(frozen=True)
class Moment:
    """When a run is killed: after `done` submissions and a fraction of the time to the next one.

    So the moments are spread over the run, regardless of the machine's load. The time to the first
    submission is the start-up.
    """

    done: int
    part: float


@dataclass(frozen=True)
class Pace:
    """Seconds of an uninterrupted run to the first submission, and from one to the next."""

    first: float
    each: float


@dataclass(frozen=True)
class Killed:
    """The result of a killed run.

    Attributes:
        moment: when it was killed.
        done: number of submissions in the journal at that time.
        left: number of processes that were left running, which should be 0.
        same: whether the next run gave the results of an uninterrupted one.
    """

    moment: Moment
    done: int
    left: int
    same: bool


def uninterrupted(made: Path, room: Path) -> tuple[dict[str, Any], Pace]:
    """Grade a copy of a class; return the results and the pace."""
    shutil.copytree(made, room)
    grading = Grading(room, JOBS)
    try:
        grading.wait()
    finally:
        grading.end()
    times = commands.finished(room, CHAPTER)
    first = times[0] - grading.began
    return commands.snapshot(room, CHAPTER), Pace(first, (times[-1] - times[0]) / len(times))


def kill_and_resume(
    made: Path, room: Path, moment: Moment, pace: Pace, wanted: dict[str, Any]
) -> Killed | None:
    """Kill a run over a copy of a class, and resume it.

    Returns:
        The result; ``None`` if the run ended before it could be killed.
    """
    shutil.copytree(made, room)
    grading = Grading(room, JOBS)
    try:
        while grading.is_running() and len(commands.done(room)) < moment.done:
            time.sleep(0.005)
        time.sleep(moment.part * (pace.each if moment.done else pace.first))
        if not grading.is_running():
            return None
        left = grading.kill()
    finally:
        grading.end()
    done = len(commands.done(room))
    commands.grade(room, JOBS)
    return Killed(moment, done, len(left), commands.snapshot(room, CHAPTER) == wanted)


def report(console: Console) -> None:
    """Print the result of each killed run."""
    console.print(f"killing {KILLS} runs at random moments (seed {SEED}) ...")
    drawn = random.Random(SEED)
    found: list[Killed] = []
    late = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        made = Path(folder) / "class"
        two_questions.make(made, KILLED_CLASS, seed=SEED, accidents=True)
        wanted, pace = uninterrupted(made, Path(folder) / "whole" / "class")
        while len(found) < KILLS and late <= 2 * KILLS:
            moment = Moment(drawn.randrange(KILLED_CLASS), drawn.random())
            # Each folder has the classroom's own name, which is in the gradebook.
            room = Path(folder) / str(len(found) + late) / "class"
            killed = kill_and_resume(made, room, moment, pace, wanted)
            late += killed is None
            found += [killed] if killed else []
            shutil.rmtree(room.parent)
    _print_killed(console, found, late)


def _print_killed(console: Console, found: list[Killed], late: int) -> None:
    table = Table(
        "killed after", "and a part of", "done", "left after 10 s", "same in the end",
        title=f"kill -9 and once more, {KILLED_CLASS} submissions",
    )  # fmt: skip
    for killed in found:
        words = f"{killed.moment.done} submissions", f"{killed.moment.part:.2f}"
        ending = "yes" if killed.same else "[bold red]no[/bold red]"
        table.add_row(*words, str(killed.done), str(killed.left or "nothing"), ending)
    console.print(table)
    if late:
        console.print(f"{late} runs were over before they could be killed, and do not count")
    same = sum(killed.same for killed in found)
    alone = sum(not killed.left for killed in found)
    console.print(f"identical: {same} of {len(found)} (aim: all)")
    console.print(f"nothing left running after {commands.GONE:g} s: {alone} of {len(found)}")


def report_beside(console: Console) -> None:
    """Grade two classes one after the other, then copies of them at the same time."""
    console.print(f"grading two classes of {BESIDE}, one after the other and at once ...")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        known = [
            two_questions.make(home / name / "class", BESIDE, seed, accidents=True)
            for seed, name in enumerate(("first", "second"), start=1)
        ]
        made = [home / name / "class" for name in ("first", "second")]
        after = [_copy(room, home / "after" / room.parent.name) for room in made]
        at_once = [_copy(room, home / "at once" / room.parent.name) for room in made]
        one_by_one = sum(commands.grade(room, JOBS) for room in after)
        together = _grade_together(at_once)
        same = sum(
            commands.snapshot(a, CHAPTER) == commands.snapshot(b, CHAPTER)
            for a, b in zip(after, at_once, strict=True)
        )
        compared = [
            course.differences(room, scores) for room, scores in zip(at_once, known, strict=True)
        ]
    count = sum(number for number, _ in compared)
    agree = count - sum(len(wrong) for _, wrong in compared)
    console.print(f"two classes at once end as one after the other: {same} of 2 (aim: 2)")
    console.print(f"  {agree} of {count} scores as known")
    console.print(f"  one after the other {one_by_one:.0f} s, at once {together:.0f} s")


def _copy(room: Path, folder: Path) -> Path:
    folder.mkdir(parents=True)
    return Path(shutil.copytree(room, folder / room.name))


def _grade_together(classes: list[Path]) -> float:
    """Grade several classes at the same time; the seconds until the last one was done."""
    running = [Grading(room, JOBS) for room in classes]
    try:
        return max([grading.wait() for grading in running])
    finally:
        for grading in running:
            grading.end()
