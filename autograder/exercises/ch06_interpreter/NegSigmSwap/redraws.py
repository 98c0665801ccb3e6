"""Hidden cases of `NegSigmSwap`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch06_interpreter.cases import X, class_case
from autograder.exercises.ch06_interpreter.NegSigmSwap import models

REDRAWS = (
    class_case("one of each", "task", models.AllFour, (T(5),)),
    class_case("a run that raises", "others", models.MayNotFit, (X, T(3, 2)), (X, T(2, 4))),
    class_case("changed between", "others", models.ChangedBetween, (X,)),
)
