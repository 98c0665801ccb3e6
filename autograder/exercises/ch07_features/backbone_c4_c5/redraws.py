"""Hidden cases of `backbone_c4_c5`."""

from __future__ import annotations

from autograder.exercises.ch07_features.backbone_c4_c5.cases import PAIR, WIDE, resnet_case
from autograder.models import resnets

REDRAWS = (
    resnet_case("one block", "task", resnets.one_block_each, WIDE),
    resnet_case("training mode", "mode", resnets.bottlenecks, PAIR, training=True),
)
