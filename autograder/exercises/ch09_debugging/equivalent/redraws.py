"""Hidden cases of `equivalent`."""

from __future__ import annotations

from torch import fx

from autograder.authoring.question import T
from autograder.exercises.ch09_debugging.equivalent import models
from autograder.exercises.ch09_debugging.equivalent.cases import (
    ARGS,
    CLOSE,
    COMPARE,
    MODES,
    ROWS,
    X,
    compared,
)
from autograder.exercises.ch09_debugging.models import Draws, DrawsWithNaN

_ARGS_CLOSE = "What the argument is afterwards is compared as a result is: up to rounding."
_SHOWN = "A result may be a view of a buffer. What becomes of it when the buffers are put back?"

REDRAWS = (
    compared(
        "a tuple and a list", "values", models.Named, models.NamedInATuple, X, COMPARE, trials=1
    ),
    compared(
        "an argument with a NaN",
        "values",
        models.WithoutNaN,
        fx.symbolic_trace,
        DrawsWithNaN((T(3),)),
        CLOSE,
        trials=1,
    ),
    compared("another key", "values", models.Named, models.NamedAnew, X, COMPARE, trials=1),
    compared(
        "frozen, and laid out otherwise",
        "values",
        models.Turned,
        models.frozen_and_packed,
        ROWS,
        CLOSE,
        trials=1,
    ),
    compared(
        "another change of the argument",
        "arguments",
        models.AddsLate,
        models.AddsTwoLate,
        X,
        ARGS,
        trials=1,
    ),
    compared(
        "a list that grows",
        "arguments",
        models.Keeps,
        models.KeepsNothing,
        Draws((T(3), [])),
        ARGS,
        trials=1,
    ),
    compared(
        "a part in eval mode",
        "state",
        models.Net,
        models.without_dropout,
        ROWS,
        MODES,
        trials=1,
        prepare=models.drop_in_eval,
    ),
    compared(
        "rounding of an argument",
        "arguments",
        models.AddsInPlace,
        models.AddsRounded,
        X,
        _ARGS_CLOSE,
        trials=1,
    ),
    compared(
        "a shared total", "state", models.ShowsTotal, models.counting_twice, X, _SHOWN, trials=1
    ),
)
