"""Exercise 8b.1: a tracer that knows shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    Expect,
    RandomModels,
    T,
    Vocabulary,
    ops,
)
from autograder.exercises.ch08b_shapes.MetaTracer import models
from autograder.exercises.ch08b_shapes.MetaTracer.models import Example, Make

HINTS = (
    """**Where to look.** Three things are needed, and you can write them one by one: a meta tensor
(or another value) for each node, kept by the tracer; Proxies that answer a question with it; the
list of what was asked.
Each node passes through one method of the Tracer. Each question is a method of the Proxy whose
name begins with two underscores. Trace a chain of two calls first, and print what you know of
each node.""",
    """**What to use.** `create_node` makes every node, also those of constants; a placeholder has
the name of the parameter in `node.target`. `Tracer.proxy(node)` makes each Proxy: there you can
give one of your own class. `x.shape` is an `fx.proxy.Attribute`, made in `__getattr__` of the
Proxy: it needs the same methods.
Section 8b.3 says what must be moved to meta besides the examples, and how nothing is drawn.
While you run a layer on meta tensors, FX still watches: section 8b.5 shows what to do.""",
    """**The values first.** Write this step, and print what it knows of a chain of two calls:

```python
    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        try:
            ...                               # what is the value of this node, on meta?
        except Exception:
            ...                               # then nothing is known
        return node
```""",
    """**A skeleton of the rest.**

```python
class MetaTracer(fx.Tracer):
    def __init__(self, **examples): ...

    def trace(self, root, concrete_args=None):
        ...                                   # begin again
        return super().trace(root, concrete_args)

    def proxy(self, node):
        return ...                            # one of your own class

    def call_module(self, m, forward, args, kwargs): ...
    def getattr(self, attr, attr_val, parameter_proxy_cache): ...

    def ask(self, node, question):
        ...                                   # note it; no value, or a tensor's value: TraceError
        return question(...)
```

