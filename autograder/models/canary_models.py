"""The objects of the canary's cases: one small model, for each way of exercising an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


class ByHand:
    """Puts an answer to work as a backend: calls it with a trace of the small model."""

    says = "{name}(gm, [])"

    def __call__(self, answer: Callable[..., Any]) -> Any:
        """What the answer makes of the trace."""
        return answer(fx.symbolic_trace(Small()), [])


class Compiled(nn.Module):
    """What a compiler gives that compiles nothing."""

    def __init__(self, sub: fx.GraphModule) -> None:
        super().__init__()
        self.sub = sub

    def forward(self, *values: torch.Tensor) -> Any:
        """Run what was given."""
        return self.sub(*values)


def compiler(sub: fx.GraphModule, examples: tuple[Any, ...]) -> Compiled:
    """A compiler."""
    return Compiled(sub)


def trial_for(procedure: str, seed: int) -> Trial:
    """Fresh objects for an answer that is exercised in one of the ways there are."""
    model, inputs = Small(), ((torch.tensor([[1.0, 2.0], [-3.0, 0.5]]),),)
    if procedure in ("interpreter", "timer", "transformer", "each node", "rewrite"):
        gm = fx.symbolic_trace(model)
        return Trial(args=(gm,), model=gm, inputs=inputs)
    if procedure == "lowering":
        gm = fx.symbolic_trace(model)
        return Trial(args=(gm, [{"relu"}], compiler), model=gm, inputs=inputs)
    if procedure == "edit":
        return Trial(args=(fx.symbolic_trace(model),), model=model, inputs=inputs)
    if procedure in ("traced function", "drawn twice"):
        return Trial(inputs=inputs)
    if procedure == "driven":
        return Trial(args=(ByHand(),), model=model, inputs=inputs)
    if procedure in ("tracer", "asked tracer"):
        return Trial(args=([((), {})], [(0, model)]), model=model)
    if procedure == "witness":
        return Trial()
    if procedure == "in place":
        return Trial(args=(model, seed), model=model)
    if procedure == "rules":
        return Trial(model=model, inputs=inputs)
    if procedure == "latency":
        return Trial(
            args=(model, model, inputs[0]), inputs=(("gradients on", {}), ("gradients off", {}))
        )
    watch = (Small(),) if procedure == "after others" else ()
    return Trial(args=(model,), model=model, inputs=inputs, watch=watch, times=2)
