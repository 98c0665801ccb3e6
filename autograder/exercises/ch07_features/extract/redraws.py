"""Hidden cases of `extract`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch07_features.extract import models
from autograder.exercises.ch07_features.extract import models_overwritten as places
from autograder.exercises.ch07_features.extract.cases import take

REDRAWS = (
    take("names", "names", models.Nested, {"body.0.0": "a", "head": "b", "stem": "c"}, (T(1, 3),)),
    take("another shape", "in place", places.ShapeAfter, {"linear": "before", "sum_1": "after"}),
    take("a parameter", "in place", places.OverParameter, {"shift": "before", "mul": "after"}),
    take("in a list", "pruned", places.ReadInAList, {"cat": "joined"}),
    take(
        "another dropout", "alias", places.ThroughAlphaDropout, {"linear": "before", "mul": "after"}
    ),
    take("by keyword", "in place", places.ByKeyword, {"mul": "a", "mul_1": "b", "mul_2": "c"}),
)
