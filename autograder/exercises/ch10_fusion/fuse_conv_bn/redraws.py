"""Hidden cases of `fuse_conv_bn`."""

from __future__ import annotations

from autograder.authoring.question import model_case
from autograder.exercises.ch10_fusion.fuse_conv_bn import models
from autograder.exercises.ch10_fusion.fuse_conv_bn.cases import X, Y

REDRAWS = (
    model_case("branches", "task", models.Branches, Y),
    model_case("one BatchNorm reads it twice", "left", models.OneNormTwice, X),
    model_case("its shape is read", "left", models.ShapeIsRead, X),
    model_case("statistics that are read", "gone", models.StatisticsAreRead, X),
)
