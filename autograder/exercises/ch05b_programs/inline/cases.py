"""Exercise 5b.1: replace every call of a submodule by the submodule's own operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import fx, nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    Expect,
    RandomModels,
    Recipe,
    T,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch05b_programs.inline import models
from autograder.exercises.ch05b_programs.inline.models import PARTS, with_target

X, WIDE = T(2, 3), T(4, 3)
_MISSING = "What does `model.get_submodule` do with a name that leads nowhere?"

HINTS = (
    """**Where to look.** `followed_by` in section 5b.1 pastes one graph after another.
Here you paste the graph of the submodule at each place where it is called.
Which values do its placeholders get at such a place, and what is missing in its names?""",
    """**What to use.** A tracer with an `is_leaf_module` of its own, as `WithParts` in
section 5b.1. (There is a shorter way, too: such a tracer can also go into more modules than usual.)
`model.get_submodule(target)`; `fx.Tracer().trace(submodule)` gives the inner graph.

Make one dictionary for each call, from inner nodes to their values outside. Begin with the
placeholders: the next positional argument, or the keyword of that name (`node.target`), or
the default (`node.args`). Ask whether a keyword *is there*, not whether its value is true.

`node.target` of a `get_attr` or `call_module` node needs the prefix.
What the submodule returns may be a tuple of nodes: `map_arg` looks into it.""",
    """**A skeleton.**

```python
submodule = ...                            # raises AttributeError by itself
outer, inner = ..., ...                    # two graphs

def paste(args, kwargs):                   # the inner graph, once
    inside = {}
    for node in inner.nodes:
        if node.op == "placeholder":
            inside[node] = ...
        elif node.op == "output":
            return ...
        else:
            inside[node] = graph.node_copy(node, ...)
            if ...:                        # a name that is short of its prefix
                ...

graph, env = fx.Graph(), {}
for node in outer.nodes:
    if ...:                                # a call of the target
        env[node] = paste(...)
    else:
        env[node] = graph.node_copy(node, ...)
return ...
```""",
)


VOCABULARY = Vocabulary(
    ops(
        "[Scale()]({x}) - [=Scale()]({y})",
        "[Block()]({x})",
        "[Block()]([=Block()]({x}))",
        "[Tower()]({x})",
        "[Mix()]({x}, b={y}, scale={n})",
        "[Mix()](b={x}, a={y})",
        "[Mix()]({x}, {y}, 0)",
        "[Clip()]({a}, None, 0.5)",
        "[Clip()](low=0.25, high=None, x={a})",
        "[KeywordOnly()]({a}, scale={b})",
        "[KeywordOnly()]({x}, shift={y}, scale=2)",
        "[Join()]([{x}, {y}]).sum() * {x}",
        "[Waves()]({x})[1]",
        "[Swap()]({x}, b={y})[0]",
        "[Keep()]({x})",
        "[Bump()]({x})",
        "[nn.Linear(3, 3)](input={x})",
        "[nn.ReLU()]({a}) - [=nn.ReLU()]({b})",
        "[nn.Sequential(nn.Linear(3, 3), nn.Tanh())]({x})",
        "[nn.Sequential(nn.Tanh(), Block())]({x})",
        "[Block()]({x}) * [Block()]({y})",
        "[Clip()](high=[Keep()]({a}), x={x})",
        "{a} * [nn.Parameter(torch.ones(3))]",
    )
    + ops("[Waves()]({x})", "[Swap()]({x}, {y})", outs=2)
    + ops("[Scale()]({x})", "[Bump()]({x})", outs=0)
    + COMMON[:5],
    shapes=((2, 3), (3,), (2, 1, 3)),
    training=True,
    traced=False,
    second_names=False,
    namesakes=("first", "weight", "act"),
    names={part.__name__: part for part in PARTS},
)


def trace_around_target(model: nn.Module) -> fx.GraphModule:
    """The trace of a random model in which each call of the target is one node."""
    return models.trace_keeping(models.TARGETS[model], model)


def expected(recipe: Recipe) -> Expect:
    """The expectation of a random case: its trace, and the error if the name does not exist."""
    if recipe.choice % 8 == 7:
        return Expect(raises="AttributeError", advice=_MISSING, trace=trace_around_target)
    return Expect(trace=trace_around_target)


def call_case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    target: str,
    *inputs: tuple[Any, ...],
    raises: str = "",
    advice: str = "",
    **options: Any,
) -> Case:
    """A case in which the answer must inline `target`."""
    expect = Expect(raises, advice, trace=partial(models.trace_keeping, target))
    return model_case(name, aspect, make, *inputs, extra=(target,), expect=expect, **options)


def missing_case(name: str, make: Callable[[], nn.Module], target: str) -> Case:
    """A case whose target does not exist."""
    return call_case(name, "none", make, target, raises="AttributeError", advice=_MISSING)


EXERCISE = Exercise(
    number=1,
    title="Open a submodule",
    stars=3,
    minutes=30,
    points=6,
    kind="transform",
    aspects=(
        Aspect("task", 2, "a call is replaced by the submodule's own graph"),
        Aspect("names", 2, "parameters and inner layers keep their qualified names"),
        Aspect("calls", 2, "several calls, each with its own values"),
        Aspect("arguments", 2, "keyword calls and defaults"),
        Aspect("tuples", 1, "a submodule that returns a tuple"),
        Aspect("none", 1, "a submodule that is missing, or never called"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        call_case("one call", "task", models.OneScale, "scale", (X,), (WIDE,)),
        call_case("layers inside", "names", models.Namesakes, "block", (X,), (WIDE,)),
        call_case("the same name inside", "names", models.SameNameInside, "act", (X,)),
        call_case("a dotted name", "names", models.OneTower, "tower.block", (X,)),
        call_case("three calls", "calls", models.ThreeCalls, "scale", (X, X), (WIDE, T(3))),
        call_case(
            "the same call twice, drawn again",
            "calls",
            models.TwiceNoisy,
            "noisy",
            (X,),
            training=True,
        ),
        call_case("keyword calls", "arguments", models.Keywords, "mix", (X, X), (WIDE, T(3))),
        call_case("a layer, called by keyword", "arguments", models.LayerKeyword, "fc", (X,)),
        call_case("None is given", "arguments", models.NoneGiven, "clip", (X,)),
        call_case("lists by keyword", "arguments", models.ListedByKeyword, "join", (X, X)),
        call_case("a pair, unpacked", "tuples", models.Unpacked, "waves", (X,)),
        call_case("a tuple in a tuple, and numbers", "tuples", models.NestedPair, "nested", (X,)),
        missing_case("no such name", models.OneScale, "missing"),
        call_case("never called", "none", models.NeverCalled, "spare", (X,)),
        call_case("in place", "rest", models.InPlace, "bump", (X,)),
        call_case("in place, unread", "rest", models.InPlaceUnread, "bump", (X,)),
        call_case("the name of a method", "rest", models.NamedAsMethod, "tanh", (X,)),
        call_case("the name of an input", "rest", models.NamedAsInput, "scale", (X,), (X, 3.0)),
        call_case("a layer that nobody calls", "rest", models.WithSpare, "part", (X,)),
        call_case("a graph module", "rest", models.traced_layers, "fc2", (X,)),
    ),
    fine_print={
        (
            "Tracing keeps the submodule a leaf, whatever its class; which other modules "
            "are leaves is as usual."
        ): (
            "layers inside",
            "the same name inside",
        ),
        "If it is never called: the graph as it was traced.": ("never called",),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, with_target, expect=expected),
)
