"""Trials of `backbone_c4_c5`: a ResNet, and a watch on torchvision's extractor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from autograder.authoring.models import T, Trial, arguments
from autograder.models import networks
from autograder.models.torchvision_parts import DualGraphModule

MADE_BY = "__init__"
"""The method to watch: torchvision calls it to make an extractor."""


@dataclass(frozen=True, eq=False)
class ResNetTrial:
    """Builds a trial of a ResNet with its own weights, in one mode."""

    make: Callable[[], nn.Module]
    inputs: tuple[T, ...]
    training: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = networks.real(self.make, seed, torch.float64).train(self.training)
        generator = torch.Generator().manual_seed(seed + 1)
        given = tuple(arguments((spec,), generator, torch.float64) for spec in self.inputs)
        use = ((DualGraphModule, MADE_BY, "anywhere"),)
        return Trial(args=(model,), model=model, inputs=given, forbidden=use)
