"""Hidden cases of `partition`."""

from __future__ import annotations

import operator

import torch
from torch import nn

from autograder.exercises.ch13b_lowering.partition import models
from autograder.exercises.ch13b_lowering.partition.cases import (
    NOT_A_CALL,
    offered,
    takes,
    takes_all_but,
)

REDRAWS = (
    offered("a detour", "task", models.Past, takes_all_but((torch.sin,))),
    offered("two that cross", "between", models.Crosswise, takes((torch.sin, torch.maximum))),
    offered("few", "few", models.ManyToOne, takes((torch.sin,))),
    offered("layers", "kinds", models.Layers, takes_all_but(("layer",))),
    offered(
        "layers, looked up in the module", "kinds", models.Layers, models.TakesLayers(nn.Linear)
    ),
    offered("no call", "never", models.Layers, takes((operator.add, *NOT_A_CALL))),
    offered("a row", "long", models.another_row),
)
