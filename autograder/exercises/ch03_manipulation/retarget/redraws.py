"""Hidden cases of `retarget`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T, model_case
from autograder.exercises.ch03_manipulation.retarget import models
from autograder.exercises.ch03_manipulation.retarget.cases import X
from autograder.models import additions

REDRAWS = (
    model_case(
        "one call",
        "task",
        additions.SeveralReaders,
        (T(5), T(5)),
        extra=(torch.add, torch.maximum),
    ),
    model_case(
        "any keywords",
        "arguments",
        additions.SumKeywords,
        (X,),
        extra=(torch.sum, models.average),
        functions={"average": models.average},
    ),
    model_case(
        "calls with and without an input",
        "rest",
        models.SineOfAWeight,
        (X,),
        extra=(torch.sin, torch.cos),
    ),
)
