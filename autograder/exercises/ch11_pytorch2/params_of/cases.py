"""Exercise 11.4: the kinds of a program's placeholders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from autograder.authoring.question import Aspect, Case, Exercise, T
from autograder.exercises.ch11_pytorch2.models import Program
from autograder.exercises.ch11_pytorch2.params_of import models

X, ROW = T(2, 3), T(3)

HINTS = (
    "Print `ep.graph_signature`. Its first half has one line for each placeholder: the name, the "
    "kind, and the target. Which attribute is that list?",
    "`spec.kind` is a member of `torch.export.graph_signature.InputKind`, and `spec.arg.name` is "
    "the placeholder's name. What is mutated is in the second half, where a buffer is named by its "
    "path in the model, and an input by its placeholder.",
    "```python\n"
    "result = {key: [] for key in (...)}\n"
    "changed = ...                          # what the output specs say is mutated\n"
    "for spec in ep.graph_signature.input_specs:\n"
    "    result[...].append(spec.arg.name)\n"
    "    if ...:\n"
    "        result['mutated'].append(spec.arg.name)\n"
    "return result\n"
    "```",
)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *args: Any,
    **more: Any,
) -> Case:
    """A case with the program of one model."""
    return Case(name, aspect, Program(make, args, **more))


EXERCISE = Exercise(
    number=4,
    title="What the placeholders of a program are",
    stars=1,
    minutes=8,
    points=3,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "parameters, buffers and inputs, by the names of their placeholders"),
        Aspect("buffers", 1, "buffers that are not saved, and constants"),
        Aspect("inputs", 1, "inputs of any kind and any name, read or not"),
        Aspect("mutated", 2, "what the signature says is mutated, and no more"),
    ),
    cases=(
        case("a layer and a buffer", "task", models.Scale, X),
        case("a layer with two names", "task", models.Tied, X),
        case("a buffer that is not saved", "buffers", models.Masks, X),
        case("constants that nobody needs", "buffers", models.Unread, X,
             change=models.without_products),
        case("misleading names", "inputs", models.Misleading, X, X, X),
        case("numbers and texts", "inputs", models.Numbers, X, 3, 1.5, True, "sum", None),
        case("training, as exported", "mutated", models.Stepwise, X, ROW, training=True),
        case("another order of outputs", "mutated", models.Counts, ROW, ROW, X,
             decomposed=True, change=models.from_last_to_first),
        case("two names alike, then run_decompositions", "mutated", models.OwnNames, X, ROW,
             decomposed=True),
    ),
    fine_print={
        (
            "Before `run_decompositions`, nothing is mutated by the signature, whatever the graph "
            "has."
        ): (
            "training, as exported",
        ),
    },
    hints=HINTS,
    not_random="its programs come from `torch.export`, which takes longer for twenty of them than "
    "all cases take; the kinds of placeholders are few, and each has its case",
)  # fmt: skip
