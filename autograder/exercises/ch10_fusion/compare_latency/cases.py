"""Exercise 10.3: two callables are measured against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograder.authoring.question import Aspect, Case, Exercise, Expect
from autograder.exercises.ch10_fusion.compare_latency.models import LatencyTrial, Plan

HINTS = (
    "**Where to look.** Section 10.4 lists what makes a measurement wrong, one thing after the "
    "other. Your function has a line against each.",
    "**What to use.** `time.perf_counter()` before and after one call; a list of times for each "
    "of the two; `statistics.median`; `torch.no_grad()` as a context manager, which also cleans "
    "up after an exception.",
    "**A skeleton.**\n\n"
    "```python\n"
    "times = ([], [])\n"
    "with ...:                          # no gradients\n"
    "    ...                            # one call of each, not measured\n"
    "    for _ in range(repeats):\n"
    "        for f, seconds in zip((a, b), times):\n"
    "            ...                    # one call, measured\n"
    "return ...\n"
    "```",
)

ON, OFF = "gradients on", "gradients off"


@dataclass(frozen=True)
class Latency(Expect):
    """What a case of `compare_latency` demands.

    Attributes:
        fails: the exception that one of the callables raises, which must come through.
    """

    fails: str = ""


def _case(
    name: str,
    aspect: str,
    a: Plan,
    b: Plan,
    *,
    gradients: str = ON,
    large: bool = False,
    nested: bool = False,
    hidden: bool = False,
    fails: str = "",
    **keywords: Any,
) -> Case:
    make = LatencyTrial(a, b, ((gradients, keywords),), large, nested)
    return Case(name, aspect, make, hidden, Latency(fails=fails))


FAST, SLOW = Plan(), Plan((5,))
UNEVEN = Plan((50, 4, 4, 1, 4))
"""After one call to warm up, neither the last call nor the one in the middle takes the median."""

EXERCISE = Exercise(
    name="compare_latency",
    number=3,
    chapter="10_fusion",
    title="Measure two models against each other",
    stars=2,
    minutes=12,
    points=4,
    kind="latency",
    aspects=(
        Aspect("task", 2, "the seconds of both, the first one's first"),
        Aspect("median", 1, "the median, of as many calls as were asked for"),
        Aspect("warm", 1, "after a warm-up of each, in turn"),
        Aspect("gradients", 2, "without gradients, and with the mode as before afterwards"),
        Aspect("modules", 1, "for modules, which stay as they are, and for any inputs"),
    ),
    cases=(
        _case("a slow one and a fast one", "task", SLOW, FAST, repeats=3),
        _case("a fast one and a slow one", "task", FAST, SLOW, repeats=2),
        _case("some calls take long", "median", UNEVEN, Plan((0.5,)), repeats=5),
        _case("each call takes longer", "median", Plan((1,), step=1), FAST, repeats=1),
        _case("as often as by default", "median", Plan((0.1,)), Plan((0.2,))),
        _case("more often than by default", "median", Plan((0.1,)), Plan((0.2,)), repeats=22),
        _case("a slow first call", "warm", Plan((1,), first=40), FAST, repeats=1),
        _case("the other one's first call", "warm", FAST, Plan((1,), first=40), repeats=1),
        _case("gradients are off", "gradients", FAST, FAST, gradients=OFF, repeats=2),
        _case("a call raises", "gradients", Plan(raises_at=3), FAST, repeats=4, fails="TooWarm"),
        _case("a first call raises", "gradients", FAST, Plan(raises_at=1), repeats=2,
              gradients=OFF, fails="TooWarm"),
        _case("modules", "modules", Plan((3,), module=True), Plan(module=True), repeats=3),
        _case("redraw: slow and fast", "task", Plan((6,)), Plan((2,)), repeats=4, hidden=True),
        _case("redraw: no tensors come first", "modules", FAST, Plan((3,)), repeats=2, nested=True,
              hidden=True),
        _case("redraw: uneven", "median", FAST, UNEVEN, repeats=5, hidden=True),
        _case("redraw: many long calls, and a large input", "median", Plan((0.2,)), Plan((55,)),
              repeats=10, large=True, hidden=True),
        _case("redraw: a hook", "modules", Plan(hooked=True), FAST, repeats=2, hidden=True),
        _case("redraw: a module", "modules", FAST, Plan((4,), module=True), repeats=2,
              gradients=OFF, hidden=True),
    ),
    key=f"{__package__}.key",
    hints=HINTS,
    not_random="what it is given is called, and never looked at",
)  # fmt: skip