The Proxy: `__len__`, `__iter__`, `__bool__`, `__int__`, `__index__`, and `__getattr__`.""",
)


@dataclass(frozen=True)
class Told(Expect):
    """Parts of an answer to judge in addition to the graph.

    Attributes:
        assumed: judge ``all`` of `assumed`, or only that it contains nothing ``old``.
    """

    assumed: Literal["", "old", "all"] = ""


ASSUMED, NOTHING_OLD = Told(assumed="all"), Told(assumed="old")


def one(
    name: str,
    aspect: str,
    make: Make,
    *shape: int,
    dtype: torch.dtype | None = None,
    how: str = "",
    training: bool = False,
    weights: torch.dtype = torch.float32,
    expect: Expect = Told(),  # noqa: B008 - it is frozen
    **others: Example,
) -> Case:
    """A case with one tracer, one model and one trace; `x` has this shape, if one is given."""
    x = {"x": Example(T(*shape, dtype=dtype), how)} if shape else {}
    build = models.Tracing((make,), ({**x, **others},), ((0, 0),), training, weights)
    return Case(name, aspect, build, expect)


def of(*shape: int) -> Example:
    """An example for an input."""
    return Example(T(*shape))


def several(
    name: str,
    makes: tuple[Make, ...],
    examples: tuple[dict[str, Example], ...],
    turns: tuple[tuple[int, int], ...],
    *,
    expect: Expect = Told(),  # noqa: B008 - it is frozen
) -> Case:
    """A case with several tracers, models or traces."""
    return Case(name, "state", models.Tracing(makes, examples, turns), expect)


VOCABULARY = Vocabulary(
    ops(
        "({a} * 2 if {a}.shape[-1] > 2 else {a} - 1)",
        "torch.stack([{n} * row for row in {x}])",
        "sum({x}[i] for i in range({x}.shape[0])) + {x}",
        "{x} / len({x})",
        "torch.cat([*{x}.chunk(2, dim=-1)][::-1], dim=-1)",
        "torch.cat(list({x}.split(1)))",
        "({a}.cos() if {a}.dim() % 2 else -{a})",
        "({a} + 1 if {a}.dtype == torch.float32 else {a} * 3)",
        "({x}.exp() if {x}.numel() == {y}.numel() else {y})",
        "({a}.abs() if {a}.is_floating_point() else {a})",
        "({a} * {#b} if {a}.shape == {#b}.shape else {a})",
        "{x}.reshape({x}.shape[0], -1).reshape({x}.shape)",
        "{x}.reshape(int({x}.shape[0]), -1).reshape({x}.shape)",
        "torch.stack([low - high for low, high in zip({x}, {y})])",
        "sum([nn.Linear(D, D)]({x})) + {x}",
        dims=(1, 4),
    )
    + COMMON,
    shapes=((2, 3), (3,), (2, 1, 3), (1, 2)),
    inputs=("", "tensor", "row"),
    namesakes=("input", "layer"),
    traced=False,
    most=6,
)  # fmt: skip

EXERCISE = Exercise(
    number=1,
    title="A tracer that knows shapes",
    stars=4,
    minutes=65,
    points=11,
    kind="shape_tracer",
    aspects=(
        Aspect("task", 2, "branches and loops on sizes"),
        Aspect("questions", 2, "unpacking, `list`, `int`, truth, `dim`, `numel`, `dtype` and more"),
        Aspect("unasked", 1, "what nobody asks stays in the graph"),
        Aspect("unknown", 1, "a question without an answer raises `TraceError`"),
        Aspect("leaves", 1, "layers, parameters, buffers and constants are run on meta, too"),
        Aspect("assumed", 1, "`assumed`: what was asked, once, in order"),
        Aspect("state", 1, "a trace starts again, of the same model or of another one"),
        Aspect("kept", 1, "model, examples and random state stay; of an example, only shape and "
               "dtype matter"),
    ),
    cases=(
        one("a branch on a size", "task", models.Branch, 3, 4),
        one("a loop over rows", "task", models.Rows, 3, 2),
        one("a loop over a size", "task", models.Counted, 2, 3),
        one("the number of rows, and of dimensions", "questions", models.Length, 4, 3),
        one("a slice up to a size", "questions", models.Tail, 3, 4),
        one("not only a number", "questions", models.Scalar, 2),
        one("a starred name", "questions", models.Starred, 2, 3),
        one("splats", "questions", models.Splat, 2, 4),
        one("lists and tuples", "questions", models.Listed, 3, 2),
        one("truth of sizes", "questions", models.Truth, 3, 3),
        one("integers", "questions", models.Types, 3, dtype=torch.int64),
        one("no floats", "questions", models.Floating, 3, dtype=torch.int32),
        one("sizes are handed on", "unasked", models.HandedOn, 3, 1),
        one("layers and tensors, nothing asked", "unasked", models.Layers, 2, 4),
        one("no example, nothing asked", "unasked", models.HandedOn),
        one("what meta cannot do, nothing asked", "unasked", models.Dynamic, 3, 2),
        one("a layer after what meta cannot do", "unasked", models.Behind, 3, 2),
        one("a branch on a value", "unknown", models.Value, 2, 3),
        one("a default is not an example", "unknown", models.Default, 2, 3),
        one("two names for three rows", "unknown", models.TooMany, 3, 2),
        one("a linear layer and a convolution", "leaves", models.Narrow, 2, 4),
        one("a buffer and a constant", "leaves", models.Offset, 3, 4),
        one("each once, in order", "assumed", models.Often, 2, 3, expect=ASSUMED),
        several(
            "the same model again",
            (models.Branch,),
            ({"x": of(3, 4)},),
            ((0, 0), (0, 0)),
            expect=NOTHING_OLD,
        ),
        several(
            "other roots",
            (models.Branch, models.HandedOn, models.Narrow),
            ({"x": of(2, 4)},),
            ((0, 0), (0, 2), (0, 1)),
            expect=NOTHING_OLD,
        ),
        several(
            "two names in another order",
            (models.Both, models.Pair),
            ({"x": of(2, 4), "input": of(2, 4)}, {"x": of(2, 5), "input": of(3, 4)}),
            ((1, 0), (0, 1), (0, 0), (1, 1)),
        ),
        several(
            "known in one root, not in the next",
            (models.Picked, models.Branch),
            ({"x": of(3, 4)},),
            ((0, 1), (0, 0)),
        ),
        one("training mode", "kept", models.Trained, 3, 4, training=True),
        one("noise", "kept", models.Noisy, 3, 4),
        one("an example on meta", "kept", models.Turned, 3, 4, how="meta"),
        one("an example that wants a gradient", "kept", models.Turned, 3, 4, how="grad"),
    ),
    fine_print={
        "Only shape and dtype of an example matter.": ("an example that wants a gradient",),
        (
            "Answered: `len`, loops, unpacking (with a star, splats, `list`); `range` and `int` "
            "of a size; comparisons and the truth of sizes, of `dim()` and `ndim`, `numel()`, "
            "`dtype`, `is_floating_point()`."
        ): (
            "a loop over rows",
            "a loop over a size",
            "the number of rows, and of dimensions",
            "a slice up to a size",
            "not only a number",
            "a starred name",
            "splats",
            "lists and tuples",
            "truth of sizes",
            "integers",
            "no floats",
            "redraw: columns",
        ),
        "Methods that write in place run on meta tensors, too.": ("an example on meta",),
        "Unpacking into the wrong number of names raises `ValueError`, as without a trace.": (
            "two names for three rows",
        ),
        (
            "Unknown: no example was given (a default does not count), or an operation cannot run "
            "on meta tensors."
        ): ("a default is not an example",),
        (
            "Unknown: no example was given (a default does not count), or an operation cannot run "
            "on meta tensors. That alone is not an error."
        ): (
            "no example, nothing asked",
            "what meta cannot do, nothing asked",
            "a layer after what meta cannot do",
        ),
        "A new `trace` starts again, even of another root.": (
            "the same model again",
            "other roots",
            "known in one root, not in the next",
            "redraw: asked after an error",
            "redraw: changes in place, twice",
        ),
    },
    hints=HINTS,
    random=RandomModels(
        VOCABULARY, models.some_examples, expect=Told(assumed="all", trace=models.as_one_node)
    ),
)  # fmt: skip
