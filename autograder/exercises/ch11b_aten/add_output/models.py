"""Programs for `add_output` with outputs of every kind, and the report about a program."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import nn
from torch.export import Dim, ExportedProgram

from autograder.authoring.models import T, Trial, arguments, fresh, is_exported
from autograder.exercises.ch11b_aten.models import (
    SameTrial,
    attempt,
    is_recompiled,
    lint_text,
    row_of,
)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.linear(x)).sum(dim=-1)


class Names(nn.Module):
    """An input is named like an operation; two node names begin alike."""

    def forward(self, relu, x):
        return torch.relu(relu - 0.5) * torch.relu(x) + 1


class Unread(nn.Module):
    """Two values that are not read."""

    def forward(self, x):
        torch.tanh(x)
        torch.neg(x)
        return x.cos().sin()


class TwoResults(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        return y, torch.exp(y)


class Nested(nn.Module):
    """Returns a dictionary with a list, an input and a number."""

    def forward(self, parts, x):
        y = torch.sigmoid(x) * parts["scale"]
        return {"value": y.exp(), "more": [x, (y.sum(), 3)]}


class Constants(nn.Module):
    """A buffer that is not saved, and a tensor created in `forward`."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(3), persistent=False)

    def forward(self, x):
        return (x * self.mask).tanh() + torch.tensor([1.0, 2.0, 3.0])


class Counting(nn.Module):
    """In training mode, the BatchNorm changes its buffers; another buffer is a counter."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        y = torch.tanh(self.norm(self.linear(x)))
        return y.exp(), y.sum()


class ChangesBoth(nn.Module):
    """An input and a buffer are changed; the result depends on the number of calls."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, cache, x):
        cache.mul_(2)
        self.calls.add_(1)
        return torch.sin(x) * self.calls + cache


class Condition(nn.Module):
    """The program contains two more graphs."""

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda z: z.sin(), lambda z: z.cos(), (x,))
        return torch.exp(y + 1)


class Batches(nn.Module):
    """The first size is dynamic."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        y = torch.tanh(self.linear(x))
        return {"mean": y.mean(dim=0), "all": y.reshape(x.shape[0] * 2)}


class SizeComesBack(nn.Module):
    """A dynamic size is an output: its line in the signature is not a tensor's."""

    def forward(self, x):
        return x.sin(), x.shape[0]


@dataclass(frozen=True)
class Recipe:
    """The options for exporting a program.

    Attributes:
        make: builds the model.
        args: arguments for export, tensors as `T`; a `Parts` becomes a dictionary.
        training: the mode of the model.
        decomposed: whether `run_decompositions` is called, with an empty table.
        batches: whether the first size of the first input is symbolic.
    """

    make: Callable[[], nn.Module]
    args: tuple[Any, ...]
    training: bool = False
    decomposed: bool = False
    batches: bool = False


@dataclass(frozen=True)
class Parts:
    """A dictionary of tensors as an argument, in a hashable form."""

    scale: T


@lru_cache(maxsize=64)
def exported(recipe: Recipe) -> ExportedProgram:
    """Export the program of a recipe; callers that pass it on must copy it."""
    with torch.random.fork_rng(devices=[]):
        model = fresh(recipe.make, training=recipe.training, dtype=torch.float32)
        dims = {0: Dim("batch", min=2, max=512)} if recipe.batches else None
        shapes = (dims, *[None] * (len(recipe.args) - 1)) if recipe.batches else None
        program = torch.export.export(model, made(recipe.args, 1), dynamic_shapes=shapes)
        return program.run_decompositions({}) if recipe.decomposed else program


