"""Hidden cases of `capture_step`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T
from autograder.exercises.ch16_training.capture_step import models
from autograder.exercises.ch16_training.capture_step.cases import LONG, step

REDRAWS = (
    step("five rows", "task", models.TwoLayers, T(5, 2), T(5, 3), dtype=torch.float64),
    step("a frozen projection", "params", models.Attention, prepare=models.half_frozen, **LONG),
    step("a counter in evaluation mode", "buffers", models.Counter, training=False),
)
