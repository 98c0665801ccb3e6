"""Hidden cases of `recompute`."""

from __future__ import annotations

from autograder.exercises.ch13_partition.recompute import models
from autograder.exercises.ch13_partition.recompute.cases import named, refused

REDRAWS = (
    named("two readers", "task", models.BothOf, "sin"),
    named("a chain", "chains", models.Chain, "exp", "tanh", "sin"),
    named("readers", "readers", models.Twice, "sin", "add"),
    named("slices alone", "readers", models.Slices, "size"),
    named("layers", "rest", models.Layers, "block_0", "add"),
    refused("no such name", models.Chain, "relu", "sin"),
    refused("the path of a layer", models.Layers, "block.0", "mul"),
)
