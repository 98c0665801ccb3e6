"""Exercise 5.2: replace calls by the operations that rules record."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    RandomModels,
    T,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch05_proxy.decompose import models
from autograder.exercises.ch05_proxy.decompose.models import with_rules

X, WIDE = T(2, 3), T(4, 3)

HINTS = (
    """**Where to look.** `decompose_relu` in section 5.3 walks over the old graph and fills
a new one. What in it speaks of `torch.relu`, and what of a single argument?
Then read again how a Proxy is made of a node, and how `map_arg` finds the nodes in an argument.""",
    """**What to use.** One `GraphAppendingTracer` for the *new* graph.
`map_arg(node.args, f)` and `map_arg(node.kwargs, f)` put `f(n)` in place of each node `n`.
A rule returns a Proxy or a Python constant. A value of your dictionary may be a constant, then,
and what reads it must get that constant.""",
    """**A skeleton.**

```python
gm = ...
graph, tracer = ...
values = {}                                # old node: new node, or a Python constant


def proxy_of(node):
    ...                                    # what a rule gets in place of an old node


for node in gm.graph.nodes:
    if ... and ...:                        # a call of a function that has a rule
        args = ...
        kwargs = ...
        result = rules[node.target](*args, **kwargs)
        values[node] = ...
    else:
        values[node] = graph.node_copy(node, ...)
return fx.GraphModule(..., graph)
```""",
)


def case(
    name: str,
    aspect: str,
    model: Callable[[], Any],
    rules: dict[Callable[..., Any], Callable[..., Any]],
    *inputs: Any,
    **more: Any,
) -> Case:
    """A case of `decompose`: a model, its rules, and inputs for the result."""
    return model_case(name, aspect, model, *inputs, extra=(rules,), **more)


VOCABULARY = Vocabulary(
    ops(
        "torch.square({a})",
        "torch.square({a}) * torch.square({a})",
        "torch.sub({a}, {b}) * torch.sub({a}, {b})",
        "torch.sub({a}, other={b}, alpha=3)",
        "torch.sub(other={a}, input={b})",
        "torch.add({a}, {b}, alpha={n})",
        "torch.mul({a}, torch.mul({b}, {c}))",
        "torch.addcmul({a}, {b}, tensor2={c}, value=3)",
        "torch.addcmul({a}, {b}, {b})",
        "torch.stack([{x}, {y}, {x}])[1]",
        "torch.stack(tensors=[{x}, {y}], dim=-1).sum(-1)",
        'torch.div({a}, {b}, rounding_mode="floor")',
        "torch.div({a}, {b}, rounding_mode=None)",
        "torch.pow({a}, 3)",
        "torch.pow({a}, exponent=2)",
        "torch.pow({a}, torch.numel({#b}))",
        "{x} * torch.mean({a})",
        "torch.clamp({a}, torch.amin({x}), {y})",
        "{x} + torch.argmax({y})",
        "torch.positive({a})",
        "torch.tanh({a})",
        "torch.exp({a}).sin()",
        "{a} / {b}",
        "{n} / ({a} + 4)",
        "F.relu({a})",
        "{a} + {b}",
        "{a} - {b}",
        "{a}.square()",
        "{a}.sub({b})",
        "{a}.exp().add(1)",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "{x}.mul_({b})",
    )
    + ops("{x}.mul_(0.5)", "{x}.add_({b})", "torch.square({a})", "torch.sub({a}, {b})", outs=0)
    + COMMON,
    training=True,
    namesakes=("square", "sub", "mul"),
)

SQUARE = {torch.square: models.square_rule}
ITEM = {operator.getitem: models.item_rule}
TWO = {torch.mean: models.two_rule}

EXERCISE = Exercise(
    number=2,
    title="Rules instead of nodes",
    stars=2,
    minutes=20,
    points=4,
    kind="transform",
    aspects=(
        Aspect("task", 2, "calls are replaced by what their rules record"),
        Aspect("arguments", 2, "rules get the arguments of the call: several, lists, keywords"),
        Aspect("constants", 1, "a rule may return a constant or what it was given"),
        Aspect("once", 1, "rules are not applied to their own output"),
        Aspect("rest", 2, "the rest of the model is copied"),
    ),
    cases=(
        case("one call", "task", models.Square, SQUARE, (X,), (WIDE,)),
        case("several arguments", "arguments", models.Lerp, {torch.lerp: models.lerp_rule}, (X, X)),
        case(
            "a parameter by keyword only",
            "arguments",
            models.Addcmul,
            {torch.addcmul: models.addcmul_rule},
            (X, X),
        ),
        case(
            "a list of nodes", "arguments", models.Stack, {torch.stack: models.stack_rule}, (X, X)
        ),
        case("a list in a tuple", "arguments", models.Picked, ITEM, (X,)),
        case("a slice", "arguments", models.Sliced, ITEM, (X,)),
        case("an attribute", "arguments", models.Turned, {getattr: models.attribute_rule}, (X,)),
        case(
            "the same value twice",
            "arguments",
            models.SameTwice,
            {torch.sub: models.sub_rule},
            (X,),
        ),
        case(
            "a number for another rule's loop",
            "constants",
            models.PowNumel,
            {torch.numel: models.three_rule, torch.pow: models.pow_rule},
            (X,),
        ),
        case("None", "constants", models.ClampMin, {torch.amin: models.none_rule}, (X,)),
        case("a number as the output", "constants", models.MeanOutput, TWO, (X,)),
        case("a number by keyword", "constants", models.MeanByKeyword, TWO, (X,)),
        case(
            "a rule that calls its function",
            "once",
            models.Exp,
            {torch.exp: models.exp_twice_rule},
            (X,),
        ),
        case(
            "other spellings", "rest", models.OtherSpellings, {torch.add: models.add_rule}, (X, X)
        ),
        case(
            "nested modules in training mode", "rest", models.Nested, SQUARE, (WIDE,), training=True
        ),
        case("a graph module", "rest", models.traced_squares, SQUARE, (WIDE,)),
        case("parameters with defaults", "rest", models.Defaults, SQUARE, (X,), (X, 3.0, None, 1)),
        case("values that nobody reads", "rest", models.Dead, SQUARE, (X,)),
        case("changes in place", "rest", models.InPlace, SQUARE, (X,)),
        case("a tuple with lists in it", "rest", models.NestedTuple, SQUARE, (X,)),
        case("a copy with a list by keyword", "rest", models.CatByKeyword, SQUARE, (X,)),
        case(
            "a rule that works in place",
            "task",
            models.Squares,
            {torch.square: models.square_in_place_rule},
            (X,),
        ),
    ),
    fine_print={
        "What a rule returns may be the result of the model.": ("a number as the output",),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, with_rules),
)
