"""Exercise 14.1: quantize and dequantize every value that has a scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    Expect,
    RandomModels,
    T,
    Vocabulary,
    ops,
)
from autograder.exercises.ch14_quantization.insert_qdq import models
from autograder.exercises.ch14_quantization.models import GraphTrial, itself

HINTS = (
    "**Where to look.** In section 14.2 a call of `torch.neg` is put after one node. What is "
    "different for two new nodes, and for a graph that must stay as it is?",
    "**What to use.** `copy.deepcopy(gm)` has a graph of its own, with the same names and `meta`. "
    "`with graph.inserting_after(node):`, `graph.call_function(quantize, (node, scale))`, "
    "`node.replace_all_uses_with(new)`. Afterwards the new node reads what all others read.",
    "**A skeleton.**\n\n"
    "```python\n"
    "new = copy.deepcopy(gm)\n"
    "nodes = {...}                          # by name; which kind of node does not count?\n"
    "for name, scale in scales.items():\n"
    "    if ...:\n"
    "        raise ValueError(...)\n"
    "    with new.graph.inserting_after(...):\n"
    "        q = ...\n"
    "    with new.graph.inserting_after(...):\n"
    "        dq = ...\n"
    "    ...                                # all readers read dq\n"
    "    ...                                # and one of them must not\n"
    "...\n"
    "return new\n"
    "```",
)

X = T(2, 3)
REFUSED = "Which names are not those of a node with a value? Ask before you change anything."


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    scales: dict[str, float],
    *inputs: tuple[Any, ...],
    raises: str = "",
) -> Case:
    """A case of ``insert_qdq(gm, scales)``."""
    build = GraphTrial(make, inputs or ((X,),), (scales,))
    expect = Expect(raises=raises, advice=REFUSED if raises else "",
                    still_holds=("caller untouched",) if raises else (), trace=itself)  # fmt: skip
    return Case(name, aspect, build, expect)


def refused(name: str, make: Callable[[], nn.Module], scales: dict[str, float]) -> Case:
    """A case in which a name is not the name of a node."""
    return case(name, "refused", make, scales, raises="ValueError")


VOCABULARY = Vocabulary(
    ops(
        "torch.relu({a})",
        "{a}.view_as({a}).mul_({n})",
        "torch.add({a}, other={b})",
        "torch.stack([{x}, {y}, {x}]).mean(0)",
    )
    + ops("torch.exp({a})", outs=0)
    + COMMON,
    dtypes=(torch.float32,),
    inputs=("", "tensor", "row", "default", "star"),
    namesakes=("quantize", "dequantize"),
)


EXERCISE = Exercise(
    number=1,
    title="Through eight bits and back",
    stars=2,
    minutes=18,
    points=4,
    kind="rewrite",
    aspects=(
        Aspect("task", 2, "a `quantize` and a `dequantize` after each node that has a scale"),
        Aspect("readers", 2, "all that read the value read the dequantized one, wherever"),
        Aspect("kinds", 1, "inputs, parameters, modules, and values that nobody reads"),
        Aspect("rest", 1, "all other nodes keep name, order and `meta`; `gm` is as before"),
        Aspect("refused", 1, "names that are not those of nodes, or the output"),
    ),
    cases=(
        case("one value", "task", models.OneRelu, {"relu": 0.1}, (X,), (T(5),)),
        case("two values", "task", models.Chain, {"linear": 0.02, "tanh": 0.005}),
        case("two readers", "readers", models.TwoReaders, {"sin": 0.01}),
        case("read by keyword", "readers", models.Functional,
             {"weight": 0.02, "x": 0.03, "linear": 0.01, "sum_1": 0.1}),
        case("changed in place later", "readers", models.ChangedLater,
             {"view": 0.02, "relu": 0.01}),
        case("inputs", "kinds", models.TwoInputs, {"x": 1.5, "y": 0.01}, (X, X), (X, X, 3.0)),
        case("nobody reads it", "kinds", models.Unread, {"exp": 0.05, "sin": 0.01}),
        case("names of its own", "rest", models.odd_names,
             {"output": 0.01, "quantize": 0.02, "relu_3": 0.03}),
        case("what was quantized, again", "rest", models.InPart, {"dequantize": 0.05, "x": 0.1}),
        case("no scale at all", "rest", models.Weighted, {}),
        refused("an unknown name", models.Chain, {"linear": 0.1, "relu": 0.1}),
        refused("the output", models.Chain, {"output": 0.1}),
        refused("the name of a module", models.Weighted, {"inner.0": 0.1}),
        refused("a name that only a new node has", models.OneRelu, {"relu": 0.1, "quantize": 0.1}),
    ),
    fine_print={
        "A reader may have the value in a list, in a dictionary, by keyword, or twice.": (
            "read by keyword",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.with_scales, count=16, expect=Expect(trace=itself)),
)  # fmt: skip
