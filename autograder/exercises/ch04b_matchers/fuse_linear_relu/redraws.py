"""Hidden cases of `fuse_linear_relu`."""

from __future__ import annotations

from autograder.authoring.question import T, model_case
from autograder.exercises.ch04b_matchers.fuse_linear_relu import models
from autograder.exercises.ch04b_matchers.fuse_linear_relu.cases import X3

REDRAWS = (
    model_case("in training mode", "task", models.TwoLayers, X3, training=True),
    model_case("of a parameter", "types", models.OfAnEmbedding, X3),
    model_case("a layer and what is in it", "types", models.LeafInPart, (T(2, 2, 4),)),
)
