"""Exercise 2.2: the nodes that a node reads."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from autograder.authoring.question import (
    CALL_OPS,
    COMMON,
    INPUT_KINDS,
    Aspect,
    Case,
    Exercise,
    Op,
    RandomModels,
    Vocabulary,
    Wrapped,
    ops,
)
from autograder.exercises.ch02_nodes import models as shared
from autograder.exercises.ch02_nodes.inputs_of import models

HINTS = (
    "Section 2.2 lists the four containers in which a node can be. "
    "`numbers_of` looks into two of them.",
    "`isinstance` tells a node, a tuple or list, a dictionary and a slice apart. "
    "A slice has `.start`, `.stop` and `.step`. "
    "The keys of a dictionary keep the order in which they were first put in, and each is there "
    "once.",
    "```python\n"
    "found = {}\n\n"
    "def visit(value):\n"
    "    if isinstance(value, fx.Node):\n"
    "        ...\n"
    "    elif ...:  # a container: visit what is in it\n"
    "        ...\n\n"
    "visit(node.args)\n"
    "...\n"
    "return list(found)\n"
    "```",
)


def graph_case(name: str, aspect: str, make: Callable[[], nn.Module]) -> Case:
    """A case that calls the answer on every node of the traced model."""
    return Case(name, aspect, models.Traced(make))


def recorded(*calls: str) -> tuple[Op, ...]:
    """Operations that call a function wrapped by `fx.wrap`."""
    return ops(*(f'{call}  # recorded: fx.wrap("{call.partition("(")[0]}")' for call in calls))


VOCABULARY = Vocabulary(
    ops(
        "torch.relu({a})",
        "torch.where({a} > {b}, {a}, {b})",
        "torch.add(other={a}, input={b})",
        "torch.where({a} > 0, other={b}, input={a})",
        "torch.maximum({a}, other={a})",
        "torch.stack([{x}, {y}, {x}]).mean(dim=0)",
        "torch.einsum('...,...->...', {x}, {y})",
        "{a}.clamp(min={b}, max={a})",
    )
    + ops(
        "{x}[{x}.dim() - {x}.dim() : {y}.size(0)]",
        "{x}[0 : {x}.size(0) : {y}.dim()].sum() * {y}",
        "torch.cat([{#x}, {#y}], {#x}.dim() - 1).sum() + {a}",
        "F.pad({x}, [0, {a}.dim() * 0])",
        dims=(1, 4),
    )
    + recorded(
        "nested([{a}, {b}], {c})",
        'nested({"b": {a}, "a": [{b}, {c}]}, {b})',
        "nested({b}, last=({a}, [{c}]), first={b})",
        "nested({a}, slice({b}, {c}, {a}), 'some text')",
        "nested([[{a}]], (({b}, {c}), [{a}]), {b})",
        "nested(table={'rows': slice({b}, {a}, None)}, other={a})",
        "nested(last={c}, first={a})",
        "nested({a}, slice(None, None, {b}), slice({c}, None))",
    )
    + CALL_OPS[4:6]
    + COMMON,
    inputs=INPUT_KINDS,
    names={"nested": Wrapped(models.nested)},
)

EXERCISE = Exercise(
    number=2,
    title="What a node reads",
    stars=2,
    minutes=15,
    points=4,
    kind="each_node",
    aspects=(
        Aspect("task", 2, "the nodes in args are listed"),
        Aspect("nested", 1, "nodes in lists, tuples, dictionaries, slices and kwargs are found"),
        Aspect("once", 1, "each node is listed once, in order of first appearance"),
    ),
    cases=(
        graph_case("one call after the other", "task", shared.AllSix),
        graph_case("keyword arguments", "nested", models.Keywords),
        graph_case("a list and a tuple", "nested", models.Listed),
        graph_case("slices", "nested", models.Sliced),
        graph_case("a dictionary as the result", "nested", models.Aggregate),
        graph_case("strings and other constants", "nested", models.Texts),
        graph_case("the same value twice", "once", models.SameTwice),
        graph_case("everything in everything", "once", models.by_hand_nested),
    ),
    hints=HINTS,
    forbidden_words=("all_input_nodes", "_input_nodes"),
    random=RandomModels(VOCABULARY, models.as_its_trace, count=14),
)
