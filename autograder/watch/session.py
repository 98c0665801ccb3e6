"""A session in the terminal: a card on every save, and keys for hints, pictures and more."""

from __future__ import annotations

import os
import re
import sys
import time
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.lessons.record_status import is_passed
from autograder.watch.checker import Check, Checker
from autograder.watch.files import ExerciseFile
from autograder.watch.job import Result
from autograder.watch.keys import QUIT, Read
from autograder.watch.saves import Saves
from autograder.watch.screen import Screen
from autograder.workspace import progress_file

KEYS = "h hint · p parts · d picture · c compare · m more · n next · q quit"
NO_KEYS = "Keys do not work here: this is not a terminal. Stop with Ctrl-C."
NOTE_LINES = 2
"""Lines reserved below a card for a note."""

TICK = 0.1
PAGE_WAIT = 20.0
PICTURES = "pictures"

_STYLES = {"✓": "bold green", "✗": "bold red", "!": "bold magenta", "○": "bold", "?": "bold"}
_CODE = re.compile(r"`[^`\n]+`")
_LABEL = re.compile(
    r"^(Where to look:|Also found:|Parts:|Expected:|Obtained:|Called as:|With inputs:"
    r"|The smallest case that breaks it:|Your code printed:|The file printed:|Before and after:)",
    re.M,
)


