"""Keys are read without waiting, and the terminal is restored afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from autograder.watch.keys import BACKSPACE, CLOSED, DOWN, ENTER, ESCAPE, UP, keys, keys_in


@pytest.mark.parametrize(
    ("typed", "pressed"),
    [
        ("h", "h"), ("N", "n"), ("\x1b[Hz\x1bOPd\x1b[3~", "zd"), ("", ""),
        ("\x1b[A\x1b[B\x1bOA\x1bOB", UP + DOWN + UP + DOWN), ("\x1b[1;5A", ""),
        ("\x1b", ESCAPE), ("\x1b\x1b[A", ESCAPE + UP), ("\r\n", ENTER + ENTER),
        ("\x7f\b", BACKSPACE + BACKSPACE),
    ],
)  # fmt: skip
def test_keys_and_sequences(typed: str, pressed: str) -> None:
    assert keys_in(typed) == pressed


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
                while True:
                    typed = read()
                    if typed:
                        print(f"typed {typed!r}", flush=True)
                    if "q" in typed:
                        raise KeyError
                    time.sleep(0.01)
        except KeyError:
            pass
    """
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip

    def until(words: str) -> None:
        said = b""
        while words.encode() not in said:
            said += os.read(ours, 1024)

    until("ready")
    assert not termios.tcgetattr(theirs)[3] & termios.ICANON
    # Esc is reported when no rest of a sequence has followed it.
    for typed, pressed in ((b"hN", "hn"), (b"\x1b", ESCAPE), (b"\x1b[A", UP), (b"q", "q")):
        os.write(ours, typed)
        until(f"typed {pressed!r}")
    assert child.wait(20) == 0
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals on Windows")
def test_half_a_sequence_waits_for_its_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    import pty

    from autograder.watch.keys import _unbuffered

    ours, theirs = pty.openpty()
    with _unbuffered(theirs) as read:
        for typed, pressed in ((b"a\x1b", "a"), (b"[B", DOWN), (b"\x1b", ""), (b"", ESCAPE)):
            os.write(ours, typed)
            assert read() == pressed
        os.close(ours)
        assert read() == CLOSED and read() == ""
    os.close(theirs)
