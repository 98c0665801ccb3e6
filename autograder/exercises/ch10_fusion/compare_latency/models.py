"""Callables for `compare_latency` that take a known time and record each call."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count, cycle
from typing import Any

import torch
from torch import nn

from autograder.authoring.models import Trial

UNIT = 0.001
"""Seconds; callables sleep for multiples of it."""

LARGE = (4096, 4096)
"""Shape of a 64 MB input: copying it takes longer than the slack of a call."""


class TooWarm(Exception):
    """The exception of a callable whose plan says that it raises."""


def kinds_of(inputs: Iterable[Any]) -> list[Any]:
    """A record of a call's inputs: shapes of tensors, and types of other values."""
    return [tuple(x.shape) if isinstance(x, torch.Tensor) else str(type(x)) for x in inputs]


class Sleeper:
    """A function that sleeps, and records its name, the gradient mode, its seconds and inputs."""

    def __init__(self, name: str, plan: Plan, log: list[Any]) -> None:
        self.name, self.plan, self.log = name, plan, log
        self.units = plan.units()
        self.calls = 0

    def __repr__(self) -> str:
        return self.name

    @property
    def in_short(self) -> str:
        """A short description for a card."""
        return f"a function that sleeps {self.plan}"

    def __call__(self, *inputs: Any) -> torch.Tensor:
        """Sleep for the planned time of this call."""
        start = time.perf_counter()
        self.calls += 1
        time.sleep(UNIT * next(self.units))
        kinds = kinds_of(inputs)
        seconds = time.perf_counter() - start
        self.log.append([self.name, torch.is_grad_enabled(), seconds, kinds])
        if self.plan.raises_at == self.calls:
            raise TooWarm(f"call {self.calls} of {self.name}")
        return torch.zeros(2)


class SleepingModule(nn.Module):
    """A module in training mode around such a function; one part is in eval mode."""

    def __init__(self, function: Sleeper) -> None:
        super().__init__()
        self.function = function
        self.frozen = nn.Identity().eval()

    @property
    def name(self) -> str:
        """The name of the callable."""
        return self.function.name

    @property
    def in_short(self) -> str:
        """A short description for a card."""
        return f"a module in training mode that sleeps {self.function.plan}"

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Sleep."""
        return self.function(x, y)


class HookedModule(SleepingModule):
    """A module that sleeps in a hook, which runs if the module is called, but not in `forward`."""

    def __init__(self, function: Sleeper) -> None:
        super().__init__(function)
        self.register_forward_pre_hook(_sleep)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Return at once."""
        return torch.zeros(2)


def _sleep(module: nn.Module, args: tuple[Any, ...]) -> None:
    module.function(*args)


@dataclass(frozen=True)
class Plan:
    """The duration of each call, in units.

    Attributes:
        often: the durations, repeated in a cycle.
        first: the duration of the first call, if different.
        step: increase from one call to the next.
        raises_at: the number of the call that raises; 0 for none.
        module: whether the callable is a module, in training mode.
        hooked: whether it is a module that sleeps in a hook.
    """

    often: tuple[float, ...] = (1,)
    first: float = 0
    step: float = 0
    raises_at: int = 0
    module: bool = False
    hooked: bool = False

    def __str__(self) -> str:
        said = f"{' ms, then '.join(f'{units:g}' for units in self.often)} ms in each call"
        said += f", {self.first:g} ms in the first" if self.first else ""
        said += f", {self.step:g} ms longer each time" if self.step else ""
        return said + (f"; call {self.raises_at} raises" if self.raises_at else "")

    def units(self) -> Any:
        """The durations of the calls, in order."""
        if self.first:
            yield self.first
        for number, units in zip(count(), cycle(self.often), strict=False):
            yield units + number * self.step

    def callable(self, name: str, log: list[Any]) -> Any:
        """A new callable that follows this plan."""
        made = Sleeper(name, self, log)
        if self.hooked:
            return HookedModule(made)
        return SleepingModule(made) if self.module else made


@dataclass(frozen=True, eq=False)
class LatencyTrial:
    """Builds two callables, and an input for them.

    Attributes:
        a: the first one's plan.
        b: the second one's plan.
        calls: the calls of the answer: ``gradients on`` or ``gradients off``, and keywords.
        large: whether copying the first input takes long.
        nested: whether the inputs are a number and a list of the tensors.
    """

    a: Plan
    b: Plan
    calls: tuple[tuple[str, dict[str, Any]], ...]
    large: bool = False
    nested: bool = False

    def __call__(self, seed: int) -> Trial:
        """New callables."""
        log: list[Any] = []
        a, b = self.a.callable("a", log), self.b.callable("b", log)
        modules = tuple(each for each in (a, b) if isinstance(each, nn.Module))
        tensors = (torch.ones(LARGE if self.large else (2, 3)), torch.ones(4))
        inputs = (2, [*tensors]) if self.nested else tensors
        return Trial(args=(a, b, inputs), inputs=self.calls, watch=modules, log=log)
