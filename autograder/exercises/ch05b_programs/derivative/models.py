"""Functions of one tensor for `derivative`, small enough to differentiate by hand."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D103

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
from torch import fx

from autograder.authoring.models import T, Trial, arguments


def line(x):
    return 3 * x - 2


def sine(x):
    return torch.sin(x)


def scaled(x):
    return 3 * torch.cos(x) - 2


def product(x):
    return x * torch.sin(x)


def difference(x):
    return torch.sin(x) - torch.exp(x)


# ------------------------------------------------------------------ spellings


def functions(x):
    return torch.mul(torch.add(x, torch.sin(x)), torch.sub(torch.neg(x), torch.exp(x)))


def methods(x):
    return x.sin().mul(x.exp()).add(x.cos().neg()).sub(x)


def reflected(x):
    return (2 - torch.sin(x)) * (1 + x) * 0.5


def keywords(x):
    scaled = torch.mul(other=2, input=x)
    shifted = torch.sub(other=torch.sin(input=x), input=scaled)
    return torch.add(input=shifted, other=x.mul(other=x)) - torch.neg(input=torch.exp(input=x))


def alphas(x):
    y = torch.sin(torch.add(x, torch.exp(x), alpha=2))
    return torch.sub(y, x, alpha=-0.5)


def alphas_of_zero(x):
    return torch.add(x.sub(x, alpha=0), torch.exp(x), alpha=0.0)


def alphas_of_equal_calls(x):
    """The calls of each pair differ only in their `alpha`."""
    y = torch.sin(x)
    sums = torch.add(x, y) * torch.add(x, y, alpha=2)
    return sums + x.sub(y, alpha=3) * x.sub(y)


def alphas_beside_keywords(x):
    y = torch.add(x, other=torch.exp(x), alpha=2)
    z = torch.sub(alpha=0.5, other=torch.sin(x), input=y)
    return z.sub(other=x.cos(), alpha=3)


# ------------------------------------------------------------------ values used twice


def square(x):
    return x * x


def twice(x):
    y = torch.sin(x)
    return y + y


# ------------------------------------------------------------------ chains


def inside(x):
    return torch.sin(torch.cos(x))


def bell(x):
    return torch.exp(-x * x)


# ------------------------------------------------------------------ constants


def number(x):
    return 3.0


def whole_number(x):
    return 2 * 3 - 1


# ------------------------------------------------------------------ everything else


def unused(x):
    waste = torch.exp(x) * 5
    torch.sin(waste)
    return torch.cos(x)


def swing(angle):
    return torch.sin(angle) * angle


def reserved(input):
    return torch.sin(input) * input


def many_digits(x):
    return 1.23456789 * torch.sin(0.987654321 * x)


# ------------------------------------------------------------------ trials


@dataclass(frozen=True)
class FunctionTrial:
    """Builds a trial that passes a function of one tensor, or its trace."""

    fn: Callable[[Any], Any]
    specs: tuple[T, ...]
    times: int = 1
    traced: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        generator = torch.Generator().manual_seed(seed + 1)
        model = fx.symbolic_trace(self.fn) if self.traced else None
        return Trial(
            args=(model or self.fn,),
            model=model,
            inputs=tuple(arguments((spec,), generator, torch.float64) for spec in self.specs),
            times=self.times,
        )


PARAMETERS = ("x", "x", "input", "sin", "angle")
STEEPEST = 1e4
STEP = 1e-4


def as_function(trial: Trial, choice: int) -> Trial:
    """The trial with a function or a graph module, to be differentiated once or twice."""
    fn: Any = trial.model
    if not isinstance(fn, fx.GraphModule):
        constant = ("3.0", "2")[choice // 8 % 2] if choice % 8 == 6 else ""
        fn = _function(fn.source_code, PARAMETERS[choice // 2 % len(PARAMETERS)], constant)
    # In float32, two right formulas may differ by more than the tolerance for rounding.
    inputs = tuple((x.double(),) for (x,) in trial.inputs)
    times = 2 if choice % 3 == 2 else 1
    if not all(_is_tame(fn, x, times) for (x,) in inputs):
        times, inputs = 1, tuple((x / 8,) for (x,) in inputs)
    model = fn if isinstance(fn, fx.GraphModule) else None
    return replace(trial, args=(fn,), model=model, inputs=inputs, times=times)


def _is_tame(fn: Callable[..., Any], x: torch.Tensor, times: int) -> bool:
    """Whether the slopes of a function are small enough to compare."""
    grows = torch.stack([torch.as_tensor(fn(x + i * STEP)).expand_as(x) for i in range(1 + times)])
    for _ in range(times):
        grows = grows.diff(dim=0) / STEP
        if not grows.abs().max() < STEEPEST:
            return False
    return True


@lru_cache(maxsize=256)
def _function(source: str, parameter: str, constant: str) -> Callable[..., Any]:
    """The ``forward`` of a class as a plain function."""
    body = textwrap.dedent(source[source.index("def forward(self, x):") :].partition("\n")[2])
    if constant:
        body = re.sub(r"return .*", f"return {constant}", body)
    body = re.sub(r"\bx\b", parameter, body)
    text = f"def f({parameter}):\n{textwrap.indent(body, '    ')}"
    scope: dict[str, Any] = {"torch": torch}
    exec(compile(text, "<a random function>", "exec"), scope)
    made: Callable[..., Any] = scope["f"]
    made.source_code = text  # type: ignore[attr-defined]
    return made
