"""Hidden cases of `sort_graph`."""

from __future__ import annotations

import torch

from autograder.exercises.ch12_passes.sort_graph.cases import case
from autograder.exercises.ch12_passes.sort_graph.models import Entry, add, output, sin

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
        "inputs",
        "inputs",
        Entry("n2", torch.cat, (["x1", "n3", "n1"],)),
        sin("n1", "n3"),
        sin("n3", "x2"),
        output("n2"),
    ),
    case("rest", "rest", output("n1"), sin("n5", "n4"), sin("n4", "n1"), sin("n1", "x1")),
    case(
        "only the output", "rest", sin("n1", "x1"), output("n1"), sin("n2", "x2"), sin("n3", "n1")
    ),
    case(
        "a cycle",
        "cycles",
        sin("n5", "n4"),
        sin("n4", "n3"),
        sin("n3", "n2"),
        sin("n2", "n4"),
        output("x1"),
    ),
)
