"""A model and passes for `first_bad_pass`; some passes change what the model does."""

# A learner sees the classes as they are here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import Trial, fresh
from autograder.exercises.ch09_debugging.equivalent.models import DrawsLike

Pass = Callable[[nn.Module], fx.GraphModule]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)
        self.last = nn.Linear(4, 4)

    def forward(self, x):
        hidden = torch.relu(self.norm(self.layer(x)))
        return torch.tanh(self.last(self.drop(hidden)))


class Roots(nn.Module):
    """Two results; one contains NaN."""

    def forward(self, x):
        return x.sqrt(), x + 1


class FarApart(nn.Module):
    """Some entries of its result are a billion times larger than others."""

    def forward(self, x):
        return torch.cat([1e9 * x, x], dim=-1)


class Described(nn.Module):
    """Changes its argument, and returns a dictionary that contains a Python number."""

    def forward(self, x):
        x = x.add_(1)
        return {"mean": x.mean(), "rows": x.shape[0]}


def drop_in_training(model: nn.Module) -> None:
    """Only the Dropout is in train mode."""
    model.eval()
    model.drop.train()


# ------------------------------------------------------------------ passes


def retrace(model: nn.Module) -> fx.GraphModule:
    """Return the trace unchanged."""
    return fx.symbolic_trace(model)


def tidy(model: nn.Module) -> fx.GraphModule:
    """Return the trace without dead code."""
    gm = fx.symbolic_trace(model)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


def _without(model: nn.Module, kind: type[nn.Module]) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and isinstance(gm.get_submodule(node.target), kind):
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


def remove_dropout(model: nn.Module) -> fx.GraphModule:
    """Remove the Dropout modules."""
    return _without(model, nn.Dropout)


def remove_norm(model: nn.Module) -> fx.GraphModule:
    """Remove the BatchNorms."""
    return _without(model, nn.BatchNorm1d)


def _exchange(model: nn.Module, old: Any, new: Any, **more: Any) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is old:
            node.target, node.kwargs = new, more
    gm.recompile()
    return gm


def relu_to_clamp(model: nn.Module) -> fx.GraphModule:
    """Replace `relu(x)` by `clamp(x, min=0)`, which is the same."""
    return _exchange(model, torch.relu, torch.clamp, min=0)


def clamp_to_abs(model: nn.Module) -> fx.GraphModule:
    """Replace `clamp(x, ...)` by `abs(x)`."""
    return _exchange(model, torch.clamp, torch.abs)


def _at_the_result(model: nn.Module, function: Any, *args: Any) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    output = next(node for node in gm.graph.nodes if node.op == "output")
    with gm.graph.inserting_before(output):
        new = gm.graph.call_function(function, (output.all_input_nodes[0], *args))
    output.replace_input_with(new.args[0], new)
    gm.recompile()
    return gm


def add_one(model: nn.Module) -> fx.GraphModule:
    """Add one to the result."""
    return _at_the_result(model, torch.add, 1)


def subtract_one(model: nn.Module) -> fx.GraphModule:
    """Subtract one from the result."""
    return _at_the_result(model, torch.sub, 1)


def round_off(model: nn.Module) -> fx.GraphModule:
    """Multiply the result by a number that differs from one only by rounding."""
    return _at_the_result(model, torch.mul, 1 + 1e-12)


def slightly_off(model: nn.Module) -> fx.GraphModule:
    """Multiply the result by a number close to one."""
    return _at_the_result(model, torch.mul, 1.001)


def add_a_dimension(model: nn.Module) -> fx.GraphModule:
    """Add a dimension to the result."""
    return _at_the_result(model, torch.unsqueeze, 0)


def tuple_to_list(model: nn.Module) -> fx.GraphModule:
    """Turn a returned tuple into a list."""
    gm = fx.symbolic_trace(model)
    output = next(node for node in gm.graph.nodes if node.op == "output")
    output.args = (list(output.args[0]),)
    gm.recompile()
    return gm


def to_single(model: nn.Module) -> fx.GraphModule:
    """Cast the result to float32."""
    return _at_the_result(model, torch.Tensor.to, torch.float32)


def in_a_list(model: nn.Module) -> fx.GraphModule:
    """Put the result into a list."""
    gm = fx.symbolic_trace(model)
    output = next(node for node in gm.graph.nodes if node.op == "output")
    output.args = ([output.args[0]],)
    gm.recompile()
    return gm


def mean_to_average(model: nn.Module) -> fx.GraphModule:
    """Rename a key of the returned dictionary, in the same position."""
    gm = fx.symbolic_trace(model)
    output = next(node for node in gm.graph.nodes if node.op == "output")
    output.args = ({{"mean": "average"}.get(k, k): v for k, v in output.args[0].items()},)
    gm.recompile()
    return gm


def columns_for_rows(model: nn.Module) -> fx.GraphModule:
    """Return the number of columns instead of the number of rows."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is operator.getitem:
            node.args = (node.args[0], 1)
    gm.recompile()
    return gm


def double_the_weights(model: nn.Module) -> fx.GraphModule:
    """Change the weights, which the trace shares with the model."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return fx.symbolic_trace(model)


def change_the_argument(model: nn.Module) -> fx.GraphModule:
    """Add one to the first argument after the result is computed."""
    gm = fx.symbolic_trace(model)
    first = next(iter(gm.graph.nodes))
    with gm.graph.inserting_before(next(n for n in gm.graph.nodes if n.op == "output")):
        gm.graph.call_method("add_", (first, 1))
    gm.recompile()
    return gm


def switch_to_training(model: nn.Module) -> fx.GraphModule:
    """Return the trace in train mode."""
    return fx.symbolic_trace(model).train()


def refuse(model: nn.Module) -> fx.GraphModule:
    """Raise an error."""
    raise KeyError("no such node")


def find_nothing(model: nn.Module) -> fx.GraphModule:
    """Search for a missing node, which raises `StopIteration`."""
    gm = fx.symbolic_trace(model)
    found = next(node for node in gm.graph.nodes if node.target is torch.erf)
    found.target = torch.sigmoid
    gm.recompile()
    return gm


def trip(model: nn.Module) -> fx.GraphModule:
    """Fail an assertion."""
    raise AssertionError


@dataclass(frozen=True, eq=False)
class Passed:
    """Builds a trial: a model, the passes, and a maker of inputs.

    Attributes:
        make: builds the model.
        passes: the passes, in order.
        inputs: makes the arguments for a seed.
        training: whether the model is in train mode.
        prepare: changes the model in the end.
    """

    make: Callable[[], nn.Module]
    passes: tuple[Pass, ...]
    inputs: Callable[[int], tuple[Any, ...]]
    training: bool = False
    prepare: Callable[[nn.Module], None] | None = None

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, training=self.training)
        if self.prepare is not None:
            self.prepare(model)
        return Trial(args=(model, list(self.passes), self.inputs), model=model)


# ------------------------------------------------------------------ random models

_SOUND = (retrace, tidy, retrace, switch_to_training)
_OTHERS = (add_one, refuse, change_the_argument, in_a_list, trip)


def with_passes(trial: Trial, choice: int) -> Trial:
    """Add passes to the trial of a random model."""
    model = copy.deepcopy(trial.model)
    passes: list[Pass] = [_SOUND[(choice >> i) % 4] for i in range(choice % 3)]
    if choice % 4:
        passes.insert(choice % (len(passes) + 1), _OTHERS[choice // 4 % 5])
    if choice % 8 == 5:
        passes.append(subtract_one)
    return replace(trial, args=(model, passes, DrawsLike(trial.inputs[0])), model=model)
