"""What every function has whose result is data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from autograder.core.codec import Plain, kind_of, show
from autograder.core.verdict import Finding
from autograder.judge.compare import Difference, difference, ordinal
from autograder.judge.derived_graph import OPCODES
from autograder.judge.rule import Rule, Stage, rule

if TYPE_CHECKING:
    from autograder.judge import Evidence


def returns(kind: str) -> Rule:
    """The result is of one kind of plain data: ``list``, ``dict``, ``bool``, ``tuple``, ``int``."""

    def find(evidence: Evidence) -> Iterable[Finding]:
        value = evidence.outcome.value
        got = next(iter(value)) if isinstance(value, dict) else type(value).__name__
        if got != kind:
            asked = f"an `{kind}`" if kind == "int" else f"a `{kind}`"
            look = _ANOTHER_KIND.get(kind_of(value), f"The exercise asks for {asked}.")
            if value is None:
                look = "Does every path through your function end with `return`?"
                if evidence.outcome.printed:
                    look = f"`print` shows something, and gives nothing back. {look}"
            yield evidence.finding(
                "returned-none" if value is None else "wrong-kind",
                f"{evidence.you} returned {kind_of(value)}, not {asked}.",
                look,
            )

    return Rule(f"returns a {kind}", Stage.KIND, find)


_ANOTHER_KIND = {
    "a `set`": "A set has no order, and holds each item once.",
    "a `generator`": "Round brackets make a generator, which is not a list yet.",
    "a `tuple`": "Round brackets, or a comma alone, make a tuple.",
    "a `GraphModule`": "The module itself is not asked for, but something about it.",
}


@rule("right value", Stage.RESULT)
def right_value(evidence: Evidence) -> Iterable[Finding]:
    """The value is the reference's."""
    found = _difference(evidence)
    if found:
        look = "Do it by hand for the model below, and compare."
        yield evidence.finding("wrong-value", f"For this case {found.text}.", look)


def _difference(evidence: Evidence) -> Difference | None:
    value, reference = evidence.outcome, evidence.reference
    return difference(value.value, value.tensors, reference.value, reference.tensors, "your result")


def right_value_of(item: str, columns: tuple[str, ...] = (), *, key: int = 0) -> Rule:
    """The value is the reference's, which is a list; what differs is told by name.

    Args:
        item: what an item of the list is called, in the singular.
        columns: what the places of an item are called, where it is a tuple.
        key: the place in an item by whose value it is named.
    """

    def find(evidence: Evidence) -> Iterable[Finding]:
        differs = _difference(evidence)
        if not differs:
            return
        got, want = evidence.outcome.value["list"], evidence.reference.value["list"]
        words = (
            _odd_item(got, want, item, columns)
            or _missing(got, want, item, columns, key)
            or (_cell(got, want, item, columns, key) if columns else None)
            or (f"For this case {differs.text}.", "Compare with the graph, node by node.")
        )
        yield evidence.finding("wrong-value", *words)

    return Rule("right value", Stage.RESULT, find)


Words = tuple[str, str]
"""A message, and where to look."""


def _odd_item(
    got: list[Plain], want: list[Plain], item: str, columns: tuple[str, ...]
) -> Words | None:
    """The first item that is of another kind than it should be."""
    kind = kind_of(want[0]) if want else "a `str`"
    for i, each in enumerate(got, 1):
        if kind_of(each) != kind:
            text = f"The {ordinal(i)} {item} of your list is {kind_of(each)}, not {kind}."
            return text, f"What should one {item} be made of, and which type should it have?"
        if columns and len(each["tuple"]) != len(columns):
            count = len(each["tuple"])
            text = f"The {ordinal(i)} {item} of your list has {count} entries, not {len(columns)}."
            return text, f"A {item} has these entries, in this order: {', '.join(columns)}."
    return None


def _missing(
    got: list[Plain], want: list[Plain], item: str, columns: tuple[str, ...], key: int
) -> Words | None:
    """What is missing, too much, there twice, or at another place."""

    def name(row: Plain) -> Plain:
        return row["tuple"][key] if columns else row

    ours, theirs = [name(row) for row in got], [name(row) for row in want]
    wrong_column = (
        columns and want and ours[:1] != theirs[:1] and (ours and ours[0] in want[0]["tuple"])
    )
    if wrong_column:
        text = f"In your first {item}, {columns[key]} is {show(ours[0])}. {_right(theirs[0])}"
        return text, f"A {item} has these entries, in this order: {', '.join(columns)}."
    lacks = [each for each in theirs if each not in ours]
    extra = [each for each in ours if each not in theirs]
    if extra and extra[0] in OPCODES:
        text = f"Your list has {show(extra[0])}. That is the kind of a node, not its name."
        return text, "Which attribute of a node is its name?"
    if extra:
        text = f"Your list has {show(extra[0])}. When the model is traced, no node has this name."
        look = (
            "Which attribute of a node is its name? Does your function trace the model, or does it "
            "read a graph that was there before?"
        )
        return text, look
    if lacks:
        more = "" if len(lacks) == 1 else f", and {len(lacks) - 1} more"
        text = f"Your list has {len(ours)} of {len(theirs)} {item}s: {show(lacks[0])} is missing"
        return f"{text}{more}.", "Which nodes does your loop visit, and when does it end?"
    if len(ours) != len(theirs):
        twice = next(each for each in ours if ours.count(each) > theirs.count(each))
        text = f"Your list has {show(twice)} {ours.count(twice)} times; it belongs there once."
        look = "Does something collect in your list that was there before the call?"
        return text, look
    if ours != theirs:
        i = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
        text = (
            f"Your list has all {item}s, but in another order: your {ordinal(i + 1)} is "
            f"{show(ours[i])}. {_right(theirs[i])}"
        )
        return text, "The order is that of the graph, which is the order of execution."
    return None


def _right(value: Plain) -> str:
    """The value that is right, as a sentence of its own, so that it cannot be turned round."""
    return f"It should be {show(value)}."


def _cell(
    got: list[Plain], want: list[Plain], item: str, columns: tuple[str, ...], key: int
) -> Words | None:
    """The first entry of a row that differs; whether columns are exchanged."""
    for a, b in zip(got, want, strict=True):
        ours, theirs = a["tuple"], b["tuple"]
        for i, (x, y) in enumerate(zip(ours, theirs, strict=True)):
            if x == y and type(x) is type(y):
                continue
            of = f"In your {item} of `{theirs[key]}`, {columns[i]}"
            if not isinstance(x, type(y)) or isinstance(x, dict):
                text = f"{of} is {kind_of(x)}. It should be {kind_of(y)}."
                return text, "The answer is a number here: how many are there?"
            text = f"{of} is {show(x)}. {_right(y)}"
            other = next((j for j, z in enumerate(theirs) if j != i and z == x != y), None)
            if other is not None and all(
                (r["tuple"][i], r["tuple"][other]) == (s["tuple"][other], s["tuple"][i])
                for r, s in zip(got, want, strict=True)
            ):
                return text, f"Everywhere, {columns[i]} and {columns[other]} are exchanged."
            return text, f"How is this node written in the model below? Count {columns[i]} there."
    return None


@rule("nothing forbidden", Stage.KIND)
def nothing_forbidden(evidence: Evidence) -> Iterable[Finding]:
    """What the task forbids is not used."""
    for name in evidence.outcome.used:
        yield evidence.finding(
            "forbidden",
            f"{evidence.you} uses `{name}`, which this exercise forbids.",
            "The point is to do its work yourself.",
        )
