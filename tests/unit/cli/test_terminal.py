"""Output of the commands: characters that a terminal lacks, and progress of long work."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from autograder.cards.display import show
from autograder.cli import terminal
from autograder.cli.terminal import Progress, duration, time_left
from autograder.environment import characters
from autograder.environment.characters import accept_every_character
from autograder.environment.child import python_command


class Clock:
    """A clock that the test advances."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Capture the commands' standard error, as if it were a pipe."""
    written = io.StringIO()
    monkeypatch.setattr(terminal, "err", Console(file=written, soft_wrap=True, highlight=False))
    return written


@pytest.mark.parametrize(
    ("elapsed", "last", "new", "left", "text"),
    [
        (7, 0, 0, 300, "0:07 so far"),
        (90, 0, 0, 300, "1:30 so far"),
        (60, 60, 2, 4, "about 2:00 left"),
        (90, 60, 2, 4, "about 1:30 left"),
        (999, 60, 2, 4, "about 0:00 left"),
        (60, 60, 1, 299, "about 4:59:00 left"),
    ],
)
def test_the_estimate_is_for_the_rest_of_the_work(
    elapsed: float, last: float, new: int, left: int, text: str
) -> None:
    assert time_left(elapsed, last, new, left) == text


def test_durations() -> None:
    assert [duration(s) for s in (0.2, 59.7, 3723)] == ["0:00", "1:00", "1:02:03"]


def test_a_pipe_gets_a_line_now_and_then(lines: io.StringIO) -> None:
    clock = Clock()
    with Progress("Executing", clock=clock) as progress:
        for _ in progress.over([Path("00_start.py"), Path("01_tracing.py"), Path("02_nodes.py")]):
            clock.now += 6
    assert lines.getvalue() == (
        "Executing: 0 of 3, now 00_start\nExecuting: 2 of 3, about 0:06 left, now 02_nodes\n"
    )


def test_steps_of_an_earlier_run_take_no_time(lines: io.StringIO) -> None:
    clock = Clock()
    progress = Progress("Grading", clock=clock)
    progress.show(0, 10)
    progress.show(5, 10, took_time=False)
    assert progress.per_minute is None
    clock.now += 30
    progress.show(6, 10)
    assert progress.per_minute == 2
    assert lines.getvalue().splitlines()[-1] == "Grading: 6 of 10, about 2:00 left"


def test_a_terminal_gets_a_bar_that_goes_away(
    monkeypatch: pytest.MonkeyPatch, lines: io.StringIO
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(terminal, "_is_terminal", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress("Executing") as progress:
        for _ in progress.over(["one", "two"]):
            with progress.paused():
                sys.stderr.write("a line of its own\n")
    drawn = sys.stderr.getvalue()
    assert "Executing" in drawn and "0/2" in drawn and "now one" in drawn
    assert drawn.count("a line of its own\n") == 2
    assert lines.getvalue() == ""


@pytest.mark.parametrize("console", [terminal.out, terminal.err])
def test_names_with_colons_are_printed_as_they_are(console: Console) -> None:
    with console.capture() as written:
        console.print("b.py:boom: wrong", markup=False)
        console.print("b.py:fire:")
    assert written.get() == "b.py:boom: wrong\nb.py:fire:\n"


# ------------------------------------------------------------------ characters


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("ascii", "OK 3 - 2, M?ller ... ?"),
        ("cp1252", "OK 3 - 2, Müller … ?"),
        ("utf-8", "✓ 3 − 2, Müller … ?"),
    ],
)
def test_characters_that_an_encoding_lacks_are_replaced(encoding: str, written: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")
    accept_every_character(stream, object())
    stream.write("✓ 3 − 2, Müller … \udcff")
    stream.flush()
    assert stream.buffer.getvalue().decode(encoding) == written


def test_our_own_marks_are_spelled_in_ascii() -> None:
    assert all(text.isascii() for text in characters.SPELLED.values())


def test_a_card_in_a_plain_script_survives_any_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
    monkeypatch.setattr(sys, "stdout", stream)
    show("✓ add_to_mul · passed")
    stream.flush()
    assert stream.buffer.getvalue() == b"OK add_to_mul | passed\n"


SIGNS = "\x00\x07\x1b\x7f\x9b\u202e\u2066\ufeff"


@pytest.mark.parametrize("shown", [str, Text, lambda text: Panel(text), lambda text: _table(text)])
def test_no_control_character_of_others_is_printed(shown: Callable[[str], object]) -> None:
    stream = io.StringIO()
    console = terminal.VisibleConsole(file=stream, width=80)
    console.print(shown(f"a{SIGNS}b\n\tc"))
    printed = stream.getvalue()
    assert not set(printed) & set(SIGNS)
    assert "a\N{REPLACEMENT CHARACTER}b" in printed and ("c" in printed or "…" in printed)


def _table(text: str) -> Table:
    table = Table("name")
    table.add_row(text)
    return table


def test_of_many_lines_of_one_kind_twenty_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "out", terminal.VisibleConsole(file=stream, width=80))
    terminal.print_some([f"line {number}" for number in range(5_000)])
    lines = stream.getvalue().splitlines()
    assert len(lines) == 21 and lines[-1] == "  … and 4,980 more like these."


def test_there_is_one_console() -> None:
    """One console makes sure that every command removes unprintable characters."""
    home = Path(terminal.__file__).parent
    for path in home.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path != Path(terminal.__file__):
            assert not re.search(r"\bConsole\(|\brich[.]print\b", text), path


def test_a_child_has_no_file_of_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    done = subprocess.run(python_command("-c", "import json"), cwd=tmp_path)
    assert done.returncode == 0
    home = Path(terminal.__file__).parent
    for path in home.rglob("*.py"):
        for start in re.findall(r"\[\s*sys[.]executable,\s*(\S+)", path.read_text("utf-8")):
            assert start == '"-P",', path
