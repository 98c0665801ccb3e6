"""Exercise 8.1: leaves of your own choice."""

from __future__ import annotations

from typing import Any

from torch import nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    RandomModels,
    Vocabulary,
    ops,
)
from autograder.exercises.ch08_limits.LeafTracer import models
from autograder.exercises.ch08_limits.LeafTracer.models import Block, Gate, Make, Shift, Tree

HINTS = (
    """**Where to look.** `KeepGates` in section 8.5 answers one question for the Tracer: is this
module a leaf? Here the answer depends on two arguments of the constructor.
Which modules were leaves before you wrote anything, and which line of yours keeps them?""",
    """**What to use.** `is_leaf_module(self, m, module_qualified_name)` is asked about each module
that is called; the name is the whole path, such as `block.gate`.
`isinstance` takes a tuple of classes, and knows subclasses.
`super().__init__()` makes what a Tracer needs; what you keep belongs to `self`.""",
    """**A skeleton.**

```python
class LeafTracer(fx.Tracer):
    def __init__(self, leaf_types=(), leaf_names=()):
        ...                                # the Tracer's own part
        ...                                # keep both

    def is_leaf_module(self, m, module_qualified_name):
        return ... or ... or ...           # by type, by name, or as usual
```""",
)


def one(
    name: str,
    aspect: str,
    make: Make,
    *args: Any,
    training: bool = False,
    **kwargs: Any,
) -> Case:
    """A case with one tracer and one model."""
    tracing = models.Tracing((make,), ((args, kwargs),), ((0, 0),), training)
    return Case(name, aspect, tracing)


def several(
    name: str,
    makes: tuple[Make, ...],
    tracers: tuple[dict[str, Any], ...],
    turns: tuple[tuple[int, int], ...],
) -> Case:
    """A case with several tracers or models."""
    made = tuple(((), kwargs) for kwargs in tracers)
    return Case(name, "state", models.Tracing(makes, made, turns))


VOCABULARY = Vocabulary(
    ops(
        "[Gate()]({x})",
        "[Gate()]({x}, scale={n})",
        "[OtherGate()]({x})",
        "[Block()]({x})",
        "[Shift()]({a})",
        "[nn.Sequential(nn.Linear(D, D), Shift())]({x})",
        "[nn.Sequential(Gate(), nn.Sequential(nn.ReLU(), Shift()))]({x})",
        "[OwnLinear(D, D)]({x})",
        "[=Gate()]({x})",
        dims=(1, 4),
    )
    + COMMON,
    shapes=((2, 3), (3,), (2, 1, 3)),
    namesakes=("gate", "part"),
    names={
        "Gate": Gate, "OtherGate": models.OtherGate, "Block": Block, "Shift": Shift,
        "OwnLinear": models.OwnLinear,
    },
    training=True,
    traced=False,
    most=6,
)  # fmt: skip

EXERCISE = Exercise(
    number=1,
    title="Leaves of your own choice",
    stars=2,
    minutes=10,
    points=4,
    kind="tracer",
    aspects=(
        Aspect("task", 2, "modules of the types and of the names stay leaves"),
        Aspect("types", 1, "subclasses, several types, a Sequential; the root is opened"),
        Aspect("names", 1, "names are whole, and not a part of another name"),
        Aspect("defaults", 2, "the rest is traced as usual"),
        Aspect("state", 1, "tracers share no state, and can be used again"),
    ),
    cases=(
        one("a type", "task", models.Two, leaf_types=(Gate,)),
        one("a name", "task", models.Two, leaf_names=("block.gate",)),
        one("a subclass", "types", models.Kinds, leaf_types=(Gate,)),
        one("a subclass of a subclass", "types", models.Descended, leaf_types=(Gate,)),
        one("two types, by position", "types", models.Layers, (nn.Sequential, models.OwnLinear)),
        one("the base class of a type", "types", models.Kinds, (models.OtherGate,)),
        one("parts of a type are called", "types", models.Reaches, (Block,)),
        one("a root of that type", "types", Tree, (Tree,), ()),
        one("names within names", "names", models.Numbered, leaf_names=("layers.1", "gate")),
        one("parts of a block are called", "names", models.Reaches, leaf_names=("block",)),
        one("nothing given", "defaults", models.Layers),
        one("a graph module inside", "defaults", models.Traced, (Shift,)),
        one("called twice", "defaults", models.CalledTwice, (Gate,), training=True),
        several(
            "one tracer for several models",
            (models.Two, models.Kinds),
            ({"leaf_types": (Shift,), "leaf_names": ("gate",)},),
            ((0, 0), (0, 1), (0, 0)),
        ),
        several(
            "two tracers at a time",
            (models.Two,),
            ({"leaf_types": (Gate,)}, {"leaf_names": ("block.shift",)}, {}),
            ((2, 0), (1, 0), (0, 0)),
        ),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.some_leaves),
)
