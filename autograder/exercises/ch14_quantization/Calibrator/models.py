"""Models for `Calibrator`, whose values it observes."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101, D102

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import Trial, arguments, fresh, renamed
from autograder.exercises.ch14_quantization.models import floats, traced
from autograder.given import quantize
from autograder.models.running import filled


class Chain(nn.Module):
    def forward(self, x):
        return torch.exp(torch.sin(x)) - 1


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        return self.linear(self.linear(x) * self.weight) + self.shift


class Below(nn.Module):
    def forward(self, x):
        return -torch.exp(x).neg().neg() - 3


class ChangedLater(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        y.mul_(100)
        z = y.view(-1)
        y.zero_()
        return z


class ChangesItsInput(nn.Module):
    def forward(self, x):
        y = x.clone()
        x.mul_(5)
        return y


class Zeros(nn.Module):
    def forward(self, x):
        return x * 0, x[:0], torch.relu(x)


class OtherKinds(nn.Module):
    """Values that are integers, bools, tuples, sizes and numbers."""

    def forward(self, x):
        best, where = torch.max(x, dim=-1)
        rows = x.size(0)
        parts = x.split(1)
        return best, where.float(), (x > 0).sum(), parts[0] * rows, rows, [x.mean().item()]


class Default(nn.Module):
    """`y` may be a number or a tensor."""

    def forward(self, x, y=2.0):
        z = y * 3
        return torch.tanh(x) + z


class Wide(nn.Module):
    def forward(self, x):
        return x.double() * 1e-60, x.to(torch.float32)


class FewBits(nn.Module):
    """Floating values with few bits, and values of other dtypes."""

    def forward(self, x):
        return x.half() * 2, x.bfloat16().neg(), quantize(x, 0.1), x.to(torch.complex64), x.byte()


def odd_names() -> fx.GraphModule:
    """A graph whose node names do not come from a trace."""
    graph = fx.Graph()
    x = graph.create_node("placeholder", "x", name="output")
    first = graph.create_node("call_function", torch.sin, (x,), name="zebra")
    second = graph.create_node("call_function", torch.add, (first, 9), name="apple")
    graph.create_node("output", "output", ((second, first),), name="result")
    return fx.GraphModule(nn.Module(), graph)


def put_back() -> fx.GraphModule:
    """Changes a buffer during the run, reads it again, and restores it at the end."""
    root, graph = nn.Module(), fx.Graph()
    root.register_buffer("total", torch.ones(3))
    x = graph.placeholder("x")
    total = graph.get_attr("total")
    before = graph.call_method("clone", (total,))
    graph.call_method("add_", (total, graph.call_method("sum", (x, 0))))
    result = graph.call_function(torch.sub, (x, graph.get_attr("total")))
    graph.call_method("copy_", (total, before))
    graph.output(result)
    return fx.GraphModule(root, graph)


# ------------------------------------------------------------------ from a model to a trial


class _OnlyFinite(fx.Interpreter):
    """Runs a graph while all floating values are finite."""

    def run_node(self, n):
        value = super().run_node(n)
        if floats(value) and not bool(torch.isfinite(value).all()):
            raise OverflowError(f"the value of {n.name} is not finite")
        return value


@dataclass(frozen=True, eq=False)
class Calibrators:
    """Makes calibrators with the answer, and runs inputs on them.

    Attributes:
        gm: the graph module that they are made for.
        turns: the number of the calibrator for each run.
    """

    gm: fx.GraphModule
    turns: tuple[int, ...]

    says = "{name}(gm), where gm is the model's trace"

    def __call__(self, answer: Any) -> Callable[..., Any]:
        """Make calibrators; each run then reports the result and the scales so far."""
        if not (isinstance(answer, type) and issubclass(answer, fx.Interpreter)):
            return lambda *inputs: {"kind": type(answer).__name__}
        made = [answer(self.gm) for _ in range(max(self.turns) + 1)]
        turns = iter(self.turns)

        def run(*inputs: Any) -> Any:
            calibrator = made[next(turns)]
            try:
                result = calibrator.run(*inputs)
            except NotImplementedError as error:  # an untouched stub: undo FX's addition
                if str(error).startswith("While executing"):
                    error.args = ()
                raise
            return {"result": result, "scales": calibrator.scales()}

        return run


@dataclass(frozen=True, eq=False)
class CalibratorTrial:
    """Builds the objects of a case of `Calibrator`.

    Attributes:
        make: builds a model, which is traced, or a graph module.
        inputs: argument tuples, one for each run.
        turns: the number of the calibrator for each run; empty for a single one.
    """

    make: Callable[[], nn.Module]
    inputs: tuple[tuple[Any, ...], ...]
    turns: tuple[int, ...] = ()

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        gm = traced(fresh(self.make, seed, dtype=torch.float32))
        generator = torch.Generator().manual_seed(seed + 1)
        given = tuple(arguments(filled(specs), generator, torch.float32) for specs in self.inputs)
        turns = self.turns or (0,) * len(given)
        return Trial(args=(Calibrators(gm, turns),), model=gm, inputs=given)


def watched(trial: Trial, choice: int) -> Trial:
    """A trial that runs a random model's trace on two calibrators.

    Raises:
        OverflowError: a value is not finite, which the task does not cover.
    """
    gm = traced(trial.model)
    for inputs in trial.inputs:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            _OnlyFinite(copy.deepcopy(gm)).run(*copy.deepcopy(inputs))
    if choice % 3 == 0:
        renamed(gm)
    inputs = (*trial.inputs, trial.inputs[0])
    turns = tuple(i % 2 if choice % 2 else 0 for i in range(len(inputs)))
    return replace(trial, args=(Calibrators(gm, turns),), model=gm, inputs=inputs)
