"""``fxcourse doctor --against``: try the course in another Python environment."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from autograder.cli.terminal import Progress
from autograder.version_watch import page
from autograder.version_watch.environment import (
    CannotWatch,
    Environment,
    environment_at,
    run_part,
)
from autograder.version_watch.parts import PARTS, Result

SAME, DIFFERENT, UNUSABLE = 0, 1, 2
"""The exit statuses: all is as the course says, something is not, or nothing could be tried."""


def chosen(words: str) -> list[str]:
    """The parts that a command line names; all of them if it names none.

    Raises:
        CannotWatch: there is no part of that name.
    """
    names = [word.strip() for word in words.split(",") if word.strip()]
    if unknown := [name for name in names if name not in PARTS]:
        raise CannotWatch(f"There is no part {unknown[0]!r}. Parts: {', '.join(PARTS)}.")
    return [part for part in PARTS if part in names or not names]


def run(place: Path, words: str, out: Console) -> int:
    """Try parts of the course in an environment, print the page, and return the exit status.

    Raises:
        CannotWatch: nothing can be tried.
    """
    parts = chosen(words)
    environment = environment_at(place, parts)
    _print(out, page.head(environment))
    found: dict[str, list[Result]] = {}
    for part in parts:
        found[part] = []
        try:
            _try_part(environment, part, found[part])
        finally:  # if this is stopped, the page has what was tried
            _print(out, page.section(part, found[part]))
    _print(out, page.end(environment, found))
    return DIFFERENT if any(each.differs for part in found.values() for each in part) else SAME


def _try_part(environment: Environment, part: str, found: list[Result]) -> None:
    """Run a part, and add each result to those that were found."""
    total = 0
    with Progress(page.TITLES[part]) as progress:
        for result in run_part(environment, part):
            if isinstance(result, int):
                total = result
            else:
                found.append(result)
            progress.show(len(found), max(total, len(found)), found[-1].name if found else "")


def _print(out: Console, text: str) -> None:
    out.print(text, markup=False)
