"""Hidden cases of `merge_parallel_linears`."""

from __future__ import annotations

from autograder.authoring.question import model_case
from autograder.exercises.ch10b_parallel.merge_parallel_linears import models
from autograder.exercises.ch10b_parallel.merge_parallel_linears.cases import DEEP, X

REDRAWS = (
    model_case("a gate", "task", models.Gated, DEEP),
    model_case("one is not read", "places", models.Unread, X),
    model_case("written by keyword", "writes", models.WrittenInput, X),
    model_case("dropout writes", "writes", models.DroppedInPlace, X, training=True),
    model_case("none writes", "writes", models.InplaceIsFalse, X),
)
