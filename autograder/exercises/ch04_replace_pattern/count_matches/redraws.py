"""Hidden cases of `count_matches`."""

from __future__ import annotations

from functools import partial

from autograder.authoring.question import Traced
from autograder.exercises.ch04_replace_pattern.count_matches import models
from autograder.exercises.ch04_replace_pattern.count_matches.cases import count_case
from autograder.exercises.ch04_replace_pattern.models import (
    ReluChain,
    one_relu,
    relu_of_relu,
    sum_of_two,
)

REDRAWS = (
    count_case("in eval mode", "caller", models.MoreWhileTraining, models.sin_plus),
    count_case(
        "a pattern that trains, a model that does not",
        "rules",
        partial(ReluChain, 5),
        models.FewerWhileTraining,
    ),
    count_case("a longer chain", "rules", partial(ReluChain, 8), relu_of_relu),
    count_case("returned deep inside", "rules", models.InnerReturnedDeep, relu_of_relu),
    count_case("one after the other", "task", models.Residual, sum_of_two),
    count_case("in a graph module", "caller", Traced(partial(ReluChain, 4)), one_relu),
)