@dataclass
class Session:
    """One run of the command.

    Attributes:
        exercises: the exercises of the chapter, in their order.
        console: the terminal.
        checker: starts the checks.
        read: reads keys; ``None`` without a terminal.
        browse: opens a page, and returns whether that succeeded.
        news: sentences about the files, for the first card.
    """

    exercises: list[ExerciseFile]
    console: Console
    checker: Checker
    read: Read | None = None
    browse: Callable[[Path], bool] = field(default_factory=lambda: open_page)
    news: list[str] = field(default_factory=list)
    _current: int = 0
    _check: Check | None = None
    _last: Check | None = None
    _results: dict[str, Result] = field(default_factory=dict)
    _hints: dict[str, int] = field(default_factory=dict)
    _left: bool = False

    def __post_init__(self) -> None:
        self._screen = Screen(self.console, KEYS if self.read else NO_KEYS)
        self._saves = Saves([one.path for one in self.exercises])
        self._current = next((i for i, e in enumerate(self.exercises) if not _passed(e)), 0)

    @property
    def exercise(self) -> ExerciseFile:
        """The exercise that is shown."""
        return self.exercises[self._current]

    def run(self) -> None:
        """Show cards until the learner quits."""
        if not self.console.is_terminal:
            self._say(self._screen.keys)
        self._begin()
        while not self._left:
            self.step()
            time.sleep(TICK)

    def step(self) -> None:
        """Handle pressed keys, saved files and the running check once."""
        for key in self.read() if self.read else "":
            self._press(key)
        for path, kind in self._saves.look():
            self._current = self._saves.paths.index(path)
            if kind == "saved":
                self._begin()
            else:
                self._forget(path)
        if self._check is not None:
            self._look_at(self._check)

    # -------------------------------------------------------------- checks

    def _begin(self) -> None:
        """Start a check of the current exercise."""
        one = self.exercise
        self._screen.begin(f"{one.path.name} · {time.strftime('%H:%M:%S')}")
        self._screen.show(Text(f"Checking {one.path}", style="dim"))
        if not one.path.exists():
            self._forget(one.path)
            return
        page = self._page_of(one)
        page.unlink(missing_ok=True)
        keys = self.read is not None
        self._check = self._last = self.checker.check(
            one.name, one.path, page, keys=keys, lines=self._screen.lines - NOTE_LINES
        )

    def _look_at(self, check: Check) -> None:
        result, over = check.result(), check.is_over
        if result is None and not over:
            return
        # The process may have written its result between the two calls.
        result = result or check.result()
        self._check = None
        self.checker.prepare()
        if result is None:
            self._card(check.why())
            check.stop()
            return
        name = check.job.exercise
        self._results[name] = result
        progress_file.record_verdict(name, result.status)
        self._card(result.card)
        notes, self.news = self.news, []
        if result.status == "passed":
            notes = [*notes, self._how_far()]
        if result.status == "not attempted":
            notes = [*notes, f"Your file: {self.exercise.path}"]
        if notes:
            self._say("\n".join(notes))

    def _forget(self, path: Path) -> None:
        """Report that a file does not exist any more."""
        self._check = None
        self.checker.stop()
        self._say(
            f"{path.name} does not exist any more. Save it again to continue with it. To get an "
            "empty one, quit, and run the command again."
        )

    def _how_far(self) -> str:
        left = [one.name for one in self.exercises if not _passed(one)]
        done = f"{len(self.exercises) - len(left)} of {len(self.exercises)} exercises passed."
        return (
            f"{done} Left: {', '.join(left)}." if left else f"{done} You have finished the chapter."
        )

    # -------------------------------------------------------------- keys

    def _press(self, key: str) -> None:
        match key:
            case "h":
                self._hint()
            case "n":
                self._next()
            case "d":
                self._draw()
            case "c":
                self._compare()
            case "p":
                self._parts()
            case "m":
                self._screen.more()
            case _ if key == QUIT:
                self._left = True
            case _ if key.isprintable():
                self._show_card()

    def _next(self) -> None:
        """Go to the next exercise that is not passed, or to the next one if all are passed."""
        count = len(self.exercises)
        order = [(self._current + step) % count for step in range(1, count + 1)]
        self._current = next((i for i in order if not _passed(self.exercises[i])), order[0])
        self._begin()

    def _result(self) -> Result | None:
        """The result of the current exercise, if there is one."""
        if self._check is not None:
            self._wait(self._check, lambda: self._check is None)
        found = self._results.get(self.exercise.name)
        if found is None:
            self._say("There is nothing to show before the first check. Save the file first.")
        return found

    def _wait(self, check: Check, done: Callable[[], bool]) -> None:
        """Wait for a check, for at most `PAGE_WAIT` seconds."""
        end = time.monotonic() + PAGE_WAIT
        while time.monotonic() < end and not done():
            if self._check is check:
                self._look_at(check)
            time.sleep(TICK)

    def _show_card(self) -> None:
        """Show the card again, after a hint or another text."""
        result = self._result()
        if result is not None:
            self._card(result.card)

    def _hint(self) -> None:
        result = self._result()
        if result is None:
            return
        if not result.hints:
            self._say(f"{self.exercise.name} has no hints.")
            return
        shown = self._hints.get(self.exercise.name, 0)
        again = shown == len(result.hints)
        shown = 0 if again else shown
        self._hints[self.exercise.name] = shown + 1
        self._card(result.hints[shown])
        if again:
            self._say("That was the last hint. Here they are again.")

    def _compare(self) -> None:
        result = self._result()
        if result is not None:
            name = self.exercise.name
            self._card(result.debrief or f"The debrief of {name} opens after you have passed it.")

    def _parts(self) -> None:
        result = self._result()
        if result is not None:
            self._card(result.parts or f"The check of {self.exercise.name} has no parts to show.")

    def _draw(self) -> None:
        page = self._page_of(self.exercise)
        if self._result() is None:
            return
        last = self._last
        if last is not None and last.job.exercise == self.exercise.name:
            self._wait(last, lambda: last.is_over or page.exists())
        if not page.exists():
            self._say("There is no picture of this case.")
        elif self.browse(page):
            self._say(f"The picture is in the browser: {page}")
        else:
            self._say(f"No browser could be opened. The picture is in {page}")

    @staticmethod
    def _page_of(one: ExerciseFile) -> Path:
        return one.path.parent / PICTURES / f"{one.name}.html"

    # -------------------------------------------------------------- words

    def _say(self, text: str) -> None:
        self._screen.note(text)

    def _card(self, text: str) -> None:
        self._screen.show(styled(text))


def styled(card: str) -> Text:
    """A card for a terminal, with colors for its first line, for code and for labels."""
    text = Text(card)
    head = card.partition("\n")[0]
    text.stylize(_STYLES.get(card[:1], "bold"), 0, len(head))
    text.highlight_regex(_CODE, "cyan")
    text.highlight_regex(_LABEL, "bold")
    return text


def open_page(page: Path) -> bool:
    """Open a page in a browser of the desktop, and never in one that runs in the terminal."""
    desktop = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    try:
        return desktop and webbrowser.open(page.as_uri())
    except (OSError, webbrowser.Error):
        return False


def _passed(one: ExerciseFile) -> bool:
    return is_passed(progress_file.verdicts().get(one.name))
