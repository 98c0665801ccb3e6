"""Hidden cases of `decomposition_rules`."""

from __future__ import annotations

from autograder.exercises.ch05_proxy.decomposition_rules import models
from autograder.exercises.ch05_proxy.decomposition_rules.cases import (
    CUBE,
    F64,
    INF,
    NAN,
    values_case,
)

NOT_SO_LARGE = [-17.0, -15.5, -14.6, -9.0, 9.0, 13.0, 14.6, 15.0, 15.5, 17.0]

REDRAWS = (
    values_case("three at once", "task", models.AllThree, [[1.0, -3.0, 0.2]], dtypes=(F64,)),
    values_case("silu of 15", "large", models.Silu, NOT_SO_LARGE),
    values_case(
        "softmax", "softmax", models.SoftmaxFirst, [[-INF, INF, 1.0], [2.0, 0.0, NAN]], CUBE
    ),
)
