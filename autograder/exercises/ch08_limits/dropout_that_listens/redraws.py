"""Hidden cases of `dropout_that_listens`."""

from __future__ import annotations

from autograder.authoring.question import model_case
from autograder.exercises.ch08_limits.dropout_that_listens import models
from autograder.exercises.ch08_limits.dropout_that_listens.cases import WIDE, X

REDRAWS = (
    model_case("a call", "task", models.NeverActive, (X,), (X, 3.0)),
    model_case("probabilities", "own", models.OtherRates, (WIDE,)),
)
