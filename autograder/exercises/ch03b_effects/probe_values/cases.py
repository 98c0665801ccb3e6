"""Exercise 3b.1: call a probe after every node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
    T,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch03b_effects.probe_values import models
from autograder.exercises.ch03b_effects.probe_values.models import with_probe

X, WIDE = T(2, 3), T(4, 3)

HINTS = (
    """**Where to look.** `show_modules` in section 3b.1 inserts a call and rewires nothing.
Which nodes does it look at, and which are you asked for?
If FX complains about `__name__`: which kind of object always has one?""",
    """**What to use.** `graph.inserting_after(node)` and
`graph.call_function(function, (node.name, node))`.
A function that you define inside your pass can call `probe`, whatever `probe` is.""",
    """**A skeleton.**

```python
def call_probe(name, value):               # a function, so it has a name
    ...

gm = ...
for node in list(gm.graph.nodes):
    if node.op in ...:
        with ...:
            ...                            # the name as a string, the node as the value
...
```""",
)


def probe_case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: Any,
    probe: Callable[[models.Log], models.Probe] = models.function_probe,
    another: bool = False,
    **options: Any,
) -> Case:
    """A case whose probe writes to the trial's log."""
    plain = model_case(name, aspect, make, *inputs, **options)
    return replace(plain, make=models.Probed(plain.make, probe, another))


@dataclass(frozen=True)
class Stops(Expect):
    """The expectation of a case with a probe that raises.

    Attributes:
        probe_raises: the name of the exception that the probe raises.
    """

    probe_raises: str = ""


VOCABULARY = Vocabulary(
    ops(
        "torch.sin({a})",
        "{a} + {b}",
        "{a}.cos()",
        "[nn.Tanh()]({a})",
        "[nn.ReLU()]({a})",
        "{x}.mul_({n})",
        "{x}.add_({b})",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "{x}.reshape({x}.size())",
        "{a} * {#b}.dim()",
        "torch.maximum(input={a}, other={b})",
    )
    + COMMON,
    training=True,
    namesakes=("sin", "add"),
)


EXERCISE = Exercise(
    number=1,
    title="Watch without touching",
    stars=2,
    minutes=10,
    points=4,
    kind="transform",
    aspects=(
        Aspect("task", 2, "the probe sees the name and value of each call"),
        Aspect("kinds", 2, "functions, methods and modules, and nothing else"),
        Aspect("order", 1, "each directly after its node"),
        Aspect("readers", 2, "no reader is rewired, whatever the probe returns"),
        Aspect("probes", 2, "any callable object can be the probe"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        probe_case("three calls", "task", models.SinSum, (X,), (T(5),)),
        probe_case("modules and a parameter", "kinds", models.Layers, (X,), (WIDE,)),
        probe_case("lists, sizes and named tuples", "kinds", models.Collections, (X,)),
        probe_case("calls that nobody reads", "kinds", models.DeadEnd, (X,)),
        probe_case(
            "a check, in a model that trains in part",
            "kinds",
            models.Checked,
            (WIDE,),
            training=True,
            prepare=InEvaluation("norm"),
        ),
        probe_case("a value changed later", "order", models.Overwritten, (X,)),
        probe_case("several readers", "readers", models.Readers, (X, X)),
        probe_case(
            "a probe that answers", "readers", models.SinSum, (X,), probe=models.answering_probe
        ),
        probe_case(
            "a method as the probe", "probes", models.SinSum, (X,), probe=models.method_probe
        ),
        probe_case("an object of few words", "probes", models.SinSum, (X,), probe=models.Slots),
        probe_case("an object, and no copy", "probes", models.SinSum, (X,), probe=models.Unique),
        probe_case(
            "parameters by position only",
            "probes",
            models.SinSum,
            (X,),
            probe=models.nameless_probe,
        ),
        probe_case("the value itself", "probes", models.SameObject, (X,), probe=models.Recognizer),
        probe_case(
            "a probe that raises",
            "probes",
            models.SinSum,
            (X,),
            probe=models.stopping_probe,
            expect=Stops(probe_raises="Stop"),
        ),
        probe_case("two probes", "probes", models.SinSum, (X,), another=True),
        probe_case("names that are taken", "rest", models.NamesTaken, (X,)),
        probe_case("a graph module", "rest", models.traced_layers, (X,)),
    ),  # fmt: skip
    # The graph calls the probe, or a wrapper that the learner wrote. So the judge may not know all
    # targets, and cannot run the graph itself.
    fine_print={
        "The probes run in the order in which the nodes are executed, each right after its node.": (
            "a value changed later",
        ),
        "`probe` receives the value itself, not a copy.": ("the value itself",),
        "Its exceptions reach the caller of the module.": (
            "a probe that raises",
            "redraw: a probe that raises",
        ),
        "If two models have two probes, each model calls its own probe only.": ("two probes",),
        "The result of the module is unchanged, whatever `probe` returns.": (
            "a probe that answers",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, with_probe),
    own_code="skipped",
)
