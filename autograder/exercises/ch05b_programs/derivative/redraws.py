"""Hidden cases of `derivative`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch05b_programs.derivative import models
from autograder.exercises.ch05b_programs.derivative.cases import X, slope_case

REDRAWS = (
    slope_case("rules", "rules", models.difference, T(1, 4)),
    slope_case("many digits", "constants", models.many_digits, X),
    slope_case("an alpha", "spellings", models.alphas_of_zero, X),
    slope_case("two alphas", "spellings", models.alphas_of_equal_calls, X),
)
