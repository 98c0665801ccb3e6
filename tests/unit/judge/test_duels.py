"""Duels: the judge rebuilds the exact trace, compiles nothing, and gives no points for lies."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import fx, nn

from autograder import suspects
from autograder.core.codec import Encoder
from autograder.core.input_codec import MOST_NUMBERS, describe_inputs, inputs_of
from autograder.core.outcome import Outcome
from autograder.exercises import EXERCISES
from autograder.judge import Evidence, judge
from autograder.judge.answer_key import key_of
from autograder.judge.duels import Duel, Fight, nothing_compiled
from autograder.runner import run
from tests.exercises import Answer, answers_to
from tests.security.attacks import all_attacks
from tests.security.attacks._judged import earned

NAMES = [name for name, exercise in EXERCISES.items() if exercise.kind == "witness"]
RIGHT = [a for name in NAMES for a in answers_to(name) if a.finding is None]

FIGHT = Fight(suspects.dead_code, "dead_code", "", (), True, 3, 1, "")


def outcome_of(answer: Answer) -> Outcome:
    return run(EXERCISES[answer.exercise], answer.write, EXERCISES[answer.exercise].cases[0])


@pytest.mark.parametrize("answer", RIGHT, ids=str)
def test_what_is_rebuilt_is_the_trace(answer: Answer) -> None:
    """Node names are those of FX, whatever the answer claims."""
    exercise = EXERCISES[answer.exercise]
    duel = Duel(FIGHT, Evidence(exercise, exercise.cases[0], outcome_of(answer), key_of(exercise)))
    torch.manual_seed(0)
    traced = fx.symbolic_trace(answer.write().eval())
    text = str(traced.graph).replace("=torch.empty_like]", "=torch.zeros_like]")
    assert str(duel.trace.graph) == text


@pytest.mark.parametrize("name", suspects.__all__)
@pytest.mark.parametrize("answer", RIGHT[::9], ids=str)
def test_a_suspect_does_the_same_where_nothing_is_compiled(answer: Answer, name: str) -> None:
    traced = fx.symbolic_trace(answer.write().eval())
    suspect = getattr(suspects, name)
    seen: list[Any] = []
    for quiet in (False, True):
        gm = copy.deepcopy(traced)
        try:
            if quiet:
                with nothing_compiled():
                    seen.append(str(suspect(gm).graph))
            else:
                seen.append(str(suspect(gm).graph))
        except TypeError as error:
            seen.append(str(error))
    assert seen[0] == seen[1]


def test_nothing_is_compiled() -> None:
    graph = fx.Graph()
    graph.output(graph.placeholder("x"))
    with nothing_compiled():
        gm = fx.GraphModule(nn.Module(), graph)
        gm.recompile()
    assert not hasattr(gm, "_code")


def test_memory_that_nobody_has_written_holds_zeros() -> None:
    """Otherwise leftover data in memory could win a duel."""

    class Unwritten(nn.Module):
        inputs = (torch.ones(2),)

        def forward(self, x):
            return torch.empty_like(x), x.new_empty(2)

    exercise = EXERCISES["WitnessEqualCalls"]
    outcome = run(exercise, Unwritten, exercise.cases[0])
    duel = Duel(FIGHT, Evidence(exercise, exercise.cases[0], outcome, key_of(exercise)))
    calls = [node.target for node in duel.trace.graph.nodes if node.op.startswith("call_")]
    assert calls == [torch.zeros_like, "new_zeros"]
    assert not judge(exercise, [outcome], exercise.cases[:1]).passed


# ------------------------------------------------------------------ inputs


def there_and_back(*inputs: Any) -> tuple[Any, ...]:
    encoder = Encoder()
    data = describe_inputs(inputs, encoder)
    return inputs_of(data, encoder.tensors)


def test_inputs_share_what_they_shared() -> None:
    base = torch.arange(6.0).view(2, 3)
    whole, again, part, other, few = there_and_back(
        base, base, base.t()[1:], base.clone(), [2, "x"]
    )
    assert few == [2, "x"]
    assert torch.equal(part, base.t()[1:]) and part.stride() == base.t()[1:].stride()
    part.zero_()
    assert whole.sum() == 3.0 and again.sum() == 3.0
    assert torch.equal(other, base)


def test_inputs_are_what_a_run_without_gradients_sees() -> None:
    conjugate = torch.tensor([1 + 2j]).conj()
    product = torch.ones(1, requires_grad=True) * 2
    one, other = there_and_back(conjugate, product)
    assert torch.equal(one, conjugate) and torch.equal(other, product.detach())


@pytest.mark.parametrize(
    "value", [object(), torch.ones(MOST_NUMBERS + 1), nn.Identity(), torch.eye(2).to_sparse()]
)
def test_inputs_without_a_plain_form_are_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        there_and_back(value)


@pytest.mark.parametrize(
    "changed",
    [
        {"views": [[7, [1], [1], 0]]},
        {"views": [[0, [9], [1], 0]]},
        {"views": [[0, [1], [-1], 0]]},
        {"views": [[0, "x", [1], 0]]},
        {"views": []},
        {"values": {"tuple": [{"no": 1}]}},
    ],
    ids=str,
)
def test_inputs_that_do_not_fit_are_refused(changed: dict[str, Any]) -> None:
    encoder = Encoder()
    data = describe_inputs((torch.ones(2),), encoder)
    with pytest.raises(ValueError):
        inputs_of(data | changed, encoder.tensors)


# ------------------------------------------------------------------ lies


def test_claims_count_only_against() -> None:
    """A wrong claim about a witness loses; a right one about another model wins nothing."""
    exercise = EXERCISES["WitnessDeadCode"]
    case = exercise.cases[0]
    winner = next(a for a in answers_to(exercise.name) if a.style == "relu in place")
    outcome = outcome_of(winner)
    assert judge(exercise, [outcome], (case,)).passed
    ran = copy.deepcopy(outcome.value["ran"])
    ran["trace"]["value"] = 3
    lied = replace(outcome, value=outcome.value | {"ran": ran})
    assert judge(exercise, [lied], (case,)).findings[0].code == "not-the-same"


def test_the_duel_is_not_fought_for_a_long_trace() -> None:
    class Long(nn.Module):
        inputs = (torch.ones(1),)

        def forward(self, x):
            for _ in range(60):
                x = torch.relu_(x)
            return x

    exercise = EXERCISES["WitnessByName"]
    verdict = judge(exercise, [run(exercise, Long, exercise.cases[0])], exercise.cases[:1])
    assert verdict.findings[0].code == "too-large"
    assert "has 60 calls in its trace; 2 are allowed" in verdict.findings[0].message


def test_a_lie_about_a_model_earns_nothing() -> None:
    (attack,) = (attack for attack in all_attacks() if attack.name == "claiming-duels")
    assert earned(attack) == {}


def test_the_card_says_how_large_a_witness_is() -> None:
    exercise = EXERCISES["WitnessByName"]
    winner = answers_to(exercise.name)[0]
    outcomes = [run(exercise, winner.write, case) for case in exercise.cases]
    remark = judge(exercise, outcomes).remark
    assert remark.startswith("Calls in yours: 1, in the shortest known: 1.")
