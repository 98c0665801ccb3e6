"""Exercise 6b.1: time spent in each node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Exercise,
    Expect,
    RandomModels,
    T,
    Vocabulary,
    ops,
)
from autograder.exercises.ch06_interpreter.cases import KINDS, X, class_case
from autograder.exercises.ch06b_measuring.OpTimer import models
from autograder.models.running import Exactly

HINTS = (
    "`run_node` knows the node, and with it the name and the opcode. "
    "Read the clock before and after what the method of the base class does.",
    "`time.perf_counter()` is the clock for this. What comes after the operation in your method "
    "is not reached when the operation raises, unless you put it into a `finally`. "
    "`sorted(names, key=..., reverse=True)` sorts.",
    "```python\n"
    "def run_node(self, n):\n"
    "    if ...:  # a placeholder, a get_attr or the output\n"
    "        return super().run_node(n)\n"
    "    start = ...\n"
    "    value = ...\n"
    "    ...  # add to seconds and to calls, under the node's name\n"
    "    return value\n"
    "```",
)

GOOD, TWICE, BAD = Exactly(1.0, 2.0), Exactly(2.0, 4.0), Exactly(-1.0, -2.0)


@dataclass(frozen=True)
class Timing(Expect):
    """The expectation of a case of `OpTimer`.

    Attributes:
        slow: the minimum time of some nodes, by name, in units of `models.SPIN`.
        ranked: whether the judge checks the results of ``slowest``.
        second_timer: whether the judge checks the last run, which a second timer makes.
    """

    slow: Mapping[str, float] = field(default_factory=dict)
    ranked: bool = False
    second_timer: bool = False


VOCABULARY = Vocabulary(
    ops(
        "torch.relu({a})",
        "{a}.abs()",
        "[nn.ReLU()]({a})",
        "{x} + [nn.Parameter(torch.ones(()))]",
        "{x}.mul_({b})",
    )
    + ops("torch._assert({a}.dim() < 9, 'too many')", outs=0)
    + ops("[nn.Sequential(nn.Linear(D, D), nn.ReLU())]({x})", dims=(1, 4))
    + COMMON,
    inputs=KINDS,
    namesakes=("relu", "add"),
)


EXERCISE = Exercise(
    number=1,
    title="Time spent in each node",
    stars=2,
    minutes=15,
    points=4,
    kind="timer",
    aspects=(
        Aspect("task", 2, "each call is counted and its time added up, by the node's name"),
        Aspect("kinds", 2, "functions, methods and modules, in every model; the result is kept"),
        Aspect("slowest", 1, "`slowest(n)` gives the names by time spent, longest first"),
        Aspect(
            "errors", 1, "an operation that raises is not counted, and its error passes through"
        ),
        Aspect("own", 1, "each timer has times of its own"),
    ),
    cases=(
        class_case(
            "a slow function",
            "task",
            models.OneSlow,
            (X,),
            (T(4),),
            (T(1),),
            expect=Timing(slow={"slow": 1}),
        ),
        class_case(
            "a function that waits",
            "task",
            models.OneWaits,
            (X,),
            (X,),
            expect=Timing(slow={"wait": 3, "slow": 1}),
        ),
        class_case("calls of every kind", "kinds", models.EveryKind, (X,), (T(4, 3), 0.5)),
        class_case("calls without a value", "kinds", models.Checked, (X,), (T(4),)),
        class_case(
            "two slow functions",
            "slowest",
            models.TwoSlow,
            (X,),
            (X,),
            (X,),
            expect=Timing(slow={"slow": 1, "slow_1": 3, "slow_2": 1}, ranked=True),
        ),
        class_case(
            "a slow function, more often than a slower one",
            "slowest",
            models.SlowThenRefuses,
            (GOOD,),
            (BAD,),
            (BAD,),
            (BAD,),
            expect=Timing(ranked=True),
        ),
        class_case(
            "a function that raises",
            "errors",
            models.MayRefuse,
            (GOOD,),
            (BAD,),
            (TWICE,),
            (BAD,),
            (GOOD,),
        ),
        class_case(
            "two timers", "own", models.EveryKind, (X,), (X,), expect=Timing(second_timer=True)
        ),
    ),
    fine_print={
        "The time counts whether the processor works or waits.": ("a function that waits",),
        "The error of an operation passes through as it is.": ("a function that raises",),
    },
    hints=HINTS,
    random=RandomModels(
        VOCABULARY, models.timed, expect=Timing(ranked=True, second_timer=True, may_raise=True)
    ),
)
