"""One screen of a terminal: it fits, it follows a new size, and it is written at once."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from autograder.watch.screen import Screen

KEYS = ("a first key", "b second key", "q quit")


class Writes(io.StringIO):
    """Notes each write."""

    def __init__(self) -> None:
        super().__init__()
        self.each: list[str] = []

    def write(self, text: str) -> int:
        self.each.append(text)
        return super().write(text)


class Cover:
    heading = "covered"
    keys: Sequence[str] = ("x back",)

    def lines(self, room: int) -> list[Text]:
        return [Text(f"row {number} " + "long " * 30) for number in range(room)]


def screen(width: int, height: int) -> tuple[Screen, Writes]:
    out = Writes()
    console = Console(file=out, width=width, height=height, force_terminal=True, color_system=None)
    return Screen(console, KEYS), out


def lines(out: Writes) -> list[str]:
    return [line.rstrip() for line in out.each[-1].rpartition("\x1b[H")[2].split("\n")]


def test_keys_take_as_many_lines_as_they_need() -> None:
    wide, out = screen(60, 20)
    wide.show(Text("text"))
    assert lines(out)[-2:] == ["a first key · b second key · q quit", ""] and wide.lines == 17
    narrow, out = screen(30, 20)
    narrow.show(Text("text"))
    assert lines(out)[-3:] == ["a first key · b second key", "q quit", ""] and narrow.lines == 16


def test_a_cover_is_drawn_until_it_is_taken_away() -> None:
    one, out = screen(40, 12)
    one.begin("heading")
    one.show(Text("before"))
    one.cover(Cover())
    shown = lines(out)
    assert shown[0] == "covered" and shown[-2:] == ["x back", ""]
    assert len(shown) == 12 and max(map(len, shown)) <= 40 and shown[1].endswith("…")
    one.show(Text("meanwhile"))
    one.note("a note")
    assert lines(out) == shown
    one.cover(None)
    assert lines(out)[:3] == ["heading", "meanwhile", "a note"]


def test_a_new_size_is_noticed() -> None:
    one, out = screen(60, 20)
    one.show(Text("word " * 20))
    drawn = len(out.each)
    one.fit()
    assert len(out.each) == drawn
    one.console.width = 30
    one.fit()
    assert len(out.each) == drawn + 1 and max(map(len, lines(out))) <= 30


def test_the_rest_of_a_text_and_its_beginning_again() -> None:
    one, out = screen(40, 12)
    one.show(Text("\n".join(f"line {number}" for number in range(20))))
    assert lines(out)[1:3] == ["line 0", "line 1"]
    assert lines(out)[-3] == "… 12 more lines: press m" and len(lines(out)) == 12
    one.more()
    assert lines(out)[1] == "line 8"
    one.more()
    assert lines(out)[1] == "line 16" and "more lines" not in out.each[-1]
    one.more()
    assert lines(out)[1] == "line 0"
