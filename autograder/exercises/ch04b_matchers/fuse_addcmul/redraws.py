"""Hidden cases of `fuse_addcmul`."""

from __future__ import annotations

from autograder.authoring.question import T, Traced, model_case
from autograder.exercises.ch04b_matchers.fuse_addcmul import models
from autograder.exercises.ch04b_matchers.fuse_addcmul.cases import FOUR, WIDE

REDRAWS = (
    model_case("two shapes", "task", models.ProductLeftTwice, FOUR[:3]),
    model_case("mixed", "spellings", Traced(models.Keywords), WIDE),
    model_case("a long sum", "chains", Traced(models.LongSum), (T(2), T(2), T(2), T(2))),
)
