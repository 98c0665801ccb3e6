"""Grades the demo class as an instructor does, and compares every score: `make grade-demo`."""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nbformat
from rich.console import Console
from rich.table import Table

from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.classroom.setup.create import choose, create
from tests.support.submissions import Submission
from tests.support.submissions import room as rooms
from tests.support.submissions.reader import all_submissions

AT_ONCE = 2
"""Number of notebooks to grade, and of chapters to make feedback for, at the same time."""


@dataclass(frozen=True)
class Row:
    """One exercise of one submission.

    Attributes:
        submission: the submission.
        exercise: the exercise.
        expected: the expected points.
        obtained: the points in the gradebook; ``None`` if there are none.
    """

    submission: Submission
    exercise: str
    expected: float
    obtained: float | None

    @property
    def agrees(self) -> bool:
        """Whether the points are as expected."""
        return self.obtained is not None and abs(self.obtained - self.expected) < 1e-6


def main() -> int:
    """Grade the class, print the table, and return the number of differences."""
    start = time.perf_counter()
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    submissions = all_submissions()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        rows, problems = grade(Path(folder) / "a classroom", submissions, say=console.print)
    console.print("Points of each exercise: expected | obtained")
    for chapter in sorted({row.submission.chapter for row in rows}):
        console.print(table([row for row in rows if row.submission.chapter == chapter]))
    for problem in problems:
        console.print("problem:", problem, markup=False)
    wrong = sum(not row.agrees for row in rows)
    console.print(
        f"{len(rows)} scores of {len(submissions)} notebooks: {len(rows) - wrong} as expected, "
        f"{wrong} not. {time.perf_counter() - start:.0f} seconds."
    )
    return wrong + len(problems)


def grade(
    room: Path, submissions: list[Submission], say: Callable[[str], None] = lambda text: None
) -> tuple[list[Row], list[str]]:
    """Make a classroom, submit, grade, make feedback, and export.

    Returns:
        A row for each exercise of each submission, and the other problems.
    """
    students = len({submission.student for submission in submissions})
    say(f"A class of {students} hands in {len(submissions)} notebooks ...")
    make_room(room, submissions)
    problems = []
    say("fxcourse grade ...")
    summary = grade_class(room, GradingOptions(jobs=AT_ONCE))
    say(f"{len(summary.results)} notebooks graded in {summary.seconds:.0f} s.")
    for name, step in (("generate_feedback", feedback), ("export", exported)):
        say(f"nbgrader {name} ...")
        problems += step(room, submissions)
    return list(compare(room, submissions)), problems


def make_room(room: Path, submissions: list[Submission]) -> None:
    """Make a classroom, and submit everything."""
    create(room, choose(",".join(sorted({s.chapter for s in submissions}))))
    for submission in submissions:
        notebook = submission.notebook(rooms.released(room, submission.chapter))
        text = nbformat.writes(notebook)
        work = text[: len(text) // 2] if submission.broken else text
        path = rooms.hand_in(room, submission.student, submission.chapter, work)
        for name, content in submission.extra_files.items():
            (path.parent / name).write_text(content, encoding="utf-8")


def feedback(room: Path, submissions: list[Submission]) -> list[str]:
    """Make the feedback pages, and check that each shows a card and no hidden test."""
    problems = _for_each_chapter(room, submissions, "generate_feedback")
    for s in submissions:
        path = room / "feedback" / s.student / s.chapter / f"{s.chapter}.html"
        page = path.read_text(encoding="utf-8") if path.exists() else ""
        if "HIDDEN TESTS" in page or not page:
            problems.append(
                f"{s.student}, {s.chapter}: the feedback page is missing or shows tests"
            )
    return problems


def _for_each_chapter(room: Path, submissions: list[Submission], command: str) -> list[str]:
    # The last chapter has the most exercises, so it starts first.
    chapters = sorted({submission.chapter for submission in submissions}, reverse=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        ended = list(pool.map(lambda chapter: rooms.nbgrader(room, command, chapter), chapters))
    failed = zip(chapters, ended, strict=True)
    return [f"{command} {c} failed:\n{run.stdout[-3000:]}" for c, run in failed if run.returncode]


def exported(room: Path, submissions: list[Submission]) -> list[str]:
    """Export the grades, and compare the totals with the table."""
    run = rooms.nbgrader(room, "export")
    if run.returncode:
        return [f"export failed:\n{run.stdout[-3000:]}"]
    with (room / "grades.csv").open(encoding="utf-8", newline="") as file:
        totals = {
            (r["student_id"], r["assignment"]): float(r["score"]) for r in csv.DictReader(file)
        }
    return [
        f"{s.student}, {s.chapter}: grades.csv has {totals.get((s.student, s.chapter))}"
        for s in submissions
        if abs(totals.get((s.student, s.chapter), -1) - sum(s.points().values())) > 1e-6
    ]


def compare(room: Path, submissions: list[Submission]) -> Iterator[Row]:
    """The expected and the obtained points of every exercise of every submission."""
    chapters = {submission.chapter for submission in submissions}
    obtained = {chapter: rooms.points(room, chapter) for chapter in chapters}
    waiting = {chapter: rooms.waiting(room, chapter) for chapter in chapters}
    for s in submissions:
        found = obtained[s.chapter].get(s.student, {})
        for exercise, expected in s.points().items():
            points = found.get(exercise) if s.student not in waiting[s.chapter] else None
            yield Row(s, exercise, expected, points)


def table(rows: list[Row]) -> Table:
    """Expected and obtained points of one chapter: rows are students, columns exercises."""
    names = list(dict.fromkeys(row.exercise for row in rows))
    shown = Table("student", "what is special", *names, "all", title=rows[0].submission.chapter)
    students: dict[str, list[Row]] = {}
    for row in rows:
        students.setdefault(row.submission.student, []).append(row)
    for student, own in students.items():
        sums = (sum(row.expected for row in own), sum(row.obtained or 0 for row in own))
        words = [_words(row.expected, row.obtained, row.agrees) for row in own]
        total = _words(*sums, all(row.agrees for row in own))
        shown.add_row(student, own[0].submission.does, *words, total)
    return shown


def _words(expected: float, obtained: float | None, agrees: bool) -> str:
    got = "nothing" if obtained is None else f"{obtained:.4g}"
    return f"{expected:.4g} | {got}" if agrees else f"[bold red]{expected:.4g} | {got} ![/bold red]"


if __name__ == "__main__":
    sys.exit(bool(main()))
