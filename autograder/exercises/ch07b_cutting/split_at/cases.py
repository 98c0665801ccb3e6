"""Exercise 7b.2: split a model into two parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    Expect,
    InEvaluation,
    RandomModels,
    Recipe,
    T,
    Vocabulary,
    model_case,
    ops,
    renumbered,
)
from autograder.exercises.ch07b_cutting.split_at import models

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
    """A case that splits a model at a node."""
    return model_case(name, aspect, make, *(inputs or ((X,),)), extra=(at,), **options)


def refuse(name: str, make: Callable[[], nn.Module], at: str, **options: Any) -> Case:
    """A case with a name at which the model cannot be split."""
    advice = "Only a node that computes something, or reads a parameter, can end the head. "
    advice += "It is meant by its name in the trace, and by nothing else."
    expect = Expect(raises="ValueError", advice=advice)
    return cut(name, "errors", make, at, expect=expect, **options)


VOCABULARY = Vocabulary(
    ops(
        "torch.sin({a})",
        "{x}.mul_({n})",
        "[nn.ReLU()]([=nn.ReLU()]({a}))",
        "[nn.Sigmoid()]({a}) - [=nn.Sigmoid()]({b})",
        "[nn.ReLU(inplace=True)]({x})",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "[nn.Parameter(torch.ones(()))] - {a}",
        "{a} + [buffer(torch.ones(()))]",
        "{x} + {b}.dim()",
        "torch.stack([{x}, {y}, {x}])[1]",
    )
    + ops("torch.exp({a})", "{x}.add_({b})", "[nn.Tanh()]({a})", outs=0)
    + ops(
        "{x}.size(-1) * {y}",
        "{x} * [nn.Linear(D, D)].weight.sum()",
        "torch.relu_({x}[..., :1]) + {y}",
        "{x}.view({x}.shape).neg()",
        dims=(1, 4),
    )
    + COMMON,
    inputs=("", "default", "star", "tensor", "default", "row"),
    training=True,
    namesakes=("sin", "mul_1"),
)


def refusals(recipe: Recipe) -> Expect:
    """The expectation of a random case: an error if the model cannot be split at the name."""
    if recipe.choice % 5 != 4 and (recipe.steps or recipe.part):
        return Expect()
    advice = "Only a node that computes something, or reads a parameter, can end the head."
    return Expect(raises="ValueError", advice=advice)


EXERCISE = Exercise(
    number=2,
    title="Cut a model in two",
    stars=3,
    minutes=25,
    points=6,
    kind="split",
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
        cut("a chain", "task", models.Straight, "tanh", (X,), (T(5, 3),)),
        cut("an early value", "crossing", models.Skips, "linear"),
        cut("read by keyword", "crossing", models.ByKeyword, "exp"),
        cut("read in a slice", "crossing", models.Sliced, "sin"),
        cut("the named value is not read", "crossing", models.Unread, "cos"),
        cut("between two that are dead", "sides", models.Unread, "exp"),
        cut("a parameter on both sides", "shared", models.Weighted, "mul"),
        cut("at a parameter", "shared", models.Weighted, "linear_weight"),
        cut("a default in the tail", "signature", models.Defaults, "sin", (X,), (X, X, 3.0)),
        cut("a view crosses", "in place", models.InPlace, "getitem"),
        refuse("no such name", models.Straight, "third"),
        refuse("a placeholder", models.Straight, "x"),
        refuse("the output", models.Straight, "output"),
        refuse("a layer's name with dots", models.Nested, "body.0.1"),
        cut("inputs are results", "rest", models.Passes, "sin", (X, X)),
        cut(
            "a model in training mode",
            "rest",
            models.Normed,
            "drop",
            (WIDE,),
            training=True,
            prepare=InEvaluation("last"),
        ),
        cut("a graph module", "rest", renumbered, "add_1"),
    ),
    fine_print={
        "Cut by position, even if nothing reads the node.": ("between two that are dead",),
        "The value of the named node may cross even if no node reads it.": (
            "the named value is not read",
        ),
        "An unknown name, a placeholder, or the output: `ValueError`.": (
            "no such name",
            "a placeholder",
            "the output",
            "redraw: the output, under another name",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.cut_somewhere, expect=refusals),
)
