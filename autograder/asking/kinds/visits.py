"""How often does a line run?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from autograder.asking.question import Choice, Question, arranged
from autograder.asking.subject import Subject

_COUNTS = range(2, 16)


def questions(subject: Subject, random: Random) -> Iterator[Question]:
    """Ask about lines that run several times, but not as often as all others."""
    places = [
        place
        for place in subject.code.places.values()
        if place.is_clear and subject.counts[place.line] in _COUNTS
    ]
    nodes = len(subject.model.rows)
    # A count that differs from the number of nodes needs more thought.
    places.sort(key=lambda place: (subject.counts[place.line] == nodes, random.random()))
    others = _other_numbers(subject)
    for place in places:
        count = subject.counts[place.line]
        wrong = [Choice(str(n), why) for n, why in others.items() if n != count]
        wrong.sort(key=lambda choice: (abs(int(choice.text) - count), choice.text))
        if len(wrong) < 2:
            continue
        right = Choice(str(count), _why(subject, place.line, count))
        choices, at = arranged(right, wrong, random, ascending=True)
        text = f"You call `{subject.model.call}`. {place.shown} How often does it run?"
        recipe = {"line": place.line, "right": count, "easy": count == nodes}
        model = subject.model
        yield Question("visits", text, model.shown, model.graph, choices, at, recipe)


def _other_numbers(subject: Subject) -> dict[int, str]:
    """Numbers that a reader may take for the right one, each with its meaning."""
    found: dict[int, str] = {}
    for line, place in subject.code.places.items():
        if place.is_clear:
            found.setdefault(subject.counts[line], f"Line {line} runs this often.")
    found.pop(0, None)
    ops = Counter(op for op, *_ in subject.model.rows)
    calls = sum(count for op, count in ops.items() if op.startswith("call_"))
    for number, what in (
        (calls, "calls"),
        (len(subject.model.rows), "nodes"),
        (ops["placeholder"], "inputs"),
        (calls + ops["placeholder"], "calls and inputs together"),
    ):
        if number:
            found.setdefault(number, f"The graph of the model has this many {what}.")
    return found


def _why(subject: Subject, line: int, count: int) -> str:
    """The reason for the right number: the nodes for which the line runs, if that is known."""
    arrivals = [arrival for arrival in subject.arrivals if arrival.line == line]
    for name in sorted(arrivals[0].nodes):
        values = [arrival.values.get(name, "") for arrival in arrivals]
        if len(set(values)) == count:
            return f"It runs for {', '.join(f'`{value}`' for value in values)}."
    return "Your code was run on this model, and the line was counted."


def first_way(subject: Subject, recipe: dict[str, Any]) -> int:
    """Count the arrivals of the watched run."""
    return subject.counts[recipe["line"]]


def second_way(subject: Subject, recipe: dict[str, Any]) -> int:
    """Count the inserted calls."""
    return sum(line == recipe["line"] for line, _ in subject.counted())
