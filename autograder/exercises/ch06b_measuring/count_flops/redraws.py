"""Hidden cases of `count_flops`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch06_interpreter.cases import run_case
from autograder.exercises.ch06b_measuring.count_flops import models
from autograder.models import networks

REDRAWS = (
    run_case("products", "products", models.MatmulSpellings, T(4, 3), T(3, 3)),
    run_case("one layer", "task", models.Owned, T(3, 2, 4)),
    run_case("tied layers", "spellings", models.TiedLayers, T(9, 3)),
    run_case("two layers", "spellings", models.OfTorch, T(3, 2, 4)),
    run_case("groups in their place", "spellings", models.PositionalConvs, T(2, 4, 6, 5)),
    run_case("the same calls again", "spellings", models.SameCalls, T(3, 2, 3)),
    run_case("inputs of two sizes", "spellings", models.TwoSizes, T(40, 3), T(2, 2, 5, 6)),
    run_case("a convolution", "convolutions", models.OneConv, T(1, 3, 6, 5)),
    run_case("an encoder", "networks", networks.Encoder, T(1, 3, 6)),
)
