"""One screen of a terminal: a heading, a text that fits, a note, and the keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console, ConsoleDimensions
from rich.text import Text

FRAME_LINES = 2
"""Lines for the heading and the cursor. The keys need one or more."""

FEWEST_LINES = 6
"""Minimum number of lines for a text, even if the terminal is too small."""

BETWEEN_KEYS = " · "


class Cover(Protocol):
    """Something that is drawn instead of the text, until it is taken away."""

    @property
    def heading(self) -> str:
        """The first line."""

    @property
    def keys(self) -> Sequence[str]:
        """The keys and their effects."""

    def lines(self, room: int) -> list[Text]:
        """At most `room` lines. Each is cut at the edge of the terminal."""


@dataclass
class Screen:
    """The screen. Lines that do not fit are shown by `more`.

    Without a terminal, such as in a file, texts follow each other and nothing is left out.

    Attributes:
        console: the terminal.
        keys: the keys and their effects, for the last lines.
    """

    console: Console
    keys: Sequence[str]
    _heading: str = ""
    _text: Text = field(default_factory=Text)
    _note: str = ""
    _first: int = 0
    _next: int = 0
    _cover: Cover | None = None
    _size: ConsoleDimensions | None = None

    @property
    def lines(self) -> int:
        """Lines for a text and its note."""
        return self._room(self.keys)

    def begin(self, heading: str) -> None:
        """Begin with a new heading; the next text is below it."""
        self._heading = heading
        if not self.console.is_terminal:
            self.console.rule(heading, style="dim")

    def show(self, text: Text) -> None:
        """Show a text instead of the previous one."""
        self._text, self._note, self._first = text, "", 0
        if self.console.is_terminal:
            self.draw()
        else:
            self.console.print(text)

    def note(self, note: str) -> None:
        """Show a note below the text."""
        self._note, self._first = note, 0
        if self.console.is_terminal:
            self.draw()
        else:
            self.console.print(Text(note, style="dim"))

    def more(self) -> None:
        """Show the lines that did not fit; after that, the beginning again."""
        self._note, self._first = "", self._next
        if self.console.is_terminal:
            self.draw()

    def cover(self, cover: Cover | None) -> None:
        """Draw something else instead of the text, or the text again.

        Texts and notes that come meanwhile are shown afterwards.
        """
        self._cover = cover
        self.draw()

    def fit(self) -> None:
        """Draw again if the terminal has another size now."""
        if self.console.is_terminal and self.console.size != self._size:
            self._first = 0
            self.draw()

    def draw(self) -> None:
        """Draw the screen."""
        self._size = self.console.size
        with self.console:  # written all at once, so that it does not flicker
            self.console.clear()
            if self._cover is None:
                self._draw(self._heading, self._text_lines(), self.keys)
            else:
                cover = self._cover
                self._draw(cover.heading, cover.lines(self._room(cover.keys)), cover.keys)

    def _draw(self, heading: str, lines: Sequence[Text], keys: Sequence[str]) -> None:
        self._print(Text(heading, style="bold"))
        for line in lines:
            self._print(line)
        for row in self._rows(keys):
            self._print(Text(row, style="dim"))

    def _text_lines(self) -> list[Text]:
        """The part of the text that is shown, and the note."""
        notes = self._wrapped(Text(self._note, style="dim"))
        room = max(FEWEST_LINES, self.lines - len(notes))
        lines = self._wrapped(self._text)[self._first :]
        self._next = 0
        if len(lines) > room:
            self._next = self._first + room - 1
            left = len(lines) - (room - 1)
            lines = [*lines[: room - 1], Text(f"… {left} more lines: press m", style="dim")]
        return lines + notes

    def _room(self, keys: Sequence[str]) -> int:
        return max(FEWEST_LINES, self.console.height - FRAME_LINES - len(self._rows(keys)))

    def _rows(self, keys: Sequence[str]) -> list[str]:
        """The keys in as many lines as they need; a line ends between two keys."""
        rows = [keys[0]]
        for key in keys[1:]:
            longer = f"{rows[-1]}{BETWEEN_KEYS}{key}"
            if len(longer) <= self.console.width:
                rows[-1] = longer
            else:
                rows.append(key)
        return rows

    def _wrapped(self, text: Text) -> list[Text]:
        return list(text.wrap(self.console, self.console.width)) if text else []

    def _print(self, line: Text) -> None:
        """Print one line of the screen."""
        self.console.print(line, no_wrap=True, overflow="ellipsis", crop=True, soft_wrap=False)
