"""Hidden cases of `run_pipeline`."""

from __future__ import annotations

import torch

from autograder.exercises.ch12_passes.run_pipeline import models
from autograder.exercises.ch12_passes.run_pipeline.cases import ALL, TOO_LONG, piped
from autograder.exercises.ch12_passes.run_pipeline.models import ThreeSins

NOTING = models.Noting()

REDRAWS = (
    piped("two passes", "task", models.cos_to_tanh, models.first_sin_to_cos, make=ThreeSins),
    piped("a pass that keeps notes", "task", NOTING, checks=(models.WasCalled(NOTING),)),
    piped("a quiet pass", "believed", models.one_more_quietly, models.sin_to_cos),
    piped("halfway", "undone", models.half_done, models.in_a_copy, make=models.WithBuffers),
    piped(
        "layers in layers",
        "undone",
        models.quiet_tidy,
        models.trips_over_a_layer,
        models.to_exp_and_a_copy,
        make=models.UnreadLayer,
        checks=(models.no_exp,),
    ),
    piped("checks", "checks", models.to_exp_in_a_copy, models.out_of_order, checks=ALL),
    piped("report", "report", models.gives_nothing, models.asserts),
    piped(
        "two that are equal",
        "report",
        models.Needed(torch.sin, torch.tanh),
        models.Needed(torch.sin, torch.tanh),
    ),
    piped("limit", "limit", models.one_more, limit=2, expect=TOO_LONG),
)
