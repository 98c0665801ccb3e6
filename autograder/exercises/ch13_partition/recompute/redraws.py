"""Hidden cases of `recompute`."""

from __future__ import annotations

from autograder.exercises.ch13_partition.recompute import models
from autograder.exercises.ch13_partition.recompute.cases import named, refused

REDRAWS = (
    named("two readers", "task", models.BothOf, "sin"),
    named("slices alone", "readers", models.Slices, "size"),
    refused("the path of a layer", models.Layers, "block.0", "mul"),
)
