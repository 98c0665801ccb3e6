"""One screen of a terminal: a heading, a text that fits, a note, and the keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text

FRAME_LINES = 3
"""Lines for the heading, the keys, and the cursor."""

FEWEST_LINES = 6
"""Minimum number of lines for a text, even if the terminal is too small."""


@dataclass
class Screen:
    """The screen. Lines that do not fit are shown by `more`.

    Without a terminal, such as in a file, texts follow each other and nothing is left out.

    Attributes:
        console: the terminal.
        keys: the last line.
    """

    console: Console
    keys: str
    _heading: str = ""
    _text: Text = field(default_factory=Text)
    _rest: Sequence[Text] = ()

    @property
    def lines(self) -> int:
        """Lines for a text and its note."""
        return max(FEWEST_LINES, self.console.height - FRAME_LINES)

    def begin(self, heading: str) -> None:
        """Begin with a new heading; the next text is below it."""
        self._heading = heading
        if not self.console.is_terminal:
            self.console.rule(heading, style="dim")

    def show(self, text: Text) -> None:
        """Show a text instead of the previous one."""
        self._text = text
        if self.console.is_terminal:
            self._draw(self._wrapped(text), "")
        else:
            self.console.print(text)

    def note(self, note: str) -> None:
        """Show a note below the text."""
        if self.console.is_terminal:
            self._draw(self._wrapped(self._text), note)
        else:
            self.console.print(Text(note, style="dim"))

    def more(self) -> None:
        """Show the lines that did not fit; after that, the beginning again."""
        if self.console.is_terminal:
            self._draw(self._rest or self._wrapped(self._text), "")

    def _wrapped(self, text: Text) -> list[Text]:
        return list(text.wrap(self.console, self.console.width)) if text else []

    def _draw(self, lines: Sequence[Text], note: str) -> None:
        notes = self._wrapped(Text(note, style="dim"))
        room = max(FEWEST_LINES, self.lines - len(notes))
        self._rest = ()
        if len(lines) > room:
            lines, self._rest = lines[: room - 1], lines[room - 1 :]
        self.console.clear()
        self._print(Text(self._heading, style="bold"))
        for line in lines:
            self._print(line)
        if self._rest:
            self._print(Text(f"… {len(self._rest)} more lines: press m", style="dim"))
        for line in notes:
            self._print(line)
        self._print(Text(self.keys, style="dim"))

    def _print(self, line: Text) -> None:
        """Print one line of the screen."""
        self.console.print(line, no_wrap=True, overflow="ellipsis", crop=True, soft_wrap=False)
