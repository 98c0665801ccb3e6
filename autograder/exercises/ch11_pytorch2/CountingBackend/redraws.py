"""Hidden cases of `CountingBackend`."""

from __future__ import annotations

from autograder.exercises.ch11_pytorch2.CountingBackend import models
from autograder.exercises.ch11_pytorch2.CountingBackend.cases import X, case

REDRAWS = (
    case("one graph twice, by hand", "task", models.Waves, (X,), (X,), drive=models.CountingByHand),
    case("no operation, by hand", "task", models.NothingToDo, (X,), drive=models.CountingByHand),
    case(
        "attributes and a default, by hand",
        "names",
        models.Attributes,
        (X,),
        drive=models.CountingByHand,
    ),
    case(
        "its input is written, by hand",
        "runs",
        models.WritesItsInput,
        (X,),
        drive=models.CountingByHand,
    ),
)
