"""Pairs of a convolution and a BatchNorm for `fold_bn`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from autograder.authoring.models import T, Trial, arguments, fresh


@dataclass(frozen=True, eq=False)
class PairTrial:
    """Builds a convolution and a BatchNorm, the two parts of one model.

    Attributes:
        dims: dimensions of the images: 1, 2 or 3.
        conv: positional arguments of the convolution.
        settings: its keyword arguments.
        norm: keyword arguments of the BatchNorm; ``features`` if not the number of channels.
        inputs: shapes of the inputs of the result.
        dtype: of parameters and inputs.
        training: the mode of both.
        variance: factor of the running variances.
        evaluated: names of layers that are in eval mode in any case.
        dead: whether the first channel is zero for every input, as in training.
    """

    dims: int
    conv: tuple[int, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    norm: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[T, ...] = ()
    dtype: torch.dtype = torch.float64
    training: bool = False
    variance: float = 1.0
    evaluated: tuple[str, ...] = ()
    dead: bool = False

    def __call__(self, seed: int) -> Trial:
        """A new pair, with random weights and statistics."""
        model = fresh(self._pair, seed, training=self.training, dtype=self.dtype)
        if self.variance != 1.0:
            model.get_submodule("bn").get_buffer("running_var").mul_(self.variance)
        if self.dead:
            with torch.no_grad():
                for name in ("conv.weight", "bn.running_mean", "bn.running_var"):
                    model.state_dict()[name][0] = 0
        for name in self.evaluated:
            model.get_submodule(name).eval()
        generator = torch.Generator().manual_seed(seed + 1)
        inputs = tuple(arguments((spec,), generator, self.dtype) for spec in self.inputs)
        return Trial(
            args=(model.get_submodule("conv"), model.get_submodule("bn")),
            model=model,
            inputs=inputs,
        )

    def _pair(self) -> nn.Module:
        settings = dict(self.norm)
        features = settings.pop("features", self.conv[1])
        conv = getattr(nn, f"Conv{self.dims}d")(*self.conv, **self.settings)
        norm = getattr(nn, f"BatchNorm{self.dims}d")(features, **settings)
        return nn.Sequential(OrderedDict(conv=conv, bn=norm))
