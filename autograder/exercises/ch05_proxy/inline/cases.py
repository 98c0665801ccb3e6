"""Exercise 5.4: replace every call of a submodule by what the submodule does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from autograder.core.exercise import Aspect, Case, Exercise
from autograder.models import T, model_case
from autograder.models import inlining as zoo
from autograder.models import networks as networks
from autograder.rubric.inlining import (
    nothing_to_inline,
    original_names,
    shared_parameters,
    target_inlined,
)
from autograder.rules.passes import PASS
from autograder.syllabus.proxy import drawn_inline

X, WIDE = T(2, 3), T(4, 3)
_MISSING = "What does `model.get_submodule` do with a name that leads nowhere?"

HINTS = (
    """**Where to look.** `followed_by` in section 5.5 pastes one graph behind another.
Here you paste the graph of the submodule at each place where it is called.
What do its placeholders stand for at such a place, and what do its names lack?""",
    """**What to use.** A tracer with an `is_leaf_module` of its own, as `WithParts` in section 5.5.
`model.get_submodule(target)`; `fx.Tracer().trace(submodule)` gives the inner graph.

Make one dictionary a call, from inner nodes to what they stand for outside. Begin with the
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


def call_case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    target: str,
    *inputs: tuple[Any, ...],
    expect: dict[str, Any] | None = None,
    **options: Any,
) -> Case:
    """A case in which `target` is to be inlined."""
    expect = {"trace": zoo.keeping(target), **(expect or {})}
    return model_case(name, aspect, make, *inputs, extra=(target,), expect=expect, **options)


def missing_case(
    name: str, make: Callable[[], nn.Module], target: str, *, hidden: bool = False
) -> Case:
    """A case in which there is no such submodule."""
    expect = {"raises": "AttributeError", "look": _MISSING}
    return call_case(name, "none", make, target, expect=expect, hidden=hidden)


INLINE = Exercise(
    name="inline",
    chapter="05_proxy",
    title="Open a submodule",
    stars=3,
    minutes=30,
    points=6,
    procedure="transform",
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
        call_case("one call", "task", zoo.OneScale, "scale", (X,), (WIDE,)),
        call_case("a layer of PyTorch", "task", zoo.TwoLayers, "fc", (X,), (T(3),)),
        call_case("a call as the output", "task", zoo.AsOutput, "scale", (X,)),
        call_case("the input comes back", "task", zoo.InputBack, "keep", (X,)),
        call_case("a layer without parameters", "task", zoo.Functional, "act", (X,)),
        call_case("layers inside", "names", zoo.Namesakes, "block", (X,), (WIDE,)),
        call_case("a chain of layers", "names", zoo.Chained, "mlp", (X,)),
        call_case("modules in modules", "names", zoo.OneTower, "tower", (X,)),
        call_case("a dotted name", "names", zoo.OneTower, "tower.block", (X,)),
        call_case("a layer with a long name", "names", zoo.Stages, "stages.1.block.first", (X,)),
        call_case("three calls", "calls", zoo.ThreeCalls, "scale", (X, X), (WIDE, T(3))),
        call_case("inside what is called twice", "calls", zoo.BlockTwice, "block.first", (X, X)),
        call_case("a call that nobody reads", "calls", zoo.DeadCall, "scale", (X,)),
        call_case("keyword calls", "arguments", zoo.Keywords, "mix", (X, X), (WIDE, T(3))),
        call_case("a layer, called by keyword", "arguments", zoo.LayerKeyword, "fc", (X,)),
        call_case("defaults", "arguments", zoo.Defaults, "mix", (X, X)),
        call_case("a zero is given", "arguments", zoo.Zero, "mix", (X, X)),
        call_case("None is given", "arguments", zoo.NoneGiven, "clip", (X,)),
        call_case("arguments that are only keywords", "arguments", zoo.Named, "part", (X,)),
        call_case("the same names, crossed", "arguments", zoo.Crossed, "mix", (X, X)),
        call_case("lists as arguments", "arguments", zoo.Listed, "join", (X, X)),
        call_case("a pair, unpacked", "tuples", zoo.Unpacked, "waves", (X,)),
        call_case("a pair, by index", "tuples", zoo.Indexed, "waves", (X,)),
        call_case("a pair as the output", "tuples", zoo.Whole, "waves", (X,)),
        call_case("a pair as an argument", "tuples", zoo.Joined, "waves", (X,)),
        call_case("two pairs in a row", "tuples", zoo.Swapped, "swap", (X, X)),
        missing_case("no such name", zoo.OneScale, "missing"),
        missing_case("no such name inside", zoo.Namesakes, "block.second"),
        missing_case("half a name", zoo.Namesakes, "bloc"),
        call_case("never called", "none", zoo.NeverCalled, "spare", (X,)),
        call_case("in place", "rest", zoo.InPlace, "bump", (X,)),
        call_case("in place, unread", "rest", zoo.InPlaceUnread, "bump", (X,)),
        call_case("a layer that nobody calls", "rest", zoo.WithSpare, "part", (X,)),
        call_case("a signature", "rest", zoo.Scaled, "scale", (X,), (X, 3.0), (X, 3.0, 1.0)),
        call_case("a graph module", "rest", zoo.traced_layers, "fc2", (X,)),
        call_case("a module in a graph module", "rest", zoo.traced_with_block, "block", (X,)),
        call_case("training mode", "rest", zoo.OneNoisy, "noisy", (X,), training=True),
        call_case("a branch on the mode", "rest", zoo.Moody, "part", (X,), training=True),
        call_case("an encoder", "rest", networks.Encoder, "attention.1", (T(2, 3, 6),)),
        call_case("redraw: one call", "task", zoo.AsOutput, "scale", (T(1, 3),), hidden=True),
        call_case("redraw: names", "names", zoo.Stages, "stages.0", (X,), hidden=True),
        call_case("redraw: calls", "calls", zoo.BlockTwice, "block.act", (X, X), hidden=True),
        call_case("redraw: arguments", "arguments", zoo.Keywords, "mix", (T(3), X), hidden=True),
        call_case("redraw: tuples", "tuples", zoo.Swapped, "swap", (WIDE, WIDE), hidden=True),
        missing_case("redraw: no such name", zoo.Stages, "stages.2", hidden=True),
        call_case(
            "redraw: an encoder", "rest", networks.Encoder, "feed.0", (T(3, 6),), hidden=True
        ),
    ),  # fmt: skip
    rubric=(
        *PASS,
        target_inlined.because("names the call that was missed, before its name is odd"),
        original_names,
        shared_parameters,
        nothing_to_inline,
    ),
    hints=HINTS,
    random=drawn_inline.INLINE,
)
