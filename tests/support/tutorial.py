"""Runs the shell commands of a tutorial, and compares their output with the page.

A block of ``sh`` contains commands; the block of ``text`` after it contains lines that they print.
In such a line ``...`` matches anything, and numbers of seconds and rates are not compared.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.builder.paths import ROOT

_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TIME = re.compile(r"\b\d[\d.]* (s\b|a minute\b)")
_FRAME = re.compile(r"[\u2500-\u257f|]")
"""Characters that draw the lines of a table."""


@dataclass(frozen=True)
class Step:
    """Commands of a tutorial, and lines that they print."""

    commands: tuple[str, ...]
    shows: tuple[str, ...]


def steps_of(page: Path) -> Iterator[Step]:
    """The steps of a tutorial, in order."""
    commands: list[str] = []
    for kind, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "sh" and commands:
            yield Step(tuple(commands), ())
            commands = []
        if kind == "sh":
            commands = text.splitlines()
        else:
            yield Step(tuple(commands), tuple(filter(str.strip, text.splitlines())))
            commands = []
    if commands:
        yield Step(tuple(commands), ())


class Reader:
    """A simulated reader with a terminal, starting in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.printed = folder, ""

    def do(self, step: Step) -> None:
        """Run the commands of a step, and find the lines that the page shows."""
        if step.commands:
            self.printed = "".join(map(self._run, step.commands))
        printed = "\n".join(map(_normal, self.printed.splitlines()))
        for line in step.shows:
            parts = map(re.escape, _normal(line).split("..."))
            assert re.search(rf"^{'.*'.join(parts)}$", printed, re.MULTILINE), (
                f"not printed: {line}\n{self.printed}"
            )

    def _run(self, command: str) -> str:
        if command.startswith("cd "):
            self.folder = (self.folder / command.removeprefix("cd ")).resolve()
            return ""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120"},
            text=True,
            encoding="utf-8",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}"
        return done.stdout


def _normal(line: str) -> str:
    """A line without times, table frames, and blanks at its ends."""
    return " ".join(_FRAME.sub(" ", _TIME.sub(r"N \1", line)).split())
