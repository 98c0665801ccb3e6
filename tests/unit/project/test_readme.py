"""README and the documentation state correct numbers, commands and options of the course."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from autograder.builder.paths import COURSE, ROOT
from autograder.cli import classroom, main
from hunts.known import BUGS

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_FENCED = re.compile(r"^ *```(?:sh|shell|bash|console|text)?\n(.*?)^ *```", re.M | re.S)
_INLINE = re.compile(r"`(fxcourse [^`]+)`")

MOST_LINES = 120


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES


def test_the_numbers_of_readme_are_counted() -> None:
    exercises = list((ROOT / "autograder" / "exercises").glob("ch*/*/cases.py"))
    notebooks = list(COURSE.glob("*.ipynb"))
    assert f"{len(notebooks)} notebooks, {len(exercises)} exercises" in README
    assert f"{len(BUGS)} bugs of PyTorch's own passes" in README


def test_what_the_hunt_prints_is_what_the_tutorial_prints() -> None:
    (line,) = re.findall(r"^✗ .*$", README, re.M)
    assert line in (ROOT / "docs/engineers/first-hunt.md").read_text(encoding="utf-8")


def commands_in(text: str) -> Iterator[list[str]]:
    """The words of each command line `fxcourse ...` on a page."""
    lines = [line for block in _FENCED.findall(text) for line in block.splitlines()]
    for line in [*lines, *_INLINE.findall(text)]:
        line = line.strip().removeprefix("$ ")
        if line.startswith("fxcourse "):
            yield shlex.split(line.partition(" #")[0])[1:]


def fault_of(words: list[str]) -> str:
    """Name the command or option of a command line that does not exist; else return ``""``."""
    command, path = get_command(main.app), ["fxcourse"]
    while words and hasattr(command, "commands"):
        if words[0].startswith("-"):
            return "" if words[0] in ("--help", "-h", "--version") else f"no option {words[0]}"
        if words[0].isupper():  # a placeholder for any command
            return ""
        path.append(words[0])
        found = command.commands.get(words[0])
        command = get_command(classroom.app) if words[0] == "classroom" else found
        words = words[1:]
        if command is None:
            return f"no command {' '.join(path)}"
    known = {opt for param in command.params for opt in (*param.opts, *param.secondary_opts)}
    for word in words:
        option = word.partition("=")[0]
        if re.match(r"-{1,2}[a-z]", option) and option not in known | {"--help", "-h"}:
            if not command.context_settings.get("ignore_unknown_options"):
                return f"{' '.join(path)} has no option {option}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_and_options_exist(page: Path) -> None:
    lines = commands_in(page.read_text(encoding="utf-8"))
    assert [fault for words in lines if (fault := fault_of(words))] == []


def test_a_command_that_does_not_exist_is_found() -> None:
    assert fault_of(["grade", "DIR", "--dry-run"]) == ""
    assert fault_of(["grade", "DIR", "--no-such"]) == "fxcourse grade has no option --no-such"
    assert fault_of(["classroom", "mend", "DIR"]) == "no command fxcourse classroom mend"
