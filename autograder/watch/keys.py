"""Reads keys pressed in a terminal without waiting: on Linux, macOS and Windows."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator

Read = Callable[[], str]
"""The keys pressed since the last call, one character each; ``""`` if there are none.

Letters are in lower case. The other keys are the constants below; Ctrl-P is the same as `UP`,
Ctrl-N as `DOWN`, and Ctrl-D as `CLOSED`, as in a shell.
"""

UP, DOWN = "\x10", "\x0e"
ENTER, ESCAPE, BACKSPACE = "\r", "\x1b", "\x7f"
QUIT = "q"
CLOSED = "\x04"
"""The terminal was closed."""

_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O.|[^\x1b])?", re.S)
_SAME = {"\n": ENTER, "\b": BACKSPACE}
_ARROWS = {"A": UP, "B": DOWN}


@contextlib.contextmanager
def keys() -> Iterator[Read | None]:
    """Read keys as they are pressed; yields ``None`` without a terminal.

    Afterwards the terminal has its earlier settings, even after an exception.
    """
    if not _is_terminal():
        yield None
    elif sys.platform == "win32":
        yield _read_windows
    else:
        with _unbuffered(sys.stdin.fileno()) as read:
            yield read


def keys_in(typed: str) -> str:
    """The keys in the typed text. Sequences of other keys than arrows are left out."""
    typed = "".join(_SAME.get(character, character) for character in typed)
    return _SEQUENCE.sub(_key_of, typed).lower()


def _key_of(sequence: re.Match[str]) -> str:
    if sequence[0] == ESCAPE:
        return ESCAPE
    is_arrow = re.fullmatch(r"\[[AB]|O[AB]", sequence[1])
    return _ARROWS[sequence[1][-1]] if is_arrow else ""


def _is_terminal() -> bool:
    try:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return False
        if sys.platform == "win32":
            return True
        # In the background a process that reads from its terminal is stopped.
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (AttributeError, OSError, ValueError):
        return False


if sys.platform == "win32":
    import msvcrt

    def _read_windows() -> str:
        typed = ""
        while msvcrt.kbhit():
            key = msvcrt.getwch()
            if key in "\x00\xe0":  # the first half of an arrow or the like
                typed += {"H": UP, "P": DOWN}.get(msvcrt.getwch(), "")
            elif key == ESCAPE:
                typed += ESCAPE
            else:
                typed += CLOSED if key == "\x03" else keys_in(key)
        return typed

else:
    import select
    import signal
    import termios
    import tty
    from types import FrameType

    @contextlib.contextmanager
    def _unbuffered(terminal: int) -> Iterator[Read]:
        before = termios.tcgetattr(terminal)

        def again(_: int, frame: FrameType | None) -> None:
            tty.setcbreak(terminal)  # after Ctrl-Z and `fg`, the shell has reset the terminal

        tty.setcbreak(terminal)  # Ctrl-C and Ctrl-Z still work
        resumed = signal.signal(signal.SIGCONT, again)
        gone = False
        half = ""

        def read() -> str:
            nonlocal gone, half
            begun, half = half, ""
            if gone or not select.select([terminal], [], [], 0)[0]:
                return keys_in(begun)
            try:
                typed = os.read(terminal, 1024)
            except OSError:
                typed = b""
            gone = not typed
            if gone:
                return CLOSED
            text = begun + typed.decode(errors="ignore")
            if text.endswith(ESCAPE):  # Esc, or the first character of an arrow
                text, half = text.removesuffix(ESCAPE), ESCAPE
            return keys_in(text)

        try:
            yield read
        finally:
            signal.signal(signal.SIGCONT, resumed)
            with contextlib.suppress(termios.error):
                termios.tcsetattr(terminal, termios.TCSADRAIN, before)
