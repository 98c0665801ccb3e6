"""Hidden cases of `relu_to_gelu_backend`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T
from autograder.exercises.ch11_pytorch2.models import ByHand, CompiledForTraining
from autograder.exercises.ch11_pytorch2.relu_to_gelu_backend import models
from autograder.exercises.ch11_pytorch2.relu_to_gelu_backend.cases import X, case

REDRAWS = (
    case("one after the other, by hand", "task", models.Chain, (X,), drive=ByHand),
    case(
        "whole numbers, by hand",
        "compiled",
        models.WholeNumbers,
        (T(2, 3, dtype=torch.int64),),
        drive=ByHand,
    ),
    case("what gives the same, by hand", "rest", models.Clamps, (X,), drive=ByHand),
    case("written later, by hand", "rest", models.WrittenLater, (X,), drive=ByHand),
    case(
        "two models with the same code, by hand",
        "compiled",
        models.OtherNames,
        (X,),
        drive=models.AfterItsDouble,
    ),
    case("gradients at zero", "compiled", models.Masked, (X,), drive=CompiledForTraining),
    case("gradients in place", "compiled", models.InPlace, (X,), drive=CompiledForTraining),
)
