"""The cases of the canary: one small model, passed in one of the usual ways.

The canary is a notebook with known scores. It has a right and a wrong answer of each kind.
"""

from __future__ import annotations

import torch
from torch import fx, nn

from autograder.core.exercise import Trial


class Small(nn.Module):
    """A layer, an activation and an addition."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        with torch.no_grad():
            self.layer.weight.copy_(torch.tensor([[1.0, -2.0], [0.5, 3.0]]))
            self.layer.bias.copy_(torch.tensor([0.25, -1.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run the model."""
        return torch.relu(self.layer(x)) + 1


def small_inputs() -> tuple[tuple[torch.Tensor], ...]:
    """One input of the small model."""
    return ((torch.tensor([[1.0, 2.0], [-3.0, 0.5]]),),)


def nothing(seed: int) -> Trial:
    """A case without arguments."""
    return Trial()


def inputs_alone(seed: int) -> Trial:
    """A case for a function of tensors."""
    return Trial(inputs=small_inputs())


def small_model(seed: int) -> Trial:
    """A case with the small model."""
    model = Small()
    return Trial(args=(model,), model=model, inputs=small_inputs(), times=2)


def of_trace(seed: int) -> Trial:
    """A case with a trace of the small model."""
    gm = fx.symbolic_trace(Small())
    return Trial(args=(gm,), model=gm, inputs=small_inputs())


def one_tracer(seed: int) -> Trial:
    """A case with one tracer, which traces the small model."""
    model = Small()
    return Trial(args=([((), {})], [(0, model)]), model=model)
