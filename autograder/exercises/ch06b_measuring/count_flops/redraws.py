"""Hidden cases of `count_flops`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch06_interpreter.cases import run_case
from autograder.exercises.ch06b_measuring.count_flops import models

REDRAWS = (
    run_case("one layer", "task", models.LinearThenRelu, T(5, 3)),
    run_case("tied layers", "spellings", models.TiedLayers, T(9, 3)),
    run_case("groups in their place", "spellings", models.PositionalConvs, T(2, 4, 6, 5)),
    run_case("the same calls again", "spellings", models.SameCalls, T(3, 2, 3)),
    run_case("inputs of two sizes", "spellings", models.TwoSizes, T(40, 3), T(2, 2, 5, 6)),
)
