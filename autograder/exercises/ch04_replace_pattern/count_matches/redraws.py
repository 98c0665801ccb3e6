"""Hidden cases of `count_matches`."""

from __future__ import annotations

from functools import partial

from autograder.exercises.ch04_replace_pattern.count_matches import models
from autograder.exercises.ch04_replace_pattern.count_matches.cases import count_case
from autograder.exercises.ch04_replace_pattern.models import (
    ReluChain,
    relu_of_relu,
    sum_of_two,
)

REDRAWS = (
    count_case("one after the other", "task", models.ThreeWaves, sum_of_two),
    count_case(
        "a pattern that trains, a model that does not",
        "rules",
        partial(ReluChain, 5),
        models.FewerWhileTraining,
    ),
    count_case("returned deep inside", "rules", models.InnerReturnedDeep, relu_of_relu),
)
