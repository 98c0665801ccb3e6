"""Graph modules for `OpSwap`, and the reports about its calls."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
import functools
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import PassManager
from torch.nn import functional as F
from torch.overrides import handle_torch_function, has_torch_function_unary

from autograder.authoring.models import Trial, fresh
from autograder.exercises.ch12_passes.models import attempt, is_recompiled, rows_of, target_text

Table = dict[Callable[..., Any], Callable[..., Any]]
Pair = tuple[Callable[..., Any] | str, Callable[..., Any] | str]


def relu(x):
    """Do something else than `torch.relu`, under the same name.

    Every trace treats it as a leaf, but not by `fx.wrap`: that adds an entry to a node's `meta`,
    and if the node calls another function later, all traces in the process fail.
    """
    if has_torch_function_unary(x):
        return handle_torch_function(relu, (x,), x)
    return x.clamp(min=0.5)


def power(exponent, written):
    """Make functions with equal names and qualified names; they are leaves of a trace."""

    def powered(x):
        if has_torch_function_unary(x):
            return handle_torch_function(powered, (x,), x)
        return x.abs() ** exponent

    powered.written = written
    return powered


squared, cubed = power(2, "squared"), power(3, "cubed")


@functools.wraps(squared)
def guarded(x):
    """Call `squared`, under its name; a leaf of every trace, like `relu`."""
    if has_torch_function_unary(x):
        return handle_torch_function(guarded, (x,), x)
    return squared(x.clamp(-1, 1))


guarded.written = "guarded"

# Names for operators in the table of a case.
aten = torch.ops.aten
aten_sin, aten_cos, aten_exp = aten.sin.default, aten.cos.default, aten.exp.default
aten_sin_packet, aten_cos_packet = aten.sin, aten.cos


class Waves(nn.Module):
    def forward(self, x):
        return torch.sin(x) + torch.cos(x)


class ManyWaves(nn.Module):
    """Calls the same functions repeatedly, nested, with keywords; one result is not read."""

    def forward(self, x):
        a = torch.sin(input=x)
        b = torch.cos(torch.sin(a))
        torch.sin(b)
        return torch.maximum(a, other=torch.cos(b)), torch.sin(b)


class Alike(nn.Module):
    """Functions, a method, a module and a function of this file that are all called `relu`."""

    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()

    def forward(self, x):
        a = torch.relu(x) + x.relu()
        return F.relu(a) * self.relu(x - 1) - relu(x)


class Guarded(nn.Module):
    """A function, and a wrapper around it made with `functools.wraps`."""

    def forward(self, x):
        return squared(x) + guarded(x)


class AtenWaves(nn.Module):
    """Overloads of ATen operators are functions as well."""

    def forward(self, x):
        return aten.cos.default(aten.sin.default(x)) + aten.sin.default(x)


class Squared(nn.Module):
    def forward(self, x):
        return squared(x) + 1


class Operators(nn.Module):
    """Python operators are functions as well."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.layer = nn.Linear(3, 3)

    def forward(self, x, scale=2.0):
        return (self.layer(x) + self.weight) * scale + torch.add(x, 1, alpha=2)


@dataclass(frozen=True)
class Swapping:
    """Builds the objects of a case.

    Attributes:
        make: builds the model.
        pairs: the table, as pairs; functions from one factory by their names in this file.
        how: the way to call the pass.
    """

    make: Callable[[], nn.Module]
    pairs: tuple[Pair, ...]
    how: Callable[..., Any]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed)
        generator = torch.Generator().manual_seed(seed)
        inputs = (torch.randn(2, 3, generator=generator, dtype=torch.float64),)
        table = {_function(old): _function(new) for old, new in self.pairs}
        args = (self.how(noted(model), table),)
        return Trial(args=args, model=model, inputs=(inputs,))


def _function(said: Callable[..., Any] | str) -> Any:
    """A function, or the one with this name in this file."""
    return globals()[said] if isinstance(said, str) else said


def noted(model: nn.Module) -> fx.GraphModule:
    """Trace a model, and set `meta` entries on its nodes."""
    gm = fx.symbolic_trace(model)
    for i, node in enumerate(gm.graph.nodes):
        node.meta["number"] = i
        node.meta["val"] = f"what {node.name} gives"
    return gm


