"""A list of all exercises with their states, which can be searched."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from autograder.watch.catalogue import State
from autograder.watch.files import ExerciseFile
from autograder.watch.keys import BACKSPACE, DOWN, ENTER, ESCAPE, QUIT, UP

KEYS = ("↑↓ select", "Enter open", "/ search", "f filter", "Esc back")
SEARCH_KEYS = ("type to search", "↑↓ select", "Enter open", "Esc end search")

_SIGNS: dict[State, tuple[str, str]] = {
    "passed": ("✓", "green"), "not passed": ("✗", "red"), "not begun": ("○", "dim"),
}  # fmt: skip
_STATE_WIDTH = max(map(len, _SIGNS))
_HEADING = re.compile(r"\w+ (\S+) `\w+` · ([^·]+?(?: · ★+)?)(?: ·|$)")
"""The beginning of a heading, such as ``Exercise 3.1 `retarget` · Call another function · ★``."""


@dataclass
class ExerciseList:
    """The list, drawn instead of a card.

    Attributes:
        exercises: all of them, in order.
        states: the state of each exercise.
        current: the name of the selected exercise.
        is_closed: whether the learner has left the list.
    """

    exercises: Sequence[ExerciseFile]
    states: Mapping[str, State]
    current: str
    is_closed: bool = False
    _pending_only: bool = False
    _query: str = ""
    _is_typing: bool = False

    def press(self, key: str) -> ExerciseFile | None:
        """Handle a key; returns the exercise that the learner opens with it."""
        match key:
            case _ if key == ENTER:
                return self._open()
            case _ if key in (UP, DOWN):
                self._move(-1 if key == UP else 1)
            case _ if self._is_typing:
                self._type(key)
            case "/":
                self._is_typing = True
            case "f":
                self._pending_only = not self._pending_only
            case "j" | "k":
                self._move(-1 if key == "k" else 1)
            case _ if key in (ESCAPE, QUIT, "l"):
                self.is_closed = True
        return None

    def _open(self) -> ExerciseFile | None:
        shown = self._shown()
        self.is_closed = bool(shown)
        return shown[self._place(shown)] if shown else None

    def _move(self, steps: int) -> None:
        shown = self._shown()
        if shown:
            place = self._place(shown) + steps
            self.current = shown[min(max(place, 0), len(shown) - 1)].name

    def _type(self, key: str) -> None:
        if key == ESCAPE:
            self._query, self._is_typing = "", False
        elif key == BACKSPACE:
            self._query = self._query[:-1]
        elif key.isprintable():
            self._query += key

    def _shown(self) -> list[ExerciseFile]:
        """The exercises that the filter and the search leave."""
        words = self._query.split()
        return [
            one
            for one in self.exercises
            if not (self._pending_only and self.states[one.name] == "passed")
            and all(word in f"{one.name} {one.heading}".lower() for word in words)
        ]

    def _place(self, shown: Sequence[ExerciseFile]) -> int:
        """The place of the selected exercise; the first if it is not shown."""
        return next((i for i, one in enumerate(shown) if one.name == self.current), 0)

    # -------------------------------------------------------------- drawing

    @property
    def heading(self) -> str:
        """The number of passed exercises, and the filter."""
        passed = [*self.states.values()].count("passed")
        which = "not passed yet" if self._pending_only else "all"
        return f"Exercises: {which} · {passed} of {len(self.exercises)} passed"

    @property
    def keys(self) -> Sequence[str]:
        """The keys and their effects."""
        return SEARCH_KEYS if self._is_typing else KEYS

    def lines(self, room: int) -> list[Text]:
        """The exercises around the selected one, and the search."""
        shown = self._shown()
        room -= 1  # for the search, so that the rows stay in place
        place = self._place(shown)
        top = max(0, min(place - room // 2, len(shown) - room))
        width = max((len(one.name) for one in self.exercises), default=0)
        rows = [
            _row(one, self.states[one.name], width, is_selected=i == place)
            for i, one in enumerate(shown[top : top + room], top)
        ]
        return [*(rows or [Text("No exercise is left here.", style="dim")]), self._search()]

    def _search(self) -> Text:
        return Text(f"Search: {self._query}_" if self._is_typing else "")


def _row(one: ExerciseFile, state: State, width: int, *, is_selected: bool) -> Text:
    """An exercise in one line. The state is in words too, for everybody who sees no colors."""
    sign, color = _SIGNS[state]
    found = _HEADING.match(one.heading)
    number, title = found.groups() if found else ("", one.heading)
    row = Text(f"{'>' if is_selected else ' '} {sign} {state:<{_STATE_WIDTH}}", style=color)
    row.append(f"  {number:>5} {one.name:<{width}}", style="default not dim")
    row.append(f"  {title}", style="dim")
    if is_selected:
        row.stylize("bold reverse")
    return row
