"""Exercise 2.3: a graph without a tracer."""

from __future__ import annotations

import torch

from autograder.authoring.question import Aspect, Case, Exercise, T
from autograder.exercises.ch02_nodes.build_by_hand.models import LinearAndShift

HINTS = (
    "Write the formula as a list of steps, one operation a step, and decide for each of them: "
    "function, method or module? The graph of the model in the picture has the same nine nodes.",
    "The table of section 2.4 has a method for each kind of node. "
    "`placeholder` takes `default_value`. "
    "The root of `fx.GraphModule(root, graph)` may be a dictionary; a tensor in it becomes a "
    "buffer.",
    "```python\n"
    "graph = fx.Graph()\n"
    'x = graph.placeholder("x")\n'
    "scale = ...\n"
    'projected = graph.call_module("proj", (x,))\n'
    "...  # multiply, add what get_attr reads, ReLU, sum\n"
    "graph.output(...)\n"
    "return fx.GraphModule(..., graph)\n"
    "```",
)


def linear_case(
    name: str,
    aspect: str,
    features: tuple[int, int],
    shift: T,
    *inputs: tuple[object, ...],
    training: bool = False,
    dtype: torch.dtype = torch.float64,
    shift_dtype: torch.dtype | None = None,
    another: bool = False,
) -> Case:
    """A case: a linear layer, a shift, and inputs for the result."""
    build = LinearAndShift(features, shift, inputs, training, dtype, shift_dtype, another)
    return Case(name, aspect, build)


EXERCISE = Exercise(
    number=3,
    title="A graph without a tracer",
    stars=2,
    minutes=15,
    points=4,
    kind="transform",
    aspects=(
        Aspect("task", 3, "the module computes the formula, with the nine nodes"),
        Aspect("inputs", 1, "it does so for inputs and scales of every shape"),
    ),
    cases=(
        linear_case("rows of a matrix", "task", (3, 4), T(4), (T(2, 3),), (T(5, 3), 0.5)),
        linear_case("three dimensions", "inputs", (2, 3), T(3), (T(2, 4, 2),), (T(2), -1.5)),
        linear_case(
            "float32, training mode",
            "inputs",
            (4, 3),
            T(1, 3),
            (T(2, 4), 0.1),
            training=True,
            dtype=torch.float32,
        ),
    ),
    hints=HINTS,
    forbidden_words=("symbolic_trace", "trace"),
    not_random="it takes a linear layer and a tensor, no model",
)
