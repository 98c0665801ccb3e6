"""Compiled subgraphs are inlined into the graph that calls them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from autograder.core.codec import Encoder
from autograder.core.graph_program import admitted
from autograder.core.outcome import Outcome
from autograder.judge.inline_compiled import inline_compiled
from autograder.runner.canary import Small
from autograder.runner.kinds import lowering
from tests.support.lowered import lower_relu


@pytest.fixture
def outcome() -> Outcome:
    """The outcome of lowering the ReLU of the small model."""
    encoder, made = Encoder(), Outcome("a case")
    lowering.run(lower_relu, lowering.canary_trial(0), made, encoder)
    made.tensors = encoder.tensors
    return made


def test_the_whole_computes_what_the_model_does(outcome: Outcome) -> None:
    whole = inline_compiled(outcome.value)
    assert [row["op"] for row in whole["nodes"]].count("call_module") == 1  # the linear layer stays
    program = admitted(whole, outcome.tensors, {})
    x = torch.tensor([[1.0, 2.0], [-3.0, 0.5]])
    assert torch.equal(program(x), Small()(x))


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["pieces"].clear(),
        lambda value: value["compiled"].update({"compiled": 7}),
        lambda value: value["pieces"][0].update({"graph_module": None}),
        lambda value: value["pieces"][0]["graph_module"]["nodes"].pop(0),
        lambda value: value["pieces"][0]["graph_module"]["nodes"].reverse(),
    ],
)
def test_what_does_not_fit_together_is_left_as_it_came(outcome: Outcome, change: Any) -> None:
    value = copy.deepcopy(outcome.value)
    change(value)
    assert inline_compiled(value) == value["graph_module"]
