"""Rules for functions that return plain data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from autograder.core.codec import Encoded, kind_of, show
from autograder.core.verdict import Finding
from autograder.judge.compare import Difference, difference, ordinal
from autograder.judge.derived_graph import OPCODES
from autograder.judge.rule import Rule, Stage, rule

if TYPE_CHECKING:
    from autograder.judge import Evidence


def returns(kind: str) -> Rule:
    """Require one type of plain data: ``list``, ``dict``, ``bool``, ``tuple`` or ``int``."""

    def find(evidence: Evidence) -> Iterable[Finding]:
        value = evidence.outcome.value
        got = next(iter(value)) if isinstance(value, dict) else type(value).__name__
        if got != kind:
            asked = f"an `{kind}`" if kind == "int" else f"a `{kind}`"
            advice = _ANOTHER_KIND.get(kind_of(value), f"The exercise asks for {asked}.")
            if value is None:
                advice = "Does every path through your function end with `return`?"
                if evidence.outcome.printed:
                    advice = f"`print` shows something, and gives nothing back. {advice}"
            yield evidence.finding(
                "returned-none" if value is None else "wrong-kind",
                f"{evidence.you} returned {kind_of(value)}, not {asked}.",
                advice,
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
    """The returned value must equal the reference."""
    found = _difference(evidence)
    if found:
        advice = "Do it by hand for the model below, and compare."
        yield evidence.finding("wrong-value", f"For this case {found.text}.", advice)


def _difference(evidence: Evidence) -> Difference | None:
    value, reference = evidence.outcome, evidence.reference
    return difference(value.value, value.tensors, reference.value, reference.tensors, "your result")


def right_value_of(item: str, columns: tuple[str, ...] = (), *, key: int = 0) -> Rule:
    """Require a list equal to the reference; the finding names the first wrong item.

    Args:
        item: the noun for an item of the list, in the singular.
        columns: names of the entries of an item, if it is a tuple.
        key: the index of the entry that identifies an item.
    """

    def find(evidence: Evidence) -> Iterable[Finding]:
        differs = _difference(evidence)
        if not differs:
            return
        got, want = evidence.value["list"], evidence.reference.value["list"]
        words = (
            _odd_item(got, want, item, columns)
            or _missing(got, want, item, columns, key)
            or (_cell(got, want, item, columns, key) if columns else None)
            or (f"For this case {differs.text}.", "Compare with the graph, node by node.")
        )
        yield evidence.finding("wrong-value", *words)

    return Rule("right value", Stage.RESULT, find)


Words = tuple[str, str]
"""A message and its advice."""


def _odd_item(
    got: list[Encoded], want: list[Encoded], item: str, columns: tuple[str, ...]
) -> Words | None:
    """Describe the first item that has another type than expected."""
    kind = kind_of(want[0]) if want else "a `str`"
    for i, each in enumerate(got, 1):
        if kind_of(each) != kind:
            text = f"The {ordinal(i)} {item} of your list is {kind_of(each)}, not {kind}."
            return text, f"What should one {item} be made of, and which type should it have?"
        if columns and (count := len(each["tuple"])) != len(columns):
            text = f"The {ordinal(i)} {item} of your list has {count} entries, not {len(columns)}."
            return text, f"A {item} has these entries, in this order: {', '.join(columns)}."
    return None


def _missing(
    got: list[Encoded], want: list[Encoded], item: str, columns: tuple[str, ...], key: int
) -> Words | None:
    """Describe the first item that is missing, unexpected, repeated or out of order."""

    def name(row: Encoded) -> Encoded:
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
        advice = (
            "Which attribute of a node is its name? Does your function trace the model, or does it "
            "read a graph that was there before?"
        )
        return text, advice
    if lacks:
        more = "" if len(lacks) == 1 else f", and {len(lacks) - 1} more"
        text = f"Your list has {len(ours)} of {len(theirs)} {item}s: {show(lacks[0])} is missing"
        return f"{text}{more}.", "Which nodes does your loop visit, and when does it end?"
    if len(ours) != len(theirs):
        twice = next(each for each in ours if ours.count(each) > theirs.count(each))
        text = f"Your list has {show(twice)} {ours.count(twice)} times; it belongs there once."
        advice = "Does something collect in your list that was there before the call?"
        return text, advice
    if ours != theirs:
        i = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
        text = (
            f"Your list has all {item}s, but in another order: your {ordinal(i + 1)} is "
            f"{show(ours[i])}. {_right(theirs[i])}"
        )
        return text, "The order is that of the graph, which is the order of execution."
    return None


def _right(value: Encoded) -> str:
    """The right value, in a separate sentence, so that it is not confused with the wrong one."""
    return f"It should be {show(value)}."


def _cell(
    got: list[Encoded], want: list[Encoded], item: str, columns: tuple[str, ...], key: int
) -> Words | None:
    """Describe the first wrong entry of an item, and whether two columns are exchanged."""
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
            rows = ((r["tuple"], s["tuple"]) for r, s in zip(got, want, strict=True))
            if other is not None and all((r[i], r[other]) == (s[other], s[i]) for r, s in rows):
                return text, f"Everywhere, {columns[i]} and {columns[other]} are exchanged."
            return text, f"How is this node written in the model below? Count {columns[i]} there."
    return None


@rule("nothing forbidden", Stage.KIND)
def nothing_forbidden(evidence: Evidence) -> Iterable[Finding]:
    """The answer must not use functions that the exercise forbids."""
    for name in evidence.outcome.used:
        yield evidence.finding(
            "forbidden",
            f"{evidence.you} uses `{name}`, which this exercise forbids.",
            "The point is to do its work yourself.",
        )