def made(specs: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    """Make inputs from their specs."""
    generator = torch.Generator().manual_seed(seed)

    def one(spec: Any) -> Any:
        if isinstance(spec, Parts):
            return {"scale": one(spec.scale)}
        (value,) = arguments((spec,), generator, torch.float32)
        return value

    return tuple(map(one, specs))


@dataclass(frozen=True)
class Extended:
    """Builds the objects of a case of ``add_output(ep, name)``.

    Attributes:
        recipe: the options for exporting the program.
        name: the node whose value becomes an output.
        more: argument tuples for further runs, after the recipe's.
        saved: whether the new program is also saved and loaded.
    """

    recipe: Recipe
    name: str
    more: tuple[tuple[Any, ...], ...] = ()
    saved: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        program = copy.deepcopy(exported(self.recipe))
        recipe = self.recipe
        inputs = tuple(made(specs, seed + 1) for specs in (recipe.args, *self.more))
        return Trial(
            args=(Asked(program, self.name, self.saved),),
            model=fresh(recipe.make, training=recipe.training, dtype=torch.float32),
            inputs=inputs,
            watch=(program,),
        )


@dataclass(frozen=True, eq=False)
class Asked:
    """Calls the answer with a program and a name, and reports on the result.

    Attributes:
        program: the program.
        name: the node.
        saved: whether the new program is also saved and loaded.
    """

    program: ExportedProgram
    name: str
    saved: bool = False

    @property
    def says(self) -> str:
        """The call, for a card."""
        return f"{{name}}(ep, {self.name!r})"

    def __call__(self, answer: Any) -> Callable[..., Any]:
        """Call the answer; each run then calls the new program."""
        new = answer(self.program, self.name)
        if not is_exported(new):
            return lambda *_: {"kind": type(new)}
        found: dict[str, Any] = {"kind": type(new), **facts_of(new)}

        def run(*inputs: Any) -> dict[str, Any]:
            said = dict(found)
            if self.saved:
                said["loaded"] = attempt(lambda: loaded(new), copy.deepcopy(inputs))
            said["result"] = attempt(new.module, inputs)
            return said

        return keeping_state(run, new)


def keeping_state(run: Callable[..., Any], program: ExportedProgram) -> Callable[..., Any]:
    """Wrap a call so that it restores the program's tensors afterwards.

    A new program may share tensors with the old one, and may count its runs in them.
    """

    def kept(*inputs: Any) -> Any:
        tensors = [
            each
            for each in (*program.state_dict.values(), *program.constants.values())
            if isinstance(each, torch.Tensor)
        ]
        before = [tensor.detach().clone() for tensor in tensors]
        try:
            return run(*inputs)
        finally:
            with torch.no_grad():
                for tensor, value in zip(tensors, before, strict=True):
                    tensor.copy_(value)

    return kept


def facts_of(program: ExportedProgram) -> dict[str, Any]:
    """A record of a program: its signature, its nodes, its constraints and its code."""
    signature = program.graph_signature
    return {
        "inputs": [spec_text(spec) for spec in signature.input_specs],
        "outputs": [spec_text(spec) for spec in signature.output_specs],
        "rows": [row_of(node) for node in program.graph.nodes],
        "ranges": sorted(map(str, program.range_constraints.items())),
        "state": sorted([*program.state_dict, *program.constants]),
        "recompiled": is_recompiled(program.graph_module),
        "lint": lint_text(program.graph_module),
    }


def spec_text(spec: Any) -> str:
    """A line of a signature, with the kind of its argument."""
    argument = getattr(spec.arg, "name", "")
    words = [spec.kind.name, f"{type(spec.arg).__name__}({argument!r})", f"target={spec.target!r}"]
    return " ".join(words)


def loaded(program: ExportedProgram) -> nn.Module:
    """Save and load a program, and return its module."""
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file).module()


# ------------------------------------------------------------------ random programs


def of_random_model(trial: Trial, choice: int) -> Trial:
    """A trial with the program of a random model and one of its values."""
    program = copy.deepcopy(_random_program(SameTrial(trial)))
    tensors = [
        node.name
        for node in program.graph.nodes
        if node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor)
    ]
    name = tensors[choice % len(tensors)] if tensors else "nothing"
    return Trial(
        args=(Asked(program, name),), model=trial.model, inputs=trial.inputs, watch=(program,)
    )


@lru_cache(maxsize=32)
def _random_program(same: SameTrial) -> ExportedProgram:
    assert same.trial.model is not None
    args = copy.deepcopy(same.trial.inputs[0])
    return torch.export.export(copy.deepcopy(same.trial.model), args)
