"""Exercise 8.4: trace a model around modules that cannot be traced."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import fx, nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    Expect,
    InEvaluation,
    RandomModels,
    T,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch08_limits.keep_dynamic import models
from autograder.exercises.ch08_limits.keep_dynamic.models import Choose, Deciding, Halves, Repeat

X, WIDE = T(2, 3), T(4, 3)
DYNAMIC = (Choose, Repeat, Halves, models.Whole, Deciding, models.Strict, models.Clipped)

HINTS = (
    """**Where to look.** `call_module` in section 8.5 sees every call of a module, and the
exception that it raises. An exception passes through the innermost module first.
Which module is the cause: the one in whose own `forward` it began, or one around it?""",
    """**What to use.** A Tracer with a collection of modules that stay leaves. An attempt that
fails leaves nodes in the graph, so trace again from the beginning, with one more leaf, until it
works.
`try`/`except Exception` around `super().call_module(...)`; `raise` alone raises the same exception
again. Compare modules with `is`, or put them into a set: they can be hashed.""",
    """**A skeleton.**

```python
class Attempt(fx.Tracer):
    def __init__(self, dynamic):
        ...
        self.failed = None                 # the innermost module that raised

    def is_leaf_module(self, m, name):
        return ...

    def call_module(self, m, forward, args, kwargs):
        try:
            return super().call_module(m, forward, args, kwargs)
        except Exception:
            ...                            # the first to see it is the innermost
            raise

def keep_dynamic(model):
    dynamic = set()
    while True:
        tracer = Attempt(dynamic)
        try:
            graph = ...
        except Exception:
            if ...:                        # only the root can be the cause
                raise
            ...
        else:
            return ...
```""",
)


class Kept(fx.Tracer):
    """A tracer that knows which of the course's modules cannot be traced."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a module is called as a whole."""
        dynamic = isinstance(m, DYNAMIC) or getattr(m, "asks", False)
        return dynamic or super().is_leaf_module(m, module_qualified_name)


def trace_around(model: nn.Module) -> fx.GraphModule:
    """Trace one of these models with `Kept`."""
    tracer = Kept()
    graph = tracer.trace(model)
    return fx.GraphModule(tracer.root, graph)


def keep(name: str, aspect: str, make: Any, *inputs: Any, **options: Any) -> Case:
    """A case with a model that can be traced around its parts."""
    return model_case(
        name, aspect, make, *(inputs or ((X,),)), expect=Expect(trace=trace_around), **options
    )


def refused(name: str, make: Any, kind: str, **options: Any) -> Case:
    """A case with a model whose root cannot be traced."""
    advice = "It is the root's own code that raises. Which line of yours lets this through?"
    still = ("caller untouched", "the exception of tracing")
    expect = Expect(raises=kind, advice=advice, still_holds=still, trace=trace_around)
    return model_case(name, "root", make, (X,), expect=expect, **options)


VOCABULARY = Vocabulary(
    ops(
        "[Choose()]({x})",
        "[Choose()](flip=True, x={x})",
        "[Repeat()]({x})",
        "[Halves()]({x})[0]",
        "[Static()]({x})",
        "[Maybe()]({a})",
        "[Maybe(False)]({a})",
        "[Around()]({x})",
        "[Deciding()]({x})",
        "[nn.Sequential(Static(), nn.Sequential(Choose(), nn.ReLU()))]({x})",
        "[=Choose()]({x})",
        dims=(1, 4),
    )
    + COMMON,
    shapes=((2, 3), (3,), (2, 1, 3)),
    names={
        "Choose": Choose, "Repeat": Repeat, "Halves": Halves, "Deciding": Deciding,
        "Static": models.Static, "Around": models.Around, "Maybe": models.Maybe,
    },
    traced=False,
    most=6,
)  # fmt: skip

EXERCISE = Exercise(
    number=4,
    title="A trace around what cannot be traced",
    stars=3,
    minutes=20,
    points=6,
    kind="transform",
    aspects=(
        Aspect("task", 2, "a part that cannot be traced stays a leaf, the rest is traced"),
        Aspect("deep", 2, "leaves are as deep down as possible, and no attempt leaves a node"),
        Aspect("calls", 1, "parts that are called twice, shared, or return several values"),
        Aspect("root", 1, "if the root itself cannot be traced, its exception is raised"),
        Aspect("rest", 1, "models of every kind stay as they are"),
    ),
    cases=(
        keep("one dynamic part", "task", models.OneDynamic, (X,), (WIDE,)),
        keep("a size that is looped over", "task", models.Deep),
        keep("exceptions of every kind", "task", models.AllStrict),
        keep("settings that decide", "deep", models.Settings),
        keep("a dynamic part in a dynamic part", "deep", models.BothLevels),
        keep("a leaf's result that is gone through", "deep", models.GoneThrough),
        keep("a number that a part returns", "deep", models.NumberOfAPart),
        keep("a parameter that is read again", "deep", models.ReadAgain),
        keep("called several times", "calls", models.CalledTwice),
        refused("the root asks for a value", models.RootAsks, "TraceError"),
        keep("never called", "rest", models.NeverCalled),
        keep("settings of the root", "rest", partial(models.Static, False)),
        keep("other settings of the root", "rest", models.Static),
        keep(
            "in parts in training mode",
            "rest",
            models.Frozen,
            training=True,
            prepare=InEvaluation("norm"),
        ),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, expect=Expect(trace=trace_around)),
)
