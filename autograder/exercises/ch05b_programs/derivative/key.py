"""The answer key of `derivative`: the slope at every entry, and the parameter's own name.

PyTorch's automatic differentiation computes the expected slopes in double precision.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from autograder.authoring.key import (
    AdviceRow,
    AdviceSlot,
    AnswerKey,
    CallResult,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Reference,
    Signature,
    Stage,
    Tagged,
    Trial,
    caller_untouched,
    copies,
    kind_of,
    known_targets,
    returns_graph_module,
    rule,
    runs,
    same_result,
    wellformed,
)

_ORDINAL = {1: "derivative", 2: "second derivative"}


def _parameter(evidence: Evidence) -> str:
    fn = evidence.trial.args[0]
    return next(iter(inspect.signature(fn.forward if isinstance(fn, nn.Module) else fn).parameters))


def _is_alone(rows: Signature, name: str) -> bool:
    return [row[0] for row in rows] == [name] and len(rows[0]) == 2


@rule("parameter kept", Stage.STRUCTURE)
def parameter_kept(evidence: Evidence) -> Iterable[Finding]:
    """The result has the function's one parameter, with its name."""
    name = _parameter(evidence)
    wrong = (rows or [] for rows in evidence.derived.signatures if not _is_alone(rows or [], name))
    rows = next(wrong, None)
    if rows is not None:
        got = ", ".join(row[0] + ("=…" if len(row) > 2 else "") for row in rows)
        yield evidence.finding(
            "lost-signature",
            f"Your result has `forward({got})`, not `forward({name})`.",
            "A placeholder's `target` is the name of the parameter; the node's own `name` may "
            "differ from it.",
        )


@rule("right slope", Stage.RUNS)
def right_slope(evidence: Evidence) -> Iterable[Finding]:
    """The result is a tensor like the input, with the derivative at each entry."""
    for i, (x,) in enumerate(evidence.trial.inputs):
        record = evidence.outcome.runs[i]["forward"]
        if "error" in record:
            return  # another rule reports the exception
        found = _unlike(evidence, i, x, record["value"]) or _wrong_number(evidence, x, record)
        if found:
            yield found
            return


def _unlike(evidence: Evidence, i: int, x: torch.Tensor, value: Encoded) -> Finding | None:
    """A finding about a result that is not a tensor of the input's shape and dtype."""
    got = _tensor(evidence, value)
    if got is None:
        code, what = "wrong-structure", kind_of(value)
    elif got.shape != x.shape:
        code, what = "wrong-shape", f"a tensor of shape {tuple(got.shape)}"
    elif got.dtype != x.dtype:
        code, what = "wrong-dtype", f"a {str(got.dtype).removeprefix('torch.')} tensor"
    else:
        return None
    return evidence.finding(
        code,
        f"For {evidence.inputs_text(i)}, your graph gives {what}.",
        "The derivative has the shape and the dtype of the input, even if it is a constant. "
        "Which functions of PyTorch make a tensor like another one?",
    )


def _wrong_number(evidence: Evidence, x: torch.Tensor, record: CallResult) -> Finding | None:
    fn, times = evidence.trial.args[0], evidence.trial.times
    got, want = evidence.outcome.tensors[record["value"]["tensor"]], slope(fn, x, times)
    wrong = ~torch.isclose(got.double(), want, rtol=1e-4, atol=1e-4)
    if not wrong.any():
        return None
    place = wrong.reshape(-1).int().argmax()
    at, is_, gives = (t.reshape(-1)[place].item() for t in (x, want, got))
    return evidence.finding(
        "wrong-result",
        f"At `{_parameter(evidence)}` = {at:.4g} the {_ORDINAL[times]} of {_name(fn)} is "
        f"{is_:.4g}; your graph gives {gives:.4g}.",
        "Go through the function node by node: what is the value, what is its derivative?",
    )


def _tensor(evidence: Evidence, value: Encoded) -> torch.Tensor | None:
    if isinstance(value, dict) and "tensor" in value:
        return evidence.outcome.tensors[value["tensor"]]
    return None


def _name(fn: Callable[..., Any]) -> str:
    return "the model" if isinstance(fn, nn.Module) else f"`{fn.__name__}`"


def slopes(trial: Trial) -> Reference:
    """The derivative at each input, by PyTorch's automatic differentiation."""
    encoder = Encoder()
    runs: list[CallResult] = []
    for (x,) in trial.inputs:
        value = slope(trial.args[0], x, trial.times).to(x.dtype)
        given: Tagged = encoder.encode((x,))
        runs.append({"value": encoder.encode(value), "args": given, "log": {"list": []}})
    return Reference(None, runs, encoder.tensors)


def slope(fn: Callable[..., Any], x: torch.Tensor, times: int) -> torch.Tensor:
    """The elementwise derivative of `fn` at `x`, in double precision."""
    with torch.enable_grad():
        x = x.detach().double().requires_grad_()
        y = fn(x)
        for _ in range(times):
            if not (isinstance(y, torch.Tensor) and y.requires_grad):
                return torch.zeros_like(x)
            (y,) = torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)
    found: torch.Tensor = y.detach()
    return found


ADVICE = (
    AdviceRow(
        ("KeyError",),
        r"^'(\w+)'$",
        "The key here is the string `{1}`. The target of a method is its name, and the target of a "
        "function is the function. Which of the two are the keys of your dictionary?",
        where="call",
        slot=AdviceSlot.KEYS,
    ),
    AdviceRow(
        ("KeyError",),
        r"^<(?:built-in |slot )?(?:function|method|method descriptor) (\w+)",
        "Your dictionary has no entry for a function called `{1}`. One operation has several "
        "spellings, and each of them is another function. Which ones does the exercise name?",
        where="call",
    ),
    AdviceRow(
        ("TypeError",),
        r"missing \d+ required positional argument",
        "A function gets fewer operands than it has parameters. How is this call written in the "
        "function below: which operands come by position, which by keyword?",
        where="call",
    ),
    AdviceRow(
        ("RuntimeError",),
        r"does not require grad",
        "A graph that is run has no gradients to "
        "follow, so that autograd finds nothing in it. The derivative is made of operations: which "
        "rule belongs to each node?",
    ),
)

KEY = AnswerKey(
    (
        returns_graph_module,
        caller_untouched,
        wellformed,
        known_targets,
        parameter_kept,
        runs,
        right_slope.because("says where the slope is wrong, and what it is there"),
        same_result,
        copies,
    ),
    slopes,
    advice=ADVICE,
)
