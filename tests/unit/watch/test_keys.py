"""Keys are read without waiting, and the terminal is restored afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from autograder.watch.keys import keys, letters


@pytest.mark.parametrize(
    ("typed", "said"), [("h", "h"), ("N", "n"), ("\x1b[Hz\x1bOPd\x1b[3~", "zd"), ("", "")]
)
def test_arrows_and_the_like_are_no_letters(typed: str, said: str) -> None:
    assert letters(typed) == said


def test_without_a_terminal_there_are_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        with keys() as read:
            assert read is None


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals on Windows")
def test_keys_of_a_terminal() -> None:
    import pty
    import termios

    code = """
        import fcntl, sys, termios, time
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        from autograder.watch.keys import keys
        try:
            with keys() as read:
                print("ready", flush=True)
                typed = ""
                while "q" not in typed:
                    typed += read()
                    time.sleep(0.01)
                print(f"typed {typed}", flush=True)
                raise KeyError
        except KeyError:
            pass
    """
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    said = b""
    while b"ready" not in said:
        said += os.read(ours, 1024)
    assert not termios.tcgetattr(theirs)[3] & termios.ICANON
    os.write(ours, b"hNq")
    while b"typed hnq" not in said:
        said += os.read(ours, 1024)
    assert child.wait(20) == 0
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)
