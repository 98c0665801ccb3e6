"""Hidden cases of `run_pipeline`."""

from __future__ import annotations

import torch

from autograder.exercises.ch12_passes.run_pipeline import models
from autograder.exercises.ch12_passes.run_pipeline.cases import piped
from autograder.exercises.ch12_passes.run_pipeline.models import ThreeSins

NOTING = models.Noting()

REDRAWS = (
    piped("two passes", "task", models.cos_to_tanh, models.first_sin_to_cos, make=ThreeSins),
    piped("a pass that keeps notes", "task", NOTING, checks=(models.WasCalled(NOTING),)),
    piped(
        "layers in layers",
        "undone",
        models.quiet_tidy,
        models.trips_over_a_layer,
        models.to_exp_and_a_copy,
        make=models.UnreadLayer,
        checks=(models.no_exp,),
    ),
    piped(
        "two that are equal",
        "report",
        models.Needed(torch.sin, torch.tanh),
        models.Needed(torch.sin, torch.tanh),
    ),
)
