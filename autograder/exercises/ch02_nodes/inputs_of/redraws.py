"""Hidden cases of `inputs_of`."""

from __future__ import annotations

from autograder.exercises.ch02_nodes import models as shared
from autograder.exercises.ch02_nodes.inputs_of import models
from autograder.exercises.ch02_nodes.inputs_of.cases import graph_case

REDRAWS = (
    graph_case("nested", "nested", shared.ThroughContainers),
    graph_case("everything in everything", "once", models.by_hand_wide),
)
