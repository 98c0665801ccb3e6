"""For which of these nodes does a line run?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from autograder.asking.code import Place
from autograder.asking.question import Choice, Question, arranged
from autograder.asking.subject import Subject

_WRONG = 3
_NO_CALL = ("placeholder", "output", "get_attr")


@dataclass(frozen=True)
class _Turns:
    """A part of a function that runs once for each node.

    Attributes:
        name: the variable that holds the node.
        first: the first line of the part.
        lines: the other lines.
    """

    name: str
    first: int
    lines: tuple[int, ...]


def questions(subject: Subject, random: Random) -> Iterator[Question]:
    """Ask about a line that runs for some nodes of the model, and not for others."""
    pairs = [(turns, line) for turns in _turns(subject) for line in turns.lines]
    pairs.sort(key=lambda _: random.random())
    for turns, line in pairs:
        every = _nodes(subject, turns.name, turns.first)
        runs = _nodes(subject, turns.name, line)
        skips = [name for name in every if name not in runs]
        known = subject.model.opcodes
        runs, skips = ([n for n in names if n in known] for names in (runs, skips))
        for is_run, one, many in ((True, runs, skips), (False, skips, runs)):
            if len(many) < _WRONG or not one:
                continue
            right = random.choice(sorted(one))
            wrong = random.sample(sorted(many), _WRONG)
            if _is_trivial(known, right, wrong):
                continue
            place = subject.code.places[line]
            yield _question(subject, random, turns, place, is_run, right, wrong)
            break


def _question(
    subject: Subject, random: Random, turns: _Turns, place: Place, is_run: bool,
    right: str, wrong: list[str],
) -> Question:  # fmt: skip
    no = "" if is_run else " not"
    text = (
        f"You call `{subject.model.call}`. {place.shown} For which of these nodes, held by "
        f"`{turns.name}`, does it{no} run?"
    )
    runs, skips = "The line runs for this node.", "The line does not run for this node."
    yes, other = (runs, skips) if is_run else (skips, runs)
    options = [Choice(f"`{name}`", other) for name in wrong]
    choices, at = arranged(Choice(f"`{right}`", yes), options, random)
    recipe = {
        "line": place.line, "first": turns.first, "name": turns.name, "is_run": is_run,
        "options": sorted([right, *wrong]), "right": [right],
    }  # fmt: skip
    model = subject.model
    return Question("which", text, model.shown, model.graph, choices, at, recipe)


def _is_trivial(opcodes: dict[str, str], right: str, wrong: list[str]) -> bool:
    """Whether the right node is the only one that is not a call, or the only call."""
    kinds = [opcodes[name] in _NO_CALL for name in wrong]
    mine = opcodes[right] in _NO_CALL
    return all(kind != mine for kind in kinds)


def _turns(subject: Subject) -> Iterator[_Turns]:
    """The loops and functions of the cell that handle one node at a time."""
    places = subject.code.places
    for function in {place.function: None for place in places.values() if place.function}:
        stores = [
            n.id for n in ast.walk(function)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        ]  # fmt: skip
        parts: list[ast.FunctionDef | ast.For] = [function]
        parts += [n for n in ast.walk(function) if isinstance(n, ast.For)]
        for part in parts:
            for name, most in _variables(part):
                lines = [
                    place.line
                    for place in places.values()
                    if place.function is function and _is_inside(place, part)
                ]
                first = part.body[0].lineno
                if stores.count(name) <= most and first in lines:
                    rest = tuple(line for line in lines if line != first)
                    yield _Turns(name, first, rest)


def _variables(part: ast.FunctionDef | ast.For) -> Iterator[tuple[str, int]]:
    """The variables that may hold the node, each with how often the function assigns it."""
    if isinstance(part, ast.FunctionDef):
        yield from ((arg.arg, 0) for arg in part.args.args)
    elif isinstance(part.target, ast.Name):
        yield part.target.id, 1
    elif isinstance(part.target, ast.Tuple):
        yield from ((item.id, 1) for item in part.target.elts if isinstance(item, ast.Name))


def _is_inside(place: Place, part: ast.FunctionDef | ast.For) -> bool:
    first, last = part.body[0].lineno, part.body[-1].end_lineno or 0
    return first <= place.line <= last


def _nodes(subject: Subject, name: str, line: int) -> list[str]:
    """The nodes that a variable holds when a line runs."""
    found = [a.values[name] for a in subject.arrivals if a.line == line and name in a.nodes]
    return list(dict.fromkeys(found))


def first_way(subject: Subject, recipe: dict[str, Any]) -> list[str]:
    """The options for which the line runs, or does not, in the watched run."""
    runs = _nodes(subject, recipe["name"], recipe["line"])
    every = _nodes(subject, recipe["name"], recipe["first"])
    if not set(recipe["options"]) <= set(every):
        return []
    return [name for name in recipe["options"] if (name in runs) is recipe["is_run"]]


def second_way(subject: Subject, recipe: dict[str, Any]) -> list[str]:
    """The same by inserted calls."""
    seen = subject.counted(recipe["name"])
    runs = {value for line, value in seen if line == recipe["line"]}
    return [name for name in recipe["options"] if (name in runs) is recipe["is_run"]]
