"""Programs for `fold_constants`, with state of every kind."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.export import ExportedProgram

from autograder.authoring.models import Trial, fresh, mode_of, val_text
from autograder.exercises.ch11c_programs import models as programs
from autograder.exercises.ch11c_programs.models import Recipe, exported, made, reporting


class ScaledWeight(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.register_buffer("scale", torch.tensor([[0.5], [2.0], [-1.0], [3.0]]))

    def forward(self, x):
        weight = (self.linear.weight * self.scale).neg()
        return F.linear(x, weight, self.linear.bias)


class Norm(nn.Module):
    """A BatchNorm in evaluation mode, written out."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = (nn.Parameter(torch.rand(3)) for _ in range(2))
        self.register_buffer("mean", torch.rand(3))
        self.register_buffer("var", torch.rand(3) + 0.5)

    def forward(self, x):
        factor = self.weight / torch.sqrt(self.var + 1e-5)
        return x * factor + (self.bias - self.mean * factor)


class Constants(nn.Module):
    """A buffer that is not saved, and a tensor created in `forward`."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.rand(3), persistent=False)

    def forward(self, x):
        return x * self.mask.exp() + torch.tensor([1.0, 2.0, 3.0]).cos()


class Positions(nn.Module):
    def forward(self, x):
        return x + torch.arange(3) * 0.1


class ReadTwice(nn.Module):
    """The weight is read as it is; the other value has two readers."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))

    def forward(self, x):
        gain = self.weight.exp()
        return (x + self.weight) * gain + gain


class ConstantOutputs(nn.Module):
    """Returns a view of the weight, and one constant twice."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3, 2))

    def forward(self, x):
        size = self.weight.norm()
        return {"size": size, "turned": self.weight.t(), "more": [x @ self.weight, size]}


class Parts(nn.Module):
    """One weight, cut into two."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(5))

    def forward(self, x):
        factor, shift = torch.split(self.weight, [3, 2])
        return x * factor + shift.sum()


class Mutated(nn.Module):
    """Two buffers and an input are changed; nothing reads one of the buffers."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(3))
        self.register_buffer("calls", torch.ones(()))
        self.register_buffer("last", torch.zeros(3))

    def forward(self, cache, x):
        cache.mul_(2)
        self.calls.add_(1)
        self.last.copy_(x[0])
        return x * self.scale.exp() + self.calls.cos() + cache


class Training(nn.Module):
    """In training mode, the BatchNorm changes its buffers."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.scale = nn.Parameter(torch.rand(3))

    def forward(self, x):
        return self.norm(x) * self.scale.abs()


class Noise(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(3))

    def forward(self, x):
        return x + torch.rand_like(self.scale) * self.scale.exp()


class Branch(nn.Module):
    """A buffer decides which of two graphs runs."""

    def __init__(self):
        super().__init__()
        self.register_buffer("gain", torch.rand(3))

    def forward(self, x):
        y = torch.cond(self.gain.sum() > 0, lambda g: g.sin(), lambda g: g.cos(), (self.gain,))
        return x * y


class Names(nn.Module):
    """A buffer and a layer have the first two names."""

    def __init__(self):
        super().__init__()
        self.register_buffer("folded_0", torch.rand(3))
        self.folded_1 = nn.Linear(3, 3)

    def forward(self, x):
        return self.folded_1(x) * self.folded_0 + self.folded_0.tanh()


class Half(nn.Module):
    """One weight is cast to another dtype, and one to the dtype that it has."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = (nn.Parameter(torch.rand(3)) for _ in range(2))

    def forward(self, x):
        return x * self.weight.to(torch.float16) + self.bias.to(torch.float32)


class AsItIs(nn.Module):
    """No call depends on state alone; a parameter has no reader."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.unread = nn.Parameter(torch.rand(2))

    def forward(self, x):
        return self.linear(x).relu()


class Tied(nn.Module):
    """One weight has two names."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x)) @ self.first.weight.tanh()


class AllConstant(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))

    def forward(self, x):
        return self.weight.exp().sum()


class Batches(nn.Module):
    """The first size is dynamic."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        y = F.linear(x, self.linear.weight.sinh(), self.linear.bias)
        return {"mean": y.mean(dim=0), "all": y.reshape(x.shape[0] * 2)}


@dataclass(frozen=True)
class Folded:
    """Builds the objects of a case of ``fold_constants(ep)``.

    Attributes:
        recipe: the options for exporting the program.
        more: argument tuples for further runs, after the recipe's.
        saved: whether the new program is also saved and loaded.
    """

    recipe: Recipe
    more: tuple[tuple[Any, ...], ...] = ()
    saved: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        program, recipe = copy.deepcopy(exported(self.recipe)), self.recipe
        inputs = tuple(made(specs, seed + 1) for specs in (recipe.args, *self.more))
        return Trial(
            args=(Asked(program, self.saved),),
            model=fresh(recipe.make, training=recipe.training, dtype=torch.float32),
            inputs=inputs,
            watch=(program,),
        )


@dataclass(frozen=True, eq=False)
class Asked:
    """Calls the answer with a program, and reports on the result.

    Attributes:
        program: the program.
        saved: whether the new program is also saved and loaded.
    """

    program: ExportedProgram
    saved: bool = False

    says = "{name}(ep)"

    def __call__(self, answer: Any) -> Callable[..., Any]:
        """Call the answer; each run then calls the new program."""
        mode = mode_of(self.program.graph)
        return reporting(answer(self.program), lambda new: facts_of(new, mode), saved=self.saved)


def facts_of(program: ExportedProgram, mode: Any) -> dict[str, Any]:
    """A record of a program: all that `add_output` reports, and more about its state.

    Args:
        program: the program.
        mode: the mode of the given program's fake tensors.
    """
    return programs.facts_of(program) | {
        "lines": [
            (spec.kind.name, spec.target, spec.persistent, getattr(spec.arg, "name", ""))
            for spec in program.graph_signature.input_specs
        ],
        "kinds": [(spec.kind.name, spec.target) for spec in program.graph_signature.output_specs],
        "vals": {
            node.name: val_text(node.meta.get("val"), mode)
            for node in program.graph.nodes
            if node.op == "placeholder"
        },
        "saved": {name: tensor_text(value) for name, value in program.state_dict.items()},
        "constants": sorted(program.constants),
        "problem": problem_of(program),
    }


def tensor_text(value: Any) -> tuple[str, bool]:
    """A tensor's dtype and shape, and whether it needs a gradient."""
    if not isinstance(value, torch.Tensor):
        return type(value).__name__, False
    gradient = isinstance(value, nn.Parameter) or value.requires_grad
    return f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}", gradient


def problem_of(program: ExportedProgram) -> str:
    """The error of PyTorch's verifier on a program; ``""`` if it accepts it."""
    try:
        program.validate()
    except Exception as error:
        first = next(iter(str(error).splitlines()), "")
        return f"{type(error).__name__}: {first}"[:300]
    return ""
