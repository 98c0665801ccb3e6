"""Exercise 7.4: a model cut in two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.core.exercise import Aspect, Case, Exercise
from autograder.models import T, model_case
from autograder.models import splitting as zoo
from autograder.rubric.crossing import what_crosses
from autograder.rubric.splitting import (
    nodes_on_their_side,
    parameters_shared,
    signature_of_head,
    the_models_result,
    two_graph_modules,
    wellformed_parts,
)
from autograder.rules.passes import caller_untouched, copies
from autograder.syllabus.features import drawn_split

X, WIDE = T(2, 3), T(4, 3)

HINTS = (
    """**Where to look.** The section above cuts a chain, where one value crosses.
In your model, take each node of the head and look at its users: on which side are they?
Do this before you write any graph.""",
    """**What to use.** Two new graphs, two dictionaries from old nodes to new ones.
`graph.node_copy(node, environment.__getitem__)` copies a node and maps what it reads.
In the tail, every value that crosses is a new `graph.placeholder(name)`: a copy of an old
placeholder would bring its default or its star along.
`graph.output(...)` ends a graph, and `fx.GraphModule(gm, graph)` takes from `gm` what the graph
calls and reads.""",
    """**A skeleton.**

```python
gm = ...
nodes = ...
place = ...                                # of the named node; placeholder or output: ValueError
first, rest = set(nodes[:place + 1]), nodes[place + 1:]
crossing = [node for node in ... if any(user ... for user in node.users)]

head, env = fx.Graph(), {}
for node in ...:
    env[node] = head.node_copy(...)
head.output(tuple(...))

tail, env = fx.Graph(), {}
for node in crossing:
    env[node] = tail.placeholder(...)
...                                        # copy the rest, the output node too
return ..., ...
```""",
)


def cut(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    at: str,
    *inputs: Any,
    **options: Any,
) -> Case:
    """A case that cuts a model at a node."""
    return model_case(name, aspect, make, *(inputs or ((X,),)), extra=(at,), **options)


def refuse(name: str, make: Callable[[], nn.Module], at: str, **options: Any) -> Case:
    """A case in which there is nothing to cut at."""
    look = "Only a node that computes something, or reads a parameter, can end the head. "
    look += "It is meant by its name in the trace, and by nothing else."
    return cut(name, "errors", make, at, expect={"raises": "ValueError", "look": look}, **options)


SPLIT_AT = Exercise(
    name="split_at",
    chapter="07_features",
    title="Cut a model in two",
    stars=3,
    minutes=25,
    points=6,
    procedure="split",
    aspects=(
        Aspect("task", 3, "the head's nodes and the tail's give the model's result"),
        Aspect("crossing", 3, "what the tail needs crosses, once, and nothing else"),
        Aspect("sides", 2, "each node is on its side, read or not"),
        Aspect("shared", 2, "parameters stay shared, and are read on either side"),
        Aspect("signature", 2, "parameters with defaults, unread ones, and any number of them"),
        Aspect("in place", 1, "calls in place act across the cut"),
        Aspect("errors", 1, "names that cannot be cut at are refused"),
        Aspect("rest", 2, "results of every shape, modes, and graph modules"),
    ),
    cases=(
        cut("a chain", "task", zoo.Straight, "tanh", (X,), (T(5, 3),)),
        cut("after the first node", "task", zoo.Straight, "first"),
        cut("before the output", "task", zoo.Straight, "second"),
        cut("names with underscores", "task", zoo.Nested, "body_0_1"),
        cut("an early value", "crossing", zoo.Skips, "linear"),
        cut("after the last use of one", "crossing", zoo.Skips, "mul"),
        cut("all in one place", "crossing", zoo.Skips, "sum_1"),
        cut("two inputs", "crossing", zoo.Several, "cos", (X, X)),
        cut("an input that is done with", "crossing", zoo.Several, "mul", (X, X)),
        cut("read by keyword", "crossing", zoo.ByKeyword, "exp"),
        cut("read in a slice", "crossing", zoo.Sliced, "sin"),
        cut("the named value is not read", "crossing", zoo.Unread, "cos"),
        cut("between two that are dead", "sides", zoo.Unread, "exp"),
        cut("the first of two calls", "sides", zoo.Twice, "act"),
        cut("the second of two calls", "sides", zoo.Twice, "turn_1"),
        cut("independent nodes", "sides", zoo.Several, "exp", (X, X)),
        cut("a parameter on both sides", "shared", zoo.Weighted, "mul"),
        cut("a module's weight", "shared", zoo.Weighted, "linear"),
        cut("at a parameter", "shared", zoo.Weighted, "linear_weight"),
        cut("a default in the tail", "signature", zoo.Defaults, "sin", (X,), (X, X, 3.0)),
        cut("a default in the head", "signature", zoo.Defaults, "mul", (X,), (X, X, 3.0, 1.0)),
        cut("any number of inputs", "signature", zoo.Rest, "sin", (X, X, X)),
        cut("in both parts", "signature", zoo.Rest, "mul", (X, X, X)),
        cut("a view crosses", "in place", zoo.InPlace, "getitem"),
        cut("changed before the cut", "in place", zoo.InPlace, "mul_"),
        cut("a module in place after it", "in place", zoo.InPlace, "add"),
        cut("inputs that change", "in place", zoo.OverInput, "add", (X, X)),
        cut("and have changed", "in place", zoo.OverInput, "relu", (X, X)),
        refuse("no such name", zoo.Straight, "third"),
        refuse("a placeholder", zoo.Straight, "x"),
        refuse("the output", zoo.Straight, "output"),
        refuse("a layer's name with dots", zoo.Nested, "body.0.1"),
        cut("a number and a tuple cross", "rest", zoo.Parts, "chunk"),
        cut("parts of a tuple cross", "rest", zoo.Parts, "stack"),
        cut("inputs are results", "rest", zoo.Passes, "sin", (X, X)),
        cut("a model in training mode", "rest", zoo.Normed, "drop", (WIDE,), training=True),
        cut("single precision", "rest", zoo.Twice, "turn_1", dtype=torch.float32),
        cut("a graph module", "rest", zoo.renamed, "add_1"),
        cut("redraw: a chain", "task", zoo.Straight, "tanh", (T(1, 3),), hidden=True),
        cut("redraw: crossing", "crossing", zoo.Skips, "relu", (WIDE,), hidden=True),
        cut("redraw: sides", "sides", zoo.Twice, "act_1", (WIDE,), hidden=True),
        cut("redraw: shared", "shared", zoo.Weighted, "add", (WIDE,), hidden=True),
        cut("redraw: signature", "signature", zoo.Defaults, "sin", (WIDE, 1), hidden=True),
        refuse("redraw: a method's name", zoo.Skips, "sum", hidden=True),
        cut("redraw: in place", "in place", zoo.InPlace, "linear", (WIDE,), hidden=True),
    ),  # fmt: skip
    rubric=(
        two_graph_modules.because("says what came back, before anything in it is looked at"),
        caller_untouched,
        wellformed_parts.because("says what is wrong with a graph, before it raises"),
        signature_of_head.because("says which parameters are lost, before a call raises"),
        parameters_shared,
        nodes_on_their_side.because("names the node, where other rules name what it would cross"),
        what_crosses,
        the_models_result,
        copies,
    ),
    hints=HINTS,
    random=drawn_split.SPLIT,
)
