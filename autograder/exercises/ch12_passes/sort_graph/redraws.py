"""Hidden cases of `sort_graph`."""

from __future__ import annotations

from autograder.exercises.ch12_passes.sort_graph.cases import case
from autograder.exercises.ch12_passes.sort_graph.models import add, output, sin

REDRAWS = (
    case(
        "two that wait",
        "task",
        add("n1", "n5", "x1"),
        sin("n2", "n1"),
        sin("n3", "x1"),
        sin("n4", "n2"),
        sin("n5", "x2"),
        sin("n6", "x2"),
        output("n4", "n3", "n6"),
    ),
    case(
        "only the output", "rest", sin("n1", "x1"), output("n1"), sin("n2", "x2"), sin("n3", "n1")
    ),
)
