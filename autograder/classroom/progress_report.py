"""What an instructor sees while a class is graded, and afterwards."""

from __future__ import annotations

from collections import Counter
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from autograder.classroom.grade_class import Row, Summary
from autograder.submission.contract import STATUSES
from autograder.submission.sanitize import in_a_line


class Watch:
    """Progress with the time that is left, and a line for each submission that needs a look."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("Grading"), BarColumn(), MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(compact=True), TextColumn("left"),
            console=console, transient=True,
        )  # fmt: skip
        self._task = self._progress.add_task("grading", total=None, rate="")

    def __enter__(self) -> Watch:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def tell(self, row: Row, done: int, count: int) -> None:
        """Show that one more submission is done."""
        task = self._progress.tasks[0]
        rate = f"{60 * task.speed:.0f} a minute" if task.speed else ""
        self._progress.update(self._task, completed=done, total=count, rate=rate)
        if row.again and (row.status != "graded" or row.notes):
            self._progress.console.print(line_about(row))


def line_about(row: Row) -> str:
    """One submission in a line, with what happened to it."""
    colour = STATUSES.get(row.status, "red") or "default"
    who = escape(in_a_line(f"{row.student}, {row.chapter}"))
    happened = escape(" ".join(_few(row.notes)))
    points = f"{row.score:.4g} of {row.max_score:g} points"
    return f"[{colour}]{row.status}[/{colour}]  {who}: {points}. {happened}"


def _few(notes: tuple[str, ...], most: int = 4) -> list[str]:
    """The first notes; how many more there are."""
    kept = [note if note.endswith((".", "!", "?")) else f"{note}." for note in notes[:most]]
    kept = [note[:300] for note in kept]
    return [*kept, f"And {len(notes) - most} more."] if len(notes) > most else kept


def print_summary(summary: Summary, console: Console) -> None:
    """Print a table: how many submissions of each chapter ended how, and what they earned."""
    table = Table("chapter", "submissions", *STATUSES, "mean points", "of")
    for chapter in sorted({row.chapter for row in summary.rows}):
        own = [row for row in summary.rows if row.chapter == chapter]
        ended = Counter(row.status for row in own)
        mean = sum(row.score for row in own) / len(own)
        counts = [str(ended[status] or "") for status in STATUSES]
        most = max(row.max_score for row in own)
        table.add_row(chapter, str(len(own)), *counts, f"{mean:.1f}", f"{most:g}")
    _drop_empty(table)
    console.print(table)
    again = sum(row.again for row in summary.rows)
    kept = len(summary.rows) - again
    rate = f", {60 * again / summary.seconds:.0f} a minute" if again and summary.seconds else ""
    before = f" {kept} had been graded before and have not changed." if kept else ""
    console.print(f"{again} submissions graded in {summary.seconds:.0f} s{rate}.{before}")


def _drop_empty(table: Table) -> None:
    """Leave out the endings that nothing has."""
    table.columns = [
        column for column in table.columns
        if str(column.header) not in STATUSES or any(map(str.strip, map(str, column._cells)))
    ]  # fmt: skip
