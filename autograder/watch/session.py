"""A session in the terminal: a card on every save, and keys for hints, pictures and more."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.lessons.record_status import is_passed
from autograder.watch import check_all
from autograder.watch.browser import open_page
from autograder.watch.card_style import styled
from autograder.watch.catalogue import Catalogue, State
from autograder.watch.check_all import CheckAll
from autograder.watch.checker import Check, Checker, heavy_modules
from autograder.watch.editor import VS_CODE, Editor
from autograder.watch.exercise_list import ExerciseList
from autograder.watch.files import ExerciseFile
from autograder.watch.job import Result
from autograder.watch.keys import CLOSED, ESCAPE, QUIT, Read
from autograder.watch.saves import Saves
from autograder.watch.screen import Screen
from autograder.workspace import progress_file
from autograder.workspace.update import CannotUpdate

KEYS = (
    "h hint", "p parts", "d picture", "c compare", "m more", "o open", "n next", "l list",
    "a check all", "q quit",
)  # fmt: skip
NO_KEYS = ("Keys do not work here: this is not a terminal. Stop with Ctrl-C.",)
NOTE_LINES = 2
"""Lines reserved below a card for a note."""

TICK = 0.1
PAGE_WAIT = 20.0
PICTURES = "pictures"


@dataclass
class Session:
    """One run of the command.

    Attributes:
        exercises: the exercises of the chapter, in their order.
        catalogue: the exercises of all chapters.
        console: the terminal.
        checker: starts the checks.
        read: reads keys; ``None`` without a terminal.
        editor: opens the file of an exercise; ``None`` if that was not asked for.
        browse: opens a page, and returns whether that succeeded.
        news: sentences about the files, for the first card.
    """

    exercises: list[ExerciseFile]
    catalogue: Catalogue
    console: Console
    checker: Checker
    read: Read | None = None
    editor: Editor | None = None
    browse: Callable[[Path], bool] = field(default_factory=lambda: open_page)
    news: list[str] = field(default_factory=list)
    _current: int = 0
    _check: Check | None = None
    _last: Check | None = None
    _results: dict[str, Result] = field(default_factory=dict)
    _hints: dict[str, int] = field(default_factory=dict)
    _list: ExerciseList | None = None
    _all: CheckAll | None = None
    _left: bool = False

    def __post_init__(self) -> None:
        self._screen = Screen(self.console, self._keys)
        self._saves = Saves([one.path for one in self.exercises])
        self._current = next((i for i, e in enumerate(self.exercises) if not _passed(e)), 0)

    @property
    def _keys(self) -> tuple[str, ...]:
        return KEYS if self.read else NO_KEYS

    @property
    def exercise(self) -> ExerciseFile:
        """The exercise that is shown."""
        return self.exercises[self._current]

    def run(self) -> None:
        """Show cards until the learner quits."""
        if not self.console.is_terminal:
            self._say("".join(NO_KEYS))
        self._begin()
        self._open_file()
        while not self._left:
            self.step()
            time.sleep(TICK)

    def step(self) -> None:
        """Handle pressed keys, saved files and the running check once."""
        for key in self.read() if self.read else "":
            self._press(key)
        for path, kind in self._saves.look():
            self._stop_list()
            self._stop_check_all()
            self._current = self._saves.paths.index(path)
            if kind == "saved":
                self._begin()
            else:
                self._forget(path)
        if self._check is not None:
            self._look_at(self._check)
        for failure in self.editor.failures() if self.editor else ():
            self._tell(failure)
        self._screen.fit()

    # -------------------------------------------------------------- checks

    def _begin(self) -> None:
        """Start a check of the current exercise."""
        one = self.exercise
        self._screen.begin(f"{one.path.name} · {time.strftime('%H:%M:%S')}")
        self._screen.show(Text(f"Checking {one.path}", style="dim"))
        if not one.path.exists():
            self._forget(one.path)
        else:
            self._start(one)

    def _start(self, one: ExerciseFile) -> None:
        """Start the check of an exercise."""
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
            card, status = check.why(), "crashed"
            check.stop()
        else:
            card, status = result.card, result.status
            self._results[check.job.exercise] = result
            progress_file.record_verdict(check.job.exercise, result.status)
        if self._all is not None:
            self._all.passed.append(status == "passed")
            self._check_next(self._all)
        else:
            self._show_result(card, status)

    def _show_result(self, card: str, status: str) -> None:
        """Show a card, and below it the news."""
        self._card(card)
        notes, self.news = self.news, []
        if status == "passed":
            notes = [*notes, self._how_far()]
        if status == "not attempted":
            notes = [*notes, f"Your file: {self.exercise.path}"]
        if notes:
            self._say("\n".join(notes))
        if self._list is not None:
            self._list.states = self._states()
            self._screen.draw()

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
        if left:
            return f"{done} Left: {', '.join(left)}."
        other = " Press l for the exercises of other chapters." if self.read else ""
        return f"{done} You have finished the chapter.{other}"

    # -------------------------------------------------------------- all exercises

    def _check_all(self) -> None:
        """Check all exercises that were begun."""
        begun = self.catalogue.begun()
        if not begun:
            self._say("You have not changed a file yet. Write an answer first, and save it.")
            return
        self._all = CheckAll(begun)
        self._screen.keys = check_all.KEYS
        self._screen.begin(f"Check all · {time.strftime('%H:%M:%S')}")
        self._check_next(self._all)

    def _check_next(self, run: CheckAll) -> None:
        """Start the next check, or show the first exercise that fails."""
        self._screen.show(run.text(self._screen.lines))
        if run.next is not None:
            self._start(run.next)
            return
        self._stop_check_all()
        if run.failing:
            self._go_to(run.failing[0])
        else:
            self._tell_news()

    def _stop_check_all(self) -> None:
        """End the check of all exercises. The next card has its summary below it."""
        if self._all is None:
            return
        self.checker.stop()
        self._check = None
        self.news.append(self._all.summary())
        self._all = None
        self._screen.keys = self._keys

    def _open_list(self) -> None:
        """Show the list of all exercises instead of the card."""
        self._list = ExerciseList(self.catalogue.every(), self._states(), self.exercise.name)
        self._screen.cover(self._list)

    def _stop_list(self) -> None:
        if self._list is not None:
            self._list = None
            self._screen.cover(None)

    def _states(self) -> dict[str, State]:
        return self.catalogue.states(progress_file.verdicts())

    def _go_to(self, one: ExerciseFile) -> None:
        """Check an exercise of any chapter, and open its file."""
        names = [each.name for each in self.exercises]
        if one.name not in names:
            chapter = [each for each in self.catalogue.every() if each.chapter == one.chapter]
            try:
                self.news += self.catalogue.open(chapter)
            except CannotUpdate as error:
                self.news.append(str(error))
                self._tell_news()
                return
            self.exercises, names = chapter, [each.name for each in chapter]
            self._saves = Saves([each.path for each in chapter])
            self.checker.modules = heavy_modules(one.given)
        self._current = names.index(one.name)
        self._begin()
        if self.news and self._check is not None:
            self._say("\n".join(self.news))  # and again below the card
        self._open_file()

    def _open_file(self) -> None:
        """Open the file of the exercise at the answer, if there is an editor."""
        one = self.exercise
        if self.editor is not None and one.path.exists():
            problem = self.editor.open(one.path, one.line)
            if problem:
                self._tell(problem)

    # -------------------------------------------------------------- keys

    def _press(self, key: str) -> None:
        if key == CLOSED:
            self._left = True
        elif self._list is not None:
            self._press_in_list(self._list, key)
        elif self._all is not None:
            self._press_in_check_all(key)
        else:
            self._press_at_card(key)

    def _press_in_list(self, shown: ExerciseList, key: str) -> None:
        chosen = shown.press(key)
        if shown.is_closed:
            self._stop_list()
        else:
            self._screen.draw()
        if chosen is not None:
            self._go_to(chosen)

    def _press_in_check_all(self, key: str) -> None:
        if key == QUIT:
            self._left = True
        elif key == ESCAPE:
            self._stop_check_all()
            self._tell_news()

    def _press_at_card(self, key: str) -> None:
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
            case "o":
                self._open_by_key()
            case "l":
                self._open_list()
            case "a":
                self._check_all()
            case _ if key == QUIT:
                self._left = True
            case _ if key.isprintable():
                self._show_card()

    def _open_by_key(self) -> None:
        one = self.exercise
        if self.editor is None:
            start = f'fxcourse watch {one.chapter.partition("_")[0]} --edit-cmd "{VS_CODE}"'
            self._say(f"No editor is set. Start with: {start}\nYour file: {one.path}")
        else:
            self._say(f"Opening {one.path} at line {one.line}.")
            self._open_file()

    def _next(self) -> None:
        """Go to the next exercise that is not passed, or to the next one if all are passed."""
        count = len(self.exercises)
        order = [(self._current + step) % count for step in range(1, count + 1)]
        following = next((i for i in order if not _passed(self.exercises[i])), order[0])
        self._go_to(self.exercises[following])

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

    def _tell(self, sentence: str) -> None:
        """Show a sentence below the card; if a check is running, below its card."""
        if self._check is None:
            self._say(sentence)
        else:
            self.news.append(sentence)

    def _tell_news(self) -> None:
        self._say("\n".join(self.news))
        self.news = []

    def _card(self, text: str) -> None:
        self._screen.show(styled(text))


def _passed(one: ExerciseFile) -> bool:
    return is_passed(progress_file.verdicts().get(one.name))
