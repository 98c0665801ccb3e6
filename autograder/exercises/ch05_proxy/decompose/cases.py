"""Exercise 5.2: replace calls by what rules record."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from autograder.core.exercise import Aspect, Case, Exercise
from autograder.models import T, model_case
from autograder.models import decomposing as zoo
from autograder.rubric.decomposing import recorded_in_the_new_graph, what_the_rules_record
from autograder.rules.passes import PASS
from autograder.syllabus.proxy import drawn_decompose

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
    ...                                    # what a rule is to see in place of an old node


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


SQUARE = {torch.square: zoo.square_rule}
ITEM = {operator.getitem: zoo.item_rule}
TWO = {torch.mean: zoo.two_rule}

DECOMPOSE = Exercise(
    name="decompose",
    chapter="05_proxy",
    title="Rules instead of nodes",
    stars=2,
    minutes=20,
    points=4,
    procedure="transform",
    aspects=(
        Aspect("task", 2, "calls are replaced by what their rules record"),
        Aspect("arguments", 2, "rules get the arguments of the call: several, lists, keywords"),
        Aspect("constants", 1, "a rule may return a constant or what it was given"),
        Aspect("once", 1, "rules are not applied to their own output"),
        Aspect("rest", 2, "the rest of the model is copied"),
    ),
    cases=(
        case("one call", "task", zoo.Square, SQUARE, (X,), (WIDE,)),
        case("as the output", "task", zoo.SquareOutput, SQUARE, (X,)),
        case("one after the other", "task", zoo.Squares, SQUARE, (X,)),
        case("two rules", "task", zoo.SquareAndTanh,
             {**SQUARE, torch.tanh: zoo.tanh_rule}, (X,), (T(3),)),
        case("a real model", "task", zoo.encoder,
             {operator.truediv: zoo.quotient_rule, torch.matmul: zoo.matmul_rule,
              operator.matmul: zoo.matmul_rule}, (T(1, 3, 6),)),
        case("several arguments", "arguments", zoo.Lerp, {torch.lerp: zoo.lerp_rule}, (X, X)),
        case("a parameter by keyword only", "arguments", zoo.Addcmul,
             {torch.addcmul: zoo.addcmul_rule}, (X, X)),
        case("a node by keyword", "arguments", zoo.KeywordSub, {torch.sub: zoo.sub_rule}, (X, X)),
        case("a list of nodes", "arguments", zoo.Stack, {torch.stack: zoo.stack_rule}, (X, X)),
        case("a list by keyword", "arguments", zoo.KeywordStack,
             {torch.stack: zoo.stack_rule}, (X, X)),
        case("a list in a tuple", "arguments", zoo.Picked, ITEM, (X,)),
        case("a slice", "arguments", zoo.Sliced, ITEM, (X,)),
        case("strings and None", "arguments", zoo.Div, {torch.div: zoo.div_rule}, (X, X)),
        case("numbers for a loop", "arguments", zoo.Cube, {torch.pow: zoo.pow_rule}, (X,)),
        case("operators", "arguments", zoo.Quotients,
             {operator.truediv: zoo.quotient_rule}, (X, X)),
        case("the same value twice", "arguments", zoo.SameTwice, {torch.sub: zoo.sub_rule}, (X,)),
        case("sizes", "arguments", zoo.Flatten, {torch.flatten: zoo.flatten_rule},
             (T(2, 1, 3),)),
        case("a number", "constants", zoo.TimesMean, TWO, (X,)),
        case("a number for another rule's loop", "constants", zoo.PowNumel,
             {torch.numel: zoo.three_rule, torch.pow: zoo.pow_rule}, (X,)),
        case("None", "constants", zoo.ClampMin, {torch.amin: zoo.none_rule}, (X,)),
        case("zero", "constants", zoo.SumOverArgmax, {torch.argmax: zoo.zero_rule}, (X,)),
        case("a number as the output", "constants", zoo.MeanOutput, TWO, (X,)),
        case("numbers in the output", "constants", zoo.MeanInside, TWO, (X,)),
        case("what it was given", "constants", zoo.Positives,
             {torch.positive: zoo.itself_rule}, (X,)),
        case("a size", "constants", zoo.Rows, {torch.numel: zoo.size_rule}, (X,)),
        case("a rule that calls its function", "once", zoo.Exp,
             {torch.exp: zoo.exp_twice_rule}, (X,)),
        case("its function, on its own result", "once", zoo.MulOfMul,
             {torch.mul: zoo.mul_rule}, (X, X)),
        case("a rule that calls another's function", "once", zoo.AddAndSub,
             {torch.sub: zoo.swap_sub_rule, torch.add: zoo.add_rule}, (X, X)),
        case("other spellings", "rest", zoo.OtherSpellings, {torch.add: zoo.add_rule}, (X, X)),
        case("a method of that name", "rest", zoo.Squared, SQUARE, (X,)),
        case("nested modules in training mode", "rest", zoo.Nested, SQUARE, (WIDE,),
             training=True),
        case("a graph module", "rest", zoo.traced_squares, SQUARE, (WIDE,)),
        case("parameters with defaults", "rest", zoo.Defaults, SQUARE, (X,), (X, 3.0, None, 1)),
        case("values that nobody reads", "rest", zoo.Dead, SQUARE, (X,)),
        case("changes in place", "rest", zoo.InPlace, SQUARE, (X,)),
        case("nested results", "rest", zoo.Aggregates, SQUARE, (X,)),
        case("names that are taken", "rest", zoo.TakenNames, SQUARE, (X, X)),
        case("no rules", "rest", zoo.Squares, {}, (X,)),
        case("redraw: one call", "task", zoo.Squares, {torch.square: zoo.exp_twice_rule},
             (T(3),), hidden=True),
        case("redraw: keywords", "arguments", zoo.Addcmul, {torch.addcmul: zoo.addcmul_rule},
             (T(5), T(5)), hidden=True),
        case("redraw: a list", "arguments", zoo.KeywordStack, {torch.stack: zoo.stack_rule},
             (T(2), T(2)), hidden=True),
        case("redraw: a number", "constants", zoo.MeanInside, {torch.mean: zoo.zero_rule},
             (T(2),), hidden=True),
        case("redraw: once", "once", zoo.Squares, {torch.square: torch.square}, (X,), hidden=True),
        case("redraw: the rest", "rest", zoo.Nested, {}, (WIDE,), hidden=True),
    ),
    rubric=(
        recorded_in_the_new_graph.because("says more about the plainest mistake than lint does"),
        *PASS,
        what_the_rules_record,
    ),
    hints=HINTS,
    random=drawn_decompose.DECOMPOSE,
)  # fmt: skip
