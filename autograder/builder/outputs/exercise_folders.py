"""Checks that the folders of exercises are complete, before anything is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.builder.paths import EXERCISES, SOLUTIONS, is_chapter, shown
from autograder.builder.problems import BuildRefused, Problem

_PARTS = {
    "__init__.py": ("", "one line, a docstring that says what the exercise is"),
    "cases.py": ("EXERCISE", "the card, hints and cases"),
    "redraws.py": ("REDRAWS", "the hidden cases"),
    "key.py": ("KEY", "the rules that a result must keep, and the oracle"),
}
"""The files of an exercise, the name that each must define, and an explanation of it."""

_OPTIONAL = {"redraws.py"}
"""Files that an exercise may lack."""


def examine(
    chapters: Sequence[str], *, folder: Path = EXERCISES, solutions: Path = SOLUTIONS
) -> list[BuildRefused]:
    """Find missing parts in the folders of chapters such as ``03_manipulation``.

    Args:
        chapters: the chapters; if empty, all that have exercises.
        folder: contains the chapters' folders.
        solutions: contains their sources.
    """
    homes = {home.name.removeprefix("ch"): home for home in sorted(folder.glob("ch*"))}
    found = {name: home for name, home in homes.items() if is_chapter(name)}
    refusals: list[BuildRefused] = []
    for chapter in chapters or found:
        source = solutions / f"{chapter}.py"
        exercises = _exercises(found[chapter]) if chapter in found else []
        if exercises and not source.is_file():
            refusals.append(_no_source(source, found[chapter]))
        if exercises and not (found[chapter] / "__init__.py").is_file():
            refusals.append(_missing(found[chapter], "__init__.py", "The chapter's folder"))
        for home in exercises:
            refusals += _examine(home)
    return refusals


def _exercises(home: Path) -> list[Path]:
    """The folders of a chapter's exercises, except those that contain only Python's cache."""
    return sorted(path for path in home.iterdir() if path.is_dir() and any(path.glob("*.py")))


def _examine(home: Path) -> Iterator[BuildRefused]:
    for file in _PARTS:
        if not (home / file).is_file():
            if file not in _OPTIONAL:
                yield _missing(home, file, f"Exercise '{home.name}'")
        elif problem := _undefined(home / file):
            yield BuildRefused(home / file, [problem])


def _missing(home: Path, file: str, whose: str) -> BuildRefused:
    name, what = _PARTS[file]
    advice = f"Write it, with {name}: {what}." if name else f"Write it: {what}."
    return BuildRefused(home / file, [Problem(1, f"{whose} has no {file}.", advice)])


def _no_source(source: Path, home: Path) -> BuildRefused:
    message = f"{shown(home)} has exercises, and their chapter is not there."
    advice = "Write it, beginning with a '# %% [markdown]' cell that holds its title."
    return BuildRefused(source, [Problem(1, message, advice)])


def _undefined(path: Path) -> Problem | None:
    name, what = _PARTS[path.name]
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except SyntaxError as error:
        return Problem(error.lineno or 1, f"This is no Python: {error.msg}.", "Correct the line.")
    if not name or name in set(_names(body)):
        return None
    return Problem(1, f"{path.name} does not define {name}.", f"Define {name}: {what}.")


def _names(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The names that the top-level statements of a module define."""
    for line in body:
        match line:
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name for alias in names)
