"""The random functions of `derivative`: small formulas, and the slopes PyTorch finds for them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.fuzz.grammar import Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.models.slopes import slope

# Exponentials only of what is small: a slope must be a number that can be compared.
VOCABULARY = Vocabulary(
    ops(
        "{a} + {b}",
        "{a} * {b}",
        "{a} - {b}",
        "-{a}",
        "torch.sin({a})",
        "torch.cos({a})",
        "torch.exp(torch.sin({a}))",
        "torch.exp(-x * x)",
        "torch.exp(input=-1 * torch.cos({a}))",
        "torch.neg({a})",
        "torch.add({a}, {b})",
        "torch.sub({a}, {b})",
        "{a}.sin()",
        "{a}.cos()",
        "{a}.cos().exp()",
        "{a}.neg()",
        "{a}.sub({b})",
        "{a}.mul({b})",
        "{a} - {n}",
        "{a} * {n}",
        "{n} + {a}",
        "{n} - {a}",
        "torch.sub(other=x, input={a}) * {b}",
        "{n} - torch.sin({a})",
        "torch.sub(other={a}, input={n} - x)",
        "torch.cos({a}) * ({n} - {b})",
        "{n} * {a}",
        "torch.add({a}, {n})",
        "torch.mul({a}, {n})",
        "{a}.sub({n})",
        "{a}.mul({n})",
        "torch.sin(input={a})",
        "torch.neg(input={a})",
        "torch.add(input={a}, other={b})",
        "torch.sub(other={a}, input={b})",
        "torch.mul({a}, other={n})",
        "{a}.mul(other={b})",
        "{a}.sub(other={n})",
    ),
    results=("value",),
    inputs=("",),
    parts=False,
    most=10,
)
PARAMETERS = ("x", "x", "input", "sin", "angle")
LARGEST = 1e4


def as_function(trial: Trial, choice: int) -> Trial:
    """The case of a function, or of a graph module, to be differentiated once or twice."""
    fn: Any = trial.model
    if not isinstance(fn, fx.GraphModule):
        constant = ("3.0", "2")[choice // 8 % 2] if choice % 8 == 6 else ""
        fn = _function(fn.source_code, PARAMETERS[choice // 2 % len(PARAMETERS)], constant)
    # In float32, two right formulas may differ by more than what rounding is allowed to do.
    inputs = tuple((x.double(),) for (x,) in trial.inputs)
    times = 2 if choice % 3 == 2 else 1
    sizes = [slope(fn, x, n).abs().max() for (x,) in inputs for n in range(1, 1 + times)]
    if not all(size < LARGEST for size in sizes):
        times, inputs = 1, tuple((x / 8,) for (x,) in inputs)
    model = fn if isinstance(fn, fx.GraphModule) else None
    return replace(trial, args=(fn,), model=model, inputs=inputs, times=times)


@lru_cache(maxsize=256)
def _function(source: str, parameter: str, constant: str) -> Callable[..., Any]:
    """The ``forward`` of a class as a function of its own."""
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


def slopes(trial: Trial) -> Reference:
    """The derivative at each input, by PyTorch's own differentiation."""
    encoder, runs = Encoder(), []
    for (x,) in trial.inputs:
        value = slope(trial.args[0], x, trial.times).to(x.dtype)
        given = encoder.encode((x,))
        runs.append({"value": encoder.encode(value), "args": given, "log": {"list": []}})
    return Reference(None, runs, encoder.tensors)


DERIVATIVE = RandomModels(VOCABULARY, slopes, as_function, count=30)
