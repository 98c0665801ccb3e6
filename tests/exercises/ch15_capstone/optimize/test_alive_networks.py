"""Each layer matters in the torchvision networks of cases that compare results."""

from __future__ import annotations

import pytest

from autograder.alive import TOLERANCES, layer_effects
from autograder.core.exercise import Case
from autograder.exercises import EXERCISES

CASES = [case for case in EXERCISES["optimize"].cases if case.aspect == "networks"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_layer_matters(case: Case) -> None:
    trial = case.make(0)
    (inputs,) = trial.inputs
    effects = dict(layer_effects(trial.model, *inputs))
    assert len(effects) > 20
    assert min(effects.values()) > 30 * max(TOLERANCES.values()), effects
