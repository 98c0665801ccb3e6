"""Which value does a variable have at a line?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from random import Random
from typing import Any

from autograder.asking.code import Place
from autograder.asking.question import Choice, Question, arranged
from autograder.asking.subject import Subject
from autograder.asking.watched_run import Arrival

_TIMES = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}
_ENDS = {1: "st", 2: "nd", 3: "rd"}


def questions(subject: Subject, random: Random) -> Iterator[Question]:
    """Ask about a variable that a line reads and that has several values there."""
    found = [
        (place, name, time)
        for place in subject.code.places.values()
        if place.is_clear
        for name in _read(place)
        for time in _TIMES
    ]
    found.sort(key=lambda each: (_is_easy(subject, *each), random.random()))
    for place, name, time in found:
        arrivals = [a for a in subject.arrivals if a.line == place.line]
        if len(arrivals) < time or any(name not in a.values for a in arrivals[:time]):
            continue
        if time == 1 and len(arrivals) > 1:
            continue  # mostly the first node of the graph
        value = arrivals[time - 1].values[name]
        if not all(_is_known(subject, a.values[name]) for a in arrivals if name in a.nodes):
            continue
        wrong = _others(subject, place, name, arrivals[time - 1], random)
        if len(wrong) < 2:
            continue
        right = Choice(f"`{value}`", _why(subject, name, place.line, time))
        choices, at = arranged(right, wrong, random)
        when = f"this line runs{_often(time) if len(arrivals) > 1 else ''}"
        text = (
            f"You call `{subject.model.call}`. {place.shown} What does `{name}` hold when {when}?"
        )
        recipe = {"line": place.line, "name": name, "time": time, "right": value}
        recipe["easy"] = _is_easy(subject, place, name, time)
        model = subject.model
        yield Question("holds", text, model.shown, model.graph, choices, at, recipe)


def _is_known(subject: Subject, name: str) -> bool:
    """Whether a reader can know a node: the model's own, or one that the code adds to its graph."""
    return name in subject.model.opcodes or subject.model.is_given


def _is_easy(subject: Subject, place: Place, name: str, time: int) -> bool:
    """Whether the line handles the nodes of the model one by one, in order."""
    arrivals = [a for a in subject.arrivals if a.line == place.line][:time]
    names = [row[1] for row in subject.model.rows]
    return [arrival.values.get(name) for arrival in arrivals] == names[:time]


def _read(place: Place) -> list[str]:
    """The names that the statement itself reads, and that the function assigns."""
    own = [
        value
        for key, value in ast.iter_fields(place.node)
        if key not in ("body", "orelse", "finalbody", "handlers", "cases")
    ]
    parts = [part for value in own for part in (value if isinstance(value, list) else [value])]
    names = [n for part in parts if isinstance(part, ast.AST) for n in ast.walk(part)]
    read = {n.id for n in names if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return sorted(read)


def _others(
    subject: Subject, place: Place, name: str, now: Arrival, random: Random
) -> list[Choice]:
    """Other values of the variable in the same function, those at the same line first.

    Values of other variables follow, if all of them are nodes.
    """
    value = now.values[name]
    times: dict[int, int] = {}
    here: dict[str, str] = {}
    elsewhere: dict[str, str] = {}
    lines = {p.line for p in subject.code.places.values() if p.function is place.function}
    for arrival in subject.arrivals:
        times[arrival.line] = times.get(arrival.line, 0) + 1
        text = _plain(arrival, name)
        if arrival.line not in lines or text in ("", value):
            continue
        into = here if arrival.line == place.line else elsewhere
        time = times[arrival.line]
        into.setdefault(text, _why(subject, name, arrival.line, time))
    others = {
        now.values[other]: f"`{other}` holds this when line {place.line} runs."
        for other in sorted(now.nodes)
        if name in now.nodes and now.values[other] != value
    }
    found: dict[str, str] = {}
    for values in (here, elsewhere, others):
        for text, why in sorted(values.items(), key=lambda _: random.random()):
            found.setdefault(text, why)
    return [Choice(f"`{text}`", why) for text, why in found.items()]


def _why(subject: Subject, name: str, line: int, time: int) -> str:
    often = _often(time) if subject.counts[line] > 1 else ""
    return f"`{name}` holds this when line {line} runs{often}."


def _often(time: int) -> str:
    end = "th" if time in (11, 12, 13) else _ENDS.get(time % 10, "th")
    return f" for the {_TIMES.get(time, f'{time}{end}')} time"


def _plain(arrival: Arrival, name: str) -> str:
    return arrival.values.get(name, "")


def first_way(subject: Subject, recipe: dict[str, Any]) -> str:
    """Read the variable in the watched run."""
    arrivals = [a for a in subject.arrivals if a.line == recipe["line"]]
    at = recipe["time"] - 1
    return _plain(arrivals[at], recipe["name"]) if at < len(arrivals) else ""


def second_way(subject: Subject, recipe: dict[str, Any]) -> str:
    """Read the variable in an inserted call."""
    values = [value for line, value in subject.counted(recipe["name"]) if line == recipe["line"]]
    at = recipe["time"] - 1
    return values[at] if at < len(values) else ""
