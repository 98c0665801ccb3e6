"""A toy exercise for tests of the engine, with an answer key."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import torch
from torch import fx, nn

from autograder.core.exercise import Aspect, Exercise, Trial
from autograder.core.outcome import Reference
from autograder.judge.answer_key import AnswerKey
from autograder.models import T, model_case
from autograder.rules.passes import PASS
from autograder.runner import run_trial


class OneAdd(nn.Module):
    """A sum of two inputs."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.add(x, y)


class Nested(nn.Module):
    """A layer, a dictionary and a default argument."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def forward(self, x: torch.Tensor, scale: float = 2.0) -> dict[str, Any]:
        hidden = self.block(x)
        return {"sum": torch.add(hidden, x) * scale, "parts": [hidden, x]}


TOY = Exercise(
    name="toy",
    chapter="03_manipulation",
    title="A toy",
    stars=1,
    minutes=5,
    points=3,
    kind="transform",
    aspects=(Aspect("task", 2, "sums become products"), Aspect("nested", 1, "nested models")),
    cases=(
        model_case("one sum", "task", OneAdd, (T(2, 3), T(2, 3)), (T(4, 1), T(3))),
        model_case("nested", "nested", Nested, (T(2, 3),), (T(5, 3), 0.5)),
        replace(model_case("hidden", "task", OneAdd, (T(7),) * 2), hidden=True),
    ),
    key=__name__,
    hints=("Look at the targets.",),
)


def solution(model: nn.Module) -> fx.GraphModule:
    """The toy's reference solution, which replaces `torch.add` by `torch.mul`."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is torch.add:
            node.target = torch.mul
    gm.recompile()
    return gm


def solved(trial: Trial) -> Reference:
    """The toy's oracle: the result of its solution after a round trip through JSON."""
    outcome = run_trial(TOY.kind, solution, lambda seed: trial, "toy")
    return Reference.from_json(json.loads(json.dumps(Reference.of_outcome(outcome).to_json())))


KEY = AnswerKey(PASS, solved)
