"""Reads keys pressed in a terminal without waiting: on Linux, macOS and Windows."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator

Read = Callable[[], str]
"""The keys pressed since the last call, in lower case; ``""`` if there are none."""

QUIT = "q"
_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O.|.)?", re.S)


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


def letters(typed: str) -> str:
    """The letters in the typed text. The sequences for arrows and other such keys have none."""
    return _SEQUENCE.sub("", typed).lower()


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
                msvcrt.getwch()
            else:
                typed += QUIT if key == "\x03" else key
        return letters(typed)

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

        def read() -> str:
            nonlocal gone
            if gone or not select.select([terminal], [], [], 0)[0]:
                return ""
            try:
                typed = os.read(terminal, 1024)
            except OSError:
                typed = b""
            gone = not typed  # the terminal was closed
            return QUIT if gone else letters(typed.decode(errors="ignore"))

        try:
            yield read
        finally:
            signal.signal(signal.SIGCONT, resumed)
            with contextlib.suppress(termios.error):
                termios.tcsetattr(terminal, termios.TCSADRAIN, before)
