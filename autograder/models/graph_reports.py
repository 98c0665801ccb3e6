"""Reports about graphs of ATen operators, used by the answer's process and by the judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn

from autograder.core.exercise import Trial

Row = tuple[Any, ...]


def row_of(node: fx.Node) -> Row:
    """A record of a node: opcode, name, target, arguments, keyword arguments, and its `val`.

    For an output node only the arguments count, because a new one has another name.
    """
    if node.op == "output":
        return "output", "output", "output", node.args, {}, "None"
    return node.op, node.name, node.target, node.args, node.kwargs, val_text(node.meta.get("val"))


def val_text(val: Any) -> str:
    """Describe `meta["val"]`: for a fake tensor, its dtype, shape and strides."""
    if isinstance(val, torch.Tensor):
        dtype = str(val.dtype).removeprefix("torch.")
        return f"{dtype} {list(val.shape)} strides {list(val.stride())}"
    if isinstance(val, (tuple, list)):
        return f"({', '.join(map(val_text, val))})"
    known = (bool, int, float, str, torch.SymInt, torch.SymFloat, torch.SymBool, type(None))
    return str(val) if isinstance(val, known) else type(val).__name__


def is_recompiled(gm: fx.GraphModule) -> bool:
    """Whether a module's code matches its graph."""
    return bool(gm.code == gm.graph.python_code("self").src)


def lint_text(gm: fx.GraphModule) -> str:
    """The error of `lint` on a graph; ``""`` if there is none."""
    try:
        gm.graph.lint()
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return ""


def attempt(make: Callable[[], nn.Module], inputs: tuple[Any, ...]) -> tuple[str, Any]:
    """The result of making a module and calling it: a value or the exception."""
    try:
        return "value", make()(*inputs)
    except Exception as error:
        first = next(iter(str(error).splitlines()), "")
        return "raised", f"{type(error).__name__}: {first}"[:300]


class SameTrial:
    """A trial that equals another one with the same code and inputs of the same kinds."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        source = str(getattr(type(trial.model), "source_code", trial.model))
        kinds = [(x.shape, x.dtype) for x in trial.inputs[0] if isinstance(x, torch.Tensor)]
        state = trial.model.state_dict().values() if trial.model is not None else ()
        sums = [float(value.double().sum()) for value in state]
        self.key = source, str(kinds), str(sums)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameTrial) and self.key == other.key
