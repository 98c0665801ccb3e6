"""Hidden cases of `compare_latency`."""

from __future__ import annotations

from autograder.exercises.ch10_fusion.compare_latency.cases import FAST, timed
from autograder.exercises.ch10_fusion.compare_latency.models import Plan

REDRAWS = (
    timed("slow and fast", "task", Plan((6,)), Plan((2,)), repeats=4),
    timed("no tensors come first", "modules", FAST, Plan((3,)), repeats=2, nested=True),
    timed(
        "many long calls, and a large input",
        "median",
        Plan((0.2,)),
        Plan((55,)),
        repeats=10,
        large=True,
    ),
    timed("a hook", "modules", Plan(hooked=True), FAST, repeats=2),
)
