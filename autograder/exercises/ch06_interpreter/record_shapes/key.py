"""The answer key of `record_shapes`: a shape for each node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from autograder.authoring.key import (
    AdviceRow,
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Stage,
    answer_of,
    caller_untouched,
    difference,
    returns,
    rule,
    show,
)
from autograder.exercises.ch06_interpreter.keys import values_of


def shapes_of(model: nn.Module, *inputs: Any) -> dict[str, Any]:
    """The expected result of `record_shapes`."""

    def shape(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shape(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            kind = list if isinstance(value, list) else tuple
            return kind(shape(item) for item in value)
        return tuple(value.shape) if isinstance(value, torch.Tensor) else None

    return {name: shape(value) for name, value in values_of(model, *inputs).items()}


@rule("a shape for each node", Stage.RESULT)
def a_shape_for_each_node(evidence: Evidence) -> Iterable[Finding]:
    """The keys are the nodes of a fresh trace, and each has the right shape."""
    got = {show(key): value for key, value in evidence.value["dict"]}
    want = {show(key): value for key, value in evidence.reference.value["dict"]}
    missing = [key for key in want if key not in got]
    if missing:
        yield evidence.finding(
            "missing-node", f"Your dictionary has no key {', '.join(missing[:3])}.",
            "Every node of the trace has a value when the graph has run.",
            (key.strip("'") for key in missing),
        )  # fmt: skip
    extra = [key for key in got if key not in want]
    if extra:
        yield evidence.finding(
            "extra-key", f"Your dictionary has a key {extra[0]}, which is not a node's name.",
            "The keys are the names of the nodes in a fresh trace.",
        )  # fmt: skip
    stars = {f"{n.name!r}" for n in evidence.traced.graph.nodes if str(n.target).startswith("*")}
    for key in want:
        if key not in got:
            continue
        shape = _as_list(got[key]) if key in stars else got[key]
        goal = _as_list(want[key]) if key in stars else want[key]
        if difference(shape, [], goal, []):
            yield evidence.finding(
                "wrong-shape",
                f"For {key} you give {show(got[key])}; its value has the shape {show(want[key])}.",
                "Print the value of this node while the graph runs.",
                (key.strip("'"),),
            )
            return


def _as_list(shape: Encoded) -> Encoded:
    """A tuple as a list, because interpreters differ in the type of ``*args``."""
    if isinstance(shape, dict) and "tuple" in shape:
        return {"list": shape["tuple"]}
    return shape


ADVICE = (
    AdviceRow(
        ("AttributeError",),
        r"'(?:immutable_dict|dict)' object has no attribute 'shape'",
        "What this node gives is a dictionary, and its `tensor_meta` is one, too. Which values in "
        "it have a shape, and what does the exercise ask for here?",
    ),
)

KEY = AnswerKey(
    (
        returns("dict").because("names the kind that came back, before any shape is compared"),
        caller_untouched,
        a_shape_for_each_node,
    ),
    answer_of(shapes_of),
    advice=ADVICE,
)
