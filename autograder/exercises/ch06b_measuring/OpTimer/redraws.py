"""Hidden cases of `OpTimer`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch06_interpreter.cases import X, class_case
from autograder.exercises.ch06b_measuring.OpTimer import models
from autograder.exercises.ch06b_measuring.OpTimer.cases import BAD, GOOD, TWICE, Timing

REDRAWS = (
    class_case(
        "a slow function",
        "task",
        models.SlowFirst,
        (T(2, 2),),
        (X,),
        expect=Timing(slow={"slow": 1}),
    ),
    class_case(
        "many quick calls", "slowest", models.ManyQuick, (X,), (X,), expect=Timing(ranked=True)
    ),
    class_case(
        "work that is lost", "errors", models.RefusesLate, (BAD,), (GOOD,), (BAD,), (TWICE,)
    ),
    class_case(
        "two timers", "own", models.MayRefuse, (BAD,), (GOOD,), expect=Timing(second_timer=True)
    ),
)
