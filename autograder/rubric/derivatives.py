"""What `derivative` asks: the slope at every entry, under the parameter's own name.

The truth is computed here, by PyTorch's own automatic differentiation in double precision.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from autograder.plain import Plain
from autograder.rubric.rule import Stage, rule
from autograder.verdict import Finding

if TYPE_CHECKING:
    from autograder.judge import Evidence

_ORDINAL = {1: "derivative", 2: "second derivative"}


def slope(fn: Callable[..., Any], x: torch.Tensor, times: int) -> torch.Tensor:
    """The elementwise derivative of `fn` at `x`, in double precision."""
    with torch.enable_grad():
        x = x.detach().double().requires_grad_()
        y = fn(x)
        for _ in range(times):
            if not (isinstance(y, torch.Tensor) and y.requires_grad):
                return torch.zeros_like(x)
            (y,) = torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)
    return y.detach()


def _parameter(evidence: Evidence) -> str:
    fn = evidence.trial.args[0]
    return next(iter(inspect.signature(fn.forward if isinstance(fn, nn.Module) else fn).parameters))


@rule("parameter kept", Stage.STRUCTURE)
def parameter_kept(evidence: Evidence) -> Iterable[Finding]:
    """The result has the function's one parameter, under its name."""
    name, rows = _parameter(evidence), evidence.graph["signature"] or []
    if [row[0] for row in rows] != [name] or len(rows[0]) > 2:
        got = ", ".join(row[0] + ("=…" if len(row) > 2 else "") for row in rows)
        yield evidence.finding(
            "lost-signature",
            f"Your result has `forward({got})`, not `forward({name})`.",
            "A placeholder's `target` is the name of the parameter; the node's own `name` may "
            "differ from it.",
        )


@rule("right slope", Stage.RUNS)
def right_slope(evidence: Evidence) -> Iterable[Finding]:
    """The first number that is not the derivative, and what it should be."""
    fn, times = evidence.trial.args[0], evidence.trial.times
    for i, (x,) in enumerate(evidence.trial.inputs):
        got = _tensor(evidence, evidence.outcome.runs[i].get("forward", {}).get("value"))
        if got is None or got.shape != x.shape or got.dtype != x.dtype:
            continue  # the next stage says so
        want = slope(fn, x, times)
        wrong = ~torch.isclose(got.double(), want, rtol=1e-4, atol=1e-4)
        if wrong.any():
            place = wrong.reshape(-1).int().argmax()
            at, is_, gives = (t.reshape(-1)[place].item() for t in (x, want, got))
            yield evidence.finding(
                "wrong-result",
                f"At `{_parameter(evidence)}` = {at:.4g} the {_ORDINAL[times]} of "
                f"{_name(fn)} is {is_:.4g}; your graph gives {gives:.4g}.",
                "Go through the function node by node: what is the value, what is its derivative?",
            )
            return


def _tensor(evidence: Evidence, value: Plain) -> torch.Tensor | None:
    if isinstance(value, dict) and "tensor" in value:
        return evidence.outcome.tensors[value["tensor"]]
    return None


def _name(fn: Callable[..., Any]) -> str:
    return "the model" if isinstance(fn, nn.Module) else f"`{fn.__name__}`"
