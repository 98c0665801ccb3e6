"""Output of the commands: consoles, and progress of long work."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from rich import progress
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from autograder.environment.visible import visible

T = TypeVar("T")

MOST_LINES = 20
"""Maximum number of lines of one kind to print, such as files that were left out."""


class VisibleConsole(Console):
    """A console that prints no control character from the texts of students and other people."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render an object, with visible signs instead of control characters in its text."""
        for segment in super().render(renderable, options):
            is_text = not segment.control
            yield Segment(visible(segment.text), segment.style) if is_text else segment


# Without emoji: `b.py:boom` is the name of a pass, not a picture.
out = VisibleConsole(soft_wrap=True, highlight=False, emoji=False)
err = VisibleConsole(soft_wrap=True, highlight=False, emoji=False, stderr=True)


def print_some(lines: Sequence[str]) -> None:
    """Print the first lines of one kind, in rich's markup, and the number of the others."""
    for line in lines[:MOST_LINES]:
        out.print(line)
    if len(lines) > MOST_LINES:
        out.print(f"  … and {len(lines) - MOST_LINES:,} more like these.")


# ------------------------------------------------------------------ progress

LINE_SECONDS = 10.0
"""Seconds between two lines of progress, if there is no terminal for a bar."""


def duration(seconds: float) -> str:
    """Minutes and seconds, as ``0:09``; with hours, as ``1:02:03``."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def time_left(elapsed: float, last: float, new: int, left: int) -> str:
    """Estimate the time for the rest of some work.

    Args:
        elapsed: seconds since the work began.
        last: seconds from its beginning to the end of the last step that took time.
        new: the number of these steps; steps from an earlier run took no time.
        left: the maximum number of remaining steps.
    """
    if not new:
        return f"{duration(elapsed)} so far"
    return f"about {duration(max(0.0, left * last / new - (elapsed - last)))} left"


class _Column(progress.ProgressColumn):
    """A column whose text is computed again at each refresh."""

    def __init__(self, words: Callable[[], str]) -> None:
        super().__init__()
        self._words = words

    def render(self, task: progress.Task) -> Text:
        """Return the column's text."""
        return Text(self._words())


class Progress:
    """The progress of long work on standard error, with an estimate of the remaining time.

    In a terminal this is a bar. In a pipe or a file it is a line of plain text now and then.
    """

    def __init__(self, title: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._title = title
        self._clock = clock
        self._began: float | None = None
        self._last = self._printed = 0.0  # seconds since then
        self._done = self._new = self._total = 0
        self._note = ""
        self._bar = self._new_bar() if _is_terminal() else None

    def _new_bar(self) -> progress.Progress:
        bar = progress.Progress(
            progress.TextColumn(self._title), progress.BarColumn(),
            progress.MofNCompleteColumn(), _Column(self._time_left), _Column(lambda: self._note),
            # A separate console, because work may redirect `sys.stderr` while the bar is drawn.
            console=VisibleConsole(file=sys.stderr, highlight=False, emoji=False),
            transient=True, redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        bar.add_task("", total=None)
        return bar

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def over(self, items: Sequence[T]) -> Iterator[T]:
        """Yield items one after the other, and show how many are done and the next one."""
        for done, item in enumerate(items):
            name = item.stem if isinstance(item, Path) else str(item)
            self.show(done, len(items), f"now {name}")
            yield item
        self.show(len(items), len(items))

    def show(self, done: int, total: int, note: str = "", *, took_time: bool = True) -> None:
        """Show the number of steps that are done. The time begins with the first call.

        Args:
            done: the number of steps that are done.
            total: the number of all steps.
            note: a few more words to show.
            took_time: whether the last step was done now, and not in an earlier run.
        """
        begins = self._began is None
        self._began = self._clock() if self._began is None else self._began
        if done > self._done and took_time:
            self._last, self._new = self._elapsed(), self._new + done - self._done
        self._done, self._total, self._note = done, total, note
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done, total=total)
        elif begins or (done < total and self._elapsed() - self._printed >= LINE_SECONDS):
            self._printed = self._elapsed()
            words = (f"{done} of {total}", "" if begins else self._time_left(), note)
            err.print(f"{self._title}: {', '.join(filter(None, words))}", markup=False)

    @property
    def per_minute(self) -> float | None:
        """The number of steps a minute; ``None`` before the first one."""
        return 60 * self._new / self._last if self._last else None

    def _elapsed(self) -> float:
        return 0.0 if self._began is None else self._clock() - self._began

    def _time_left(self) -> str:
        return time_left(self._elapsed(), self._last, self._new, self._total - self._done)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Hide the bar while something else is printed."""
        if self._bar is not None:
            self._bar.stop()
        yield
        if self._bar is not None:
            self._bar.start()


def _is_terminal() -> bool:
    """Whether a bar can be drawn without getting into a pipe or a file."""
    return sys.stdout.isatty() and sys.stderr.isatty() and not err.is_dumb_terminal
