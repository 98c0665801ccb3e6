"""Hidden cases of `extract`."""

from __future__ import annotations

from dataclasses import replace

from autograder.authoring.question import T
from autograder.exercises.ch07_features.extract import models
from autograder.exercises.ch07_features.extract import models_overwritten as places
from autograder.exercises.ch07_features.extract.cases import WIDE, take, unknown

REDRAWS = (
    take("names", "names", models.Nested, {"body.0.0": "a", "head": "b", "stem": "c"}, (T(1, 3),)),
    take("called again", "names", models.Repeated, {"turn": "t", "turn_1": "u"}, (T(5, 3),)),
    take("pruned", "pruned", models.Branches, {"right.0": "r", "left.0": "l"}, (WIDE,)),
    take("in place", "in place", places.Chained, {"relu_": "a", "add": "b"}, (WIDE,)),
    take("another shape", "in place", places.ShapeAfter, {"linear": "before", "sum_1": "after"}),
    take("a parameter", "in place", places.OverParameter, {"shift": "before", "mul": "after"}),
    take("in a list", "pruned", places.ReadInAList, {"cat": "joined"}),
    take("names that begin alike", "pruned", models.BeginAlike, {"linear2": "second"}),
    take(
        "another dropout", "alias", places.ThroughAlphaDropout, {"linear": "before", "mul": "after"}
    ),
    take("by keyword", "in place", places.ByKeyword, {"mul": "a", "mul_1": "b", "mul_2": "c"}),
    take("alias", "alias", places.ThroughView, {"view": "v", "linear": "a", "mul": "b"}, (WIDE,)),
    replace(unknown("unknown", models.Nested, "layer", "stem")),
    replace(unknown("a part", models.Nested, "body", "head")),
    replace(unknown("a method", models.Weighted, "sum", "linear")),
)
