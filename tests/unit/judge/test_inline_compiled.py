"""What was given to a compiler takes the place of the calls of what it gave."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from autograder.core.codec import Encoder
from autograder.core.graph_program import admitted
from autograder.core.outcome import Outcome
from autograder.judge.inline_compiled import with_pieces
from autograder.models.canary_models import Small, trial_for
from autograder.runner.lowering import lowering
from tests.support.lowered import lower_relu


@pytest.fixture
def outcome() -> Outcome:
    """What lowering the ReLU of the small model leaves."""
    encoder, made = Encoder(), Outcome("a case")
    lowering(lower_relu, trial_for("lowering", 0), made, encoder)
    made.tensors = encoder.tensors
    return made


def test_the_whole_computes_what_the_model_does(outcome: Outcome) -> None:
    whole = with_pieces(outcome.value)
    assert [row["op"] for row in whole["nodes"]].count("call_module") == 1  # the layer is left
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
    assert with_pieces(value) == value["graph_module"]
