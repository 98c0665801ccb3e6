"""Hidden cases of `partition`."""

from __future__ import annotations

import torch
from torch import nn

from autograder.exercises.ch13b_lowering.partition import models
from autograder.exercises.ch13b_lowering.partition.cases import (
    offered,
    takes_all_but,
)

REDRAWS = (
    offered("a detour", "task", models.Past, takes_all_but((torch.sin,))),
    offered(
        "layers, looked up in the module", "kinds", models.Layers, models.TakesLayers(nn.Linear)
    ),
)