@dataclass(frozen=True, eq=False)
class Once:
    """Calls the pass once on a graph module.

    Attributes:
        gm: the graph module.
        table: the functions to replace.
    """

    gm: fx.GraphModule
    table: Table

    @property
    def says(self) -> str:
        """The call, for a card."""
        return f"{{name}}({self.listed})(gm)"

    @property
    def listed(self) -> str:
        """The table as Python code, for `str.format`."""
        pairs = [f"{target_text(old)}: {target_text(new)}" for old, new in self.table.items()]
        return "{{" + ", ".join(pairs) + "}}"

    def __call__(self, answer: Any) -> Callable[..., Any]:
        """Make and call the pass; each run then calls the module."""
        gm = copy.deepcopy(self.gm)
        swap = answer(dict(self.table))
        said = {"is a PassBase": isinstance(swap, PassBase)}
        said["calls"] = self.calls(swap, gm, answer)
        return lambda *inputs: {**said, "result": attempt(gm, *inputs)}

    def calls(self, swap: Any, gm: fx.GraphModule, answer: Any) -> list[dict[str, Any]]:
        """The report on each call."""
        return [call_of(swap, gm)]


class Again(Once):
    """Calls the same pass three times on one module."""

    @property
    def says(self) -> str:
        """The call, for a card."""
        return f"swap = {{name}}({self.listed}), then swap(gm) three times"

    def calls(self, swap: Any, gm: fx.GraphModule, answer: Any) -> list[dict[str, Any]]:
        """The report on each call."""
        return [call_of(swap, gm) for _ in range(3)]


class Between(Once):
    """Calls the pass on an unaffected module before and after the main call."""

    @property
    def says(self) -> str:
        """The call, for a card."""
        return f"swap = {{name}}({self.listed}); swap(other), swap(gm), swap(other)"

    def calls(self, swap: Any, gm: fx.GraphModule, answer: Any) -> list[dict[str, Any]]:
        """The report on each call."""
        other = noted(nn.Sequential(nn.Tanh(), nn.Linear(3, 2)))
        return [call_of(swap, other), call_of(swap, gm), call_of(swap, other)]


class TwoPasses(Once):
    """Makes a second pass with its own table before calling the first."""

    @property
    def says(self) -> str:
        """The call, for a card."""
        return f"swap = {{name}}({self.listed}); {{name}}({{{{torch.neg: torch.exp}}}}); swap(gm)"

    def calls(self, swap: Any, gm: fx.GraphModule, answer: Any) -> list[dict[str, Any]]:
        """The report on each call."""
        answer({torch.neg: torch.exp})
        return [call_of(swap, gm)]


class Managed(Once):
    """Runs the pass in a `PassManager`, after a pass with an empty table."""

    @property
    def says(self) -> str:
        """The call, for a card."""
        return f"PassManager([{{name}}({{{{}}}}), {{name}}({self.listed})], steps=3)(gm)"

    def calls(self, swap: Any, gm: fx.GraphModule, answer: Any) -> list[dict[str, Any]]:
        """The report on each call."""
        return [call_of(PassManager([answer({}), swap], steps=3), gm)]


def call_of(swap: Any, gm: fx.GraphModule) -> dict[str, Any]:
    """Call a pass once, and report on the call."""
    nodes = [*gm.graph.nodes]
    result = swap(gm)
    ours = isinstance(result, PassResult)
    return {
        "kind": PassResult if ours else type(result),  # a subclass is accepted
        "same module": ours and result.graph_module is gm,
        "modified": result.modified if ours else None,
        "same nodes": [id(n) for n in gm.graph.nodes] == [id(n) for n in nodes],
        "rows": rows_of(gm),
        "recompiled": is_recompiled(gm),
    }


# ------------------------------------------------------------------ random models

_OF_ONE = (torch.sin, torch.cos, torch.tanh, torch.exp, torch.abs, torch.relu)
_OF_TWO = (torch.add, torch.maximum, torch.mul, torch.sub)
_OPERATORS = (operator.add, operator.mul, operator.sub)  # calls of these have no keywords
_HOWS = (Once, Once, Again, Between, TwoPasses, Managed)


def with_table(trial: Trial, choice: int) -> Trial:
    """Give the trial of a random model a table of functions with one and two arguments."""
    assert trial.model is not None
    draw = random.Random(choice)
    gm = noted(copy.deepcopy(trial.model))
    called = {node.target for node in gm.graph.nodes}
    table: Table = {}
    for functions, new in (
        (_OF_ONE, _OF_ONE),
        (_OF_TWO, _OF_TWO),
        (_OPERATORS, _OPERATORS + _OF_TWO),
    ):
        there = [each for each in functions if each in called]
        table |= {old: draw.choice(new) for old in (*there, *draw.sample(functions, 2))}
    return replace(trial, args=(draw.choice(_HOWS)(gm, table),), inputs=trial.inputs[:1])
