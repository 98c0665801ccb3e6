"""Exercise 10.3: compare the speed of two callables."""

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
    """The requirements of a case of `compare_latency`.

    Attributes:
        fails: the exception that one callable raises, and that must reach the caller.
    """

    fails: str = ""


def timed(
    name: str,
    aspect: str,
    a: Plan,
    b: Plan,
    *,
    gradients: str = ON,
    large: bool = False,
    nested: bool = False,
    fails: str = "",
    **keywords: Any,
) -> Case:
    """A case: two models whose calls take planned times."""
    make = LatencyTrial(a, b, ((gradients, keywords),), large, nested)
    return Case(name, aspect, make, Latency(fails=fails))


FAST, SLOW = Plan(), Plan((5,))
UNEVEN = Plan((50, 4, 4, 1, 4))
"""After one warm-up call, neither the last nor the middle call takes the median time."""

EXERCISE = Exercise(
    number=3,
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
        timed("a slow one and a fast one", "task", SLOW, FAST, repeats=3),
        timed("some calls take long", "median", UNEVEN, Plan((0.5,)), repeats=5),
        timed("each call takes longer", "median", Plan((1,), step=1), FAST, repeats=1),
        timed("as often as by default", "median", Plan((0.1,)), Plan((0.2,))),
        timed("more often than by default", "median", Plan((0.1,)), Plan((0.2,)), repeats=22),
        timed("a slow first call", "warm", Plan((1,), first=40), FAST, repeats=1),
        timed("gradients are off", "gradients", FAST, FAST, gradients=OFF, repeats=2),
        timed("a call raises", "gradients", Plan(raises_at=3), FAST, repeats=4, fails="TooWarm"),
        timed("modules", "modules", Plan((3,), module=True), Plan(module=True), repeats=3),
    ),
    hints=HINTS,
    not_random="what it is given is called, and never looked at",
)  # fmt: skip
