"""Error messages that the course explains, each with the section that explains it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nbconvert.filters import strip_ansi
from nbformat.notebooknode import NotebookNode

from autograder.book.headings import Heading
from autograder.builder.paths import ROOT
from autograder.environment.child import python_command

_EXPECTED = re.compile(r"^(?P<type>\w+): (?P<message>.*?)  \(as expected\)$", re.S)
_LENGTH = 180


@dataclass(frozen=True)
class Raised:
    """An error, with the section that explains it.

    Attributes:
        type: the name of the exception.
        message: the first line of its message.
        label: the label of the section in the book.
        place: the name of the section for readers.
    """

    type: str
    message: str
    label: str
    place: str


def of_chapter(notebook: NotebookNode, found: Sequence[Heading]) -> Iterator[Raised]:
    """The errors that the cells of an executed chapter show."""
    for index, cell in enumerate(notebook.cells):
        for name, message in _shown(cell.get("outputs", ())):
            above = [each for each in found if each.cell < index]
            if above:
                yield Raised(name, first_line(message), above[-1].label, above[-1].place)


def of_questions() -> dict[int, list[tuple[str, str]]]:
    """Run each question of ``tests/questions``; return the errors it raises, by its number.

    Raises:
        RuntimeError: a question could not be run; the tests say more.
    """
    command = python_command("-m", "tests.questions", "--messages")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:])} failed:\n{done.stderr[-2000:]}")
    rows: dict[str, list[tuple[str, str]]] = json.loads(done.stdout.splitlines()[-1])
    return {int(number): [(kind, text) for kind, text in each] for number, each in rows.items()}


def first_line(message: str) -> str:
    """The first line of a message, for which people search, without addresses and folders."""
    lines = [line.strip() for line in strip_ansi(message).splitlines() if line.strip()]
    line = re.sub(r"0x[0-9a-f]+", "0x…", lines[0]) if lines else ""
    line = re.sub(r"\"?/\S*/(\w+\.py)\"?", r"\1", line)
    return line if len(line) <= _LENGTH else line[: _LENGTH - 1] + "…"


def _shown(outputs: Iterable[NotebookNode]) -> Iterator[tuple[str, str]]:
    for output in outputs:
        if output.output_type == "error":
            yield output.ename, output.evalue
        found = _EXPECTED.match(output.get("data", {}).get("text/plain", ""))
        if found:
            yield found["type"], found["message"]
