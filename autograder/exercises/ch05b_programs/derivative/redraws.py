"""Hidden cases of `derivative`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch05b_programs.derivative import models
from autograder.exercises.ch05b_programs.derivative.cases import CUBE, POINT, X, slope_case

REDRAWS = (
    slope_case("rules", "rules", models.difference, T(1, 4)),
    slope_case("used twice", "twice", models.cubic, X),
    slope_case("chains", "chains", models.damped, X),
    slope_case("spellings", "spellings", models.total, T(2, 2)),
    slope_case("many digits", "constants", models.many_digits, X),
    slope_case("an alpha", "spellings", models.alphas_of_zero, X),
    slope_case("two alphas", "spellings", models.alphas_of_equal_calls, X),
    slope_case("constants", "constants", models.add_one, CUBE),
    slope_case("again", "again", models.damped, X, times=2),
    slope_case("a parameter", "rest", models.reserved, POINT),
    slope_case("other names", "rest", models.cubic, X, traced=True, other_names=True),
)
