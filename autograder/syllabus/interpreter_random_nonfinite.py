"""Chapter 06: the random models of `first_nonfinite`, in which a NaN may begin anywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import fx, nn

from autograder.core.exercise import Trial
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.judge.oracles import answer_of
from autograder.syllabus.interpreter_random import KINDS, values_of, with_inputs

OTHERS = tuple(op for op in COMMON if "Linear" in op.text or op.outs == 2 or op.column)


def _spoiled(values: list[torch.Tensor], choice: int) -> None:
    """Put a number that is none into a tensor."""
    number = (math.nan, math.inf, -math.inf)[choice % 3]
    if values:
        values[choice % len(values)].view(-1)[-1:] = number


def perhaps_spoiled(trial: Trial, choice: int) -> Trial:
    """A NaN or an infinity in an input, in a parameter, or nowhere."""
    trial = with_inputs(trial, choice)
    (inputs,) = trial.inputs
    with torch.no_grad():
        if choice % 8 == 1:
            _spoiled([value for value in inputs if isinstance(value, torch.Tensor)], choice // 8)
        elif choice % 4 == 2:
            _spoiled([*trial.model.parameters(), *trial.model.buffers()], choice // 4)
        elif choice % 8 == 3 and isinstance(inputs[-1], float):
            inputs = (*inputs[:-1], math.nan)
    return replace(trial, args=(trial.model, *inputs), inputs=(inputs,))


def _numbers(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, (float, torch.Tensor)):
        yield value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=torch.float64)


def where_it_begins(model: nn.Module, *inputs: Any) -> str | None:
    """What `first_nonfinite` is to return."""
    values = values_of(model, *inputs)

    def sound(name: str) -> bool:
        # What is finite is 0 when it is multiplied by 0.
        return not any((number * 0 != 0).any() for number in _numbers(values[name]))

    for node in fx.symbolic_trace(model).graph.nodes:
        if not sound(node.name) and all(sound(read.name) for read in node.all_input_nodes):
            return str(node.name)
    return None


NONFINITE = RandomModels(
    Vocabulary(
        ops(
            "torch.log({a})",
            "{a}.sqrt()",
            "torch.exp({a} * 1000)",
            "{a} / ({b} - {a})",
            "torch.log(torch.relu({a}))",
            "{a} / torch.relu({b})",
            "{x} * ({a}.sum().item() * 1e200 * 1e200)",
            "({a} * 60_000).half().to({a}.dtype)",
            "torch.where(torch.isfinite({a}), {a}, {n})",
            "torch.full_like({x}, 3e38)",
            "{a}.clamp(min=-1.0, max=1.0)",
            "{x} + [nn.Parameter(torch.ones(()))]",
            "{a} * [nn.Parameter(torch.ones(()))]",
            "{x} + [buffer(torch.ones(()))]",
            "{x} * ({a} > 0).sum()",
            "torch.where({a} > 0, {a}, 1 / torch.relu({a}))",
            "{x} + torch.var_mean({a}.reshape(-1)[:1], dim=0)[1]",
            "torch.std_mean({a}.reshape(-1)[:1], dim=0)[1] * {x}",
            "-torch.log(torch.relu({a}))",
        )
        + ops(
            "{x} + {a}[:0].sum()",
            "{x} * torch.var_mean({a}[..., :1], dim=-1, keepdim=True)[1]",
            "{x} + torch.log({a}).unbind(0)[0].sum()",
            "torch.stack([torch.log({x}), {y}]).unbind(0)[1]",
            dims=(1, 4),
        )
        + OTHERS,
        inputs=KINDS,
        dtypes=(torch.float64, torch.float32),
    ),
    answer_of(where_it_begins),
    perhaps_spoiled,
)
