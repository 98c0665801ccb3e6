"""Output for an instructor while a class is graded, and afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.classroom.grading.grade_class import Summary
from autograder.classroom.lateness.penalties import LateRow
from autograder.cli.terminal import Progress
from autograder.submission.result import Result, SubmissionStatus
from autograder.submission.sanitize import in_a_line

MOST_UNREAD = 100
"""Maximum number of lines about notebooks that were not read."""

MOST_LATE = 10
"""Maximum number of lines about late work in the summary."""


class Watch:
    """Progress with the remaining time, and a line for each submission that needs attention."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress("Grading")
        self._told: Counter[tuple[str, tuple[str, ...]]] = Counter()

    def __enter__(self) -> Watch:
        self._progress.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.__exit__(kind, error, trace)
        for (chapter, notes), count in self._told.items():
            if count > 1:
                more = _counted(count - 1, "more submission")
                note = escape(" ".join(_few(notes)))
                self._console.print(f"{more} of {chapter}: {note}")

    def tell(self, result: Result, done: int, count: int) -> None:
        """Show that one more submission is done."""
        rate = self._progress.per_minute
        note = f"{rate:.3g} a minute" if rate else ""
        self._progress.show(done, count, note, took_time=result.in_this_run)
        if result.in_this_run and not self._is_harmless(result):
            self._print(line_about(result))

    def _is_harmless(self, result: Result) -> bool:
        """Whether a submission was graded without notes, or with the notes of an earlier one."""
        if result.status is not SubmissionStatus.GRADED or not result.notes:
            return result.status is SubmissionStatus.GRADED
        self._told[result.chapter, result.notes] += 1
        return self._told[result.chapter, result.notes] > 1

    def expect(self, count: int) -> None:
        """Show the number of submissions."""
        self._progress.show(0, count)

    def warn(self, sentence: str) -> None:
        """Show a warning that an instructor should read first."""
        self._print(f"[yellow]{escape(in_a_line(sentence))}[/yellow]")

    def _print(self, line: str) -> None:
        with self._progress.paused():
            self._console.print(line)


def line_about(result: Result) -> str:
    """One submission in a line, with its notes."""
    colour = result.status.colour
    who = escape(in_a_line(f"{result.student}, {result.chapter}"))
    happened = escape(" ".join(_few(result.notes)))
    points = f"{result.points:.4g} of {result.max_points:g} points"
    return f"[{colour}]{result.status}[/{colour}]  {who}: {points}. {happened}"


def _few(notes: tuple[str, ...], most: int = 4) -> list[str]:
    """The first notes, and the number of the others."""
    kept = [note if note.endswith((".", "!", "?")) else f"{note}." for note in notes[:most]]
    kept = [note[:300] for note in kept]
    return [*kept, f"And {len(notes) - most} more."] if len(notes) > most else kept


def print_summary(summary: Summary, console: Console) -> None:
    """Print a table with the results of each chapter's submissions, and sentences about the run."""
    table = Table()
    table.add_column("chapter", no_wrap=True)
    for head in ("handed in", "how it ended", "automatic mean", "of"):
        table.add_column(head)
    for chapter in sorted({result.chapter for result in summary.results}):
        own = [result for result in summary.results if result.chapter == chapter]
        table.add_row(chapter, *_columns(own))
    console.print(table)
    again = sum(result.in_this_run for result in summary.results)
    kept = len(summary.results) - again
    rate = f", {60 * again / summary.seconds:.0f} a minute" if again and summary.seconds else ""
    have = "has" if kept == 1 else "have"
    before = f" {kept} had been graded before and {have} not changed." if kept else ""
    console.print(
        f"{_counted(again, 'submission')} graded in {summary.seconds:.0f} s{rate}.{before}"
    )
    for why, number in summary.regraded.items():
        verb = "was" if number == 1 else "were"
        console.print(f"{_counted(number, 'submission')} {verb} graded again: {why} changed.")
    _print_late(summary.late, console)
    for chapter, (submissions, answers) in summary.waiting.items():
        verb = "waits" if submissions == 1 else "wait"
        count = _counted(answers, "answer")
        console.print(f"{chapter}: {submissions} {verb} for a person, with {count}.")
    for look in summary.again[:MOST_LATE]:
        console.print(f"  {escape(in_a_line(look.line()))}")
    if summary.again:
        console.print("  Both answers of each: fxcourse classroom waiting DIR")
    for one in summary.unread[:MOST_UNREAD]:
        console.print(f"[red]not read[/red]  {escape(one)}")
    if len(summary.unread) > MOST_UNREAD:
        console.print(f"And {len(summary.unread) - MOST_UNREAD} more notebooks were not read.")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def print_changes(summary: Summary, console: Console) -> None:
    """Print the scores that a dry run would change, with the reasons."""
    if summary.changes:
        table = Table("student", "chapter", "now", "would be", "why")
        for one in summary.changes:
            now = "" if one.before is None else f"{one.before:.4g}"
            why = escape(in_a_line(one.why))
            student = escape(in_a_line(one.student))
            table.add_row(student, one.chapter, now, f"{one.after:.4g}", why)
        console.print(table)
    count = len(summary.changes)
    whose = f"{count} would change." if count else "No score would change."
    console.print(f"{whose} Nothing was written.")


def _print_late(rows: Sequence[LateRow], console: Console) -> None:
    """Print the first late submissions, with their penalties, and the number of the others."""
    if not rows:
        return
    costs = sum(row.penalty > 0 for row in rows)
    console.print(f"{len(rows)} late, of which {costs} {'loses' if costs == 1 else 'lose'} points:")
    for row in rows[:MOST_LATE]:
        console.print(f"  {escape(about_late(row))}")
    if len(rows) > MOST_LATE:
        console.print(f"  And {len(rows) - MOST_LATE} more. All: fxcourse classroom lateness DIR")


def about_late(row: LateRow) -> str:
    """The delay of a submission and its penalty, in a line."""
    minus = f": -{row.penalty:.4g} of {row.score:.4g} points" if row.penalty else ": no points off"
    return f"{in_a_line(row.student)}, {row.chapter}: {row.sentence}{minus}"


def _columns(results: Sequence[Result]) -> Iterator[str]:
    """The columns of the table with one chapter's results."""
    ended = Counter(result.status for result in results)
    yield str(len(results))
    seen = [status for status in SubmissionStatus if ended[status]]
    yield ", ".join(f"{ended[status]} {status}" for status in seen)
    yield f"{sum(result.points for result in results) / len(results):.1f}"
    yield f"{max(result.max_points for result in results):g}"
