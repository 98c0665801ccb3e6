"""Bounds what a cell can print, in the student's kernel, before it goes anywhere.

The text of this file is run in the kernel by itself: it imports nothing of the course.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def bound_printing(limit: int) -> None:
    """Let each cell print so many characters; what it prints after that is dropped."""
    from IPython import get_ipython

    def renew(*_: object) -> None:
        # IPython may replace a stream's `write` around each cell, so ours goes on top each time.
        left = [limit]
        for stream in (sys.stdout, sys.stderr):
            write = getattr(stream.write, "unbounded", stream.write)
            stream.write = bounded(write, left, limit)

    get_ipython().events.register("pre_execute", renew)


def bounded(write: Callable[[str], Any], left: list[int], limit: int) -> Callable[[str], Any]:
    """A stream's `write` that stops when the characters that are left are used up."""

    def write_some(text: str) -> Any:
        if not isinstance(text, str):
            return write(text)  # which raises
        if left[0] < 0:
            return len(text)
        left[0] -= len(text)
        if left[0] >= 0:
            return write(text)
        write(text[: left[0]] + f"\n… of what this cell printed, {limit:,} characters are kept\n")
        return len(text)

    write_some.unbounded = write
    return write_some


def as_source(limit: int) -> str:
    """Code that bounds printing when a kernel runs it, and leaves no name behind."""
    text = Path(__file__).read_text(encoding="utf-8") + f"\nbound_printing({limit})\n"
    return f"exec(compile({text!r}, 'flood', 'exec'), {{'__name__': 'flood'}})"
