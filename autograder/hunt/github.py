"""Annotations and summaries for GitHub Actions.

The form is that of GitHub's workflow commands: ``::error file=...,line=...,title=...::message``.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST = 10
"""GitHub shows at most this many errors of one step."""


def data(text: str) -> str:
    """Escape the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def value(text: str) -> str:
    """Escape a property of a workflow command."""
    return data(text).replace(":", "%3A").replace(",", "%2C")


def error(title: str, message: str, place: tuple[str, int] | None = None) -> str:
    """One annotation, as a line.

    Args:
        title: its heading.
        message: its text, which may have several lines.
        place: the file, seen from the root of the repository, and the line.
    """
    where = f"file={value(place[0])},line={place[1]}," if place else ""
    return f"::error {where}title={value(title)}::{data(message)}"


def place_of(function: Callable[..., Any]) -> tuple[str, int] | None:
    """The file and line where a function is defined; ``None`` if it has none.

    A path below the root of the repository is seen from there.
    """
    while isinstance(function, functools.partial):
        function = function.func
    found: Any = inspect.unwrap(function)
    if not inspect.isroutine(found):
        found = getattr(type(found), "__call__", found)  # noqa: B004
    code = getattr(found, "__code__", None)
    if code is None:
        return None
    path = Path(code.co_filename).resolve()
    root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    inside = path.relative_to(root) if path.is_relative_to(root) else path
    return inside.as_posix(), code.co_firstlineno


class Annotations:
    """The annotations of one command: the first `MOST` of them are printed.

    Args:
        write: prints a line.
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._count = 0

    def add(self, title: str, message: str, place: tuple[str, int] | None = None) -> None:
        """Print an annotation, unless there were enough."""
        self._count += 1
        if self._count <= MOST:
            self._write(error(title, message, place))

    @property
    def omitted(self) -> int:
        """The number of annotations that were not printed."""
        return max(0, self._count - MOST)


def add_to_summary(text: str) -> None:
    """Append a text, in a block of code, to the summary of the job, if there is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    longest = max(map(len, re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"{fence}text\n{text}\n{fence}\n\n")
