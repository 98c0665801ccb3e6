"""Claims about a graph's form can only count against an answer."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch import fx, nn

from autograder.core.codec import Encoded, Encoder
from autograder.core.exercise import Case, Exercise, Trial
from autograder.core.graph_record import describe
from autograder.core.outcome import Outcome
from autograder.core.user_code import substitute_user_code
from autograder.exercises.ch03_manipulation.relu_after_add.key import one_relu_for_each_sum
from autograder.exercises.ch05_proxy.build_with_proxies.key import nothing_unused
from autograder.judge import Evidence, findings_of
from autograder.judge.answer_key import AnswerKey
from autograder.judge.derived_graph import DerivedGraph
from autograder.judge.oracles import model_itself
from autograder.rules.passes import PASS, signature_kept
from autograder.rules.wellformed import wellformed
from autograder.runner import run_trial


class Model(nn.Module):
    """A model with two inputs, a default, a layer and an unused value."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x, scale=2.0):
        torch.sin(x)
        return self.layer(x) * scale


def make(seed: int) -> Trial:
    torch.manual_seed(seed)
    model = Model()
    return Trial(args=(model,), model=model, inputs=((torch.ones(3, 2),),))


CASE = Case("a case", "task", make)
EXERCISE = Exercise(
    "", 1, 1, 1, "transform", (), (CASE,), (), name="a_pass", chapter="c", key=__name__
)
KEY = AnswerKey(PASS, model_itself)


def evidence_with(forge: Callable[[Encoded], object]) -> Evidence:
    """The judge's evidence for a plain trace whose description `forge` changed."""
    outcome = run_trial("transform", fx.symbolic_trace, make, CASE.name)
    forge(outcome.value["graph_module"])
    return Evidence(EXERCISE, CASE, outcome, KEY)


def test_what_describes_itself_truly_is_well_formed() -> None:
    evidence = evidence_with(lambda graph: None)
    assert not list(wellformed(evidence))
    assert not list(signature_kept(evidence))
    assert evidence.derived.signature == evidence.graph["signature"]
    assert evidence.derived.code == evidence.graph["fresh_code"]


def test_code_that_is_claimed_counts_against_an_answer() -> None:
    evidence = evidence_with(lambda graph: graph.update(code="def forward(self): ..."))
    assert [f.code for f in wellformed(evidence)] == ["stale-code"]


FORGED: dict[str, tuple[Callable[[Encoded], object], str]] = {
    "the default of a placeholder is gone": (
        lambda graph: graph["nodes"][1].update(args={"tuple": []}), "untrue-signature"),
    "two nodes of one name": (
        lambda graph: graph["nodes"][2].update(name="x"), "lint"),
    "an opcode that there is not": (
        lambda graph: graph["nodes"][2].update(op="call"), "lint"),
    "a module that is not there": (
        lambda graph: graph["nodes"][3].update(target="another"), "missing-target"),
    "readers that are not noted": (
        lambda graph: graph["nodes"][0].update(users=[]), "untrue-links"),
    "inputs that are not noted": (
        lambda graph: graph["nodes"][3].update(inputs=[]), "untrue-links"),
    "a reader that is none": (
        lambda graph: graph["nodes"][2].update(users=[{"node": 5}]), "untrue-links"),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGED)
def test_claims_do_not_speak_for_an_answer(what: str) -> None:
    forge, code = FORGED[what]
    assert code in [finding.code for finding in wellformed(evidence_with(forge))]


def test_signature_that_is_claimed_does_not_count() -> None:
    def lose_default(graph: Encoded) -> None:
        graph["nodes"][1]["args"] = {"tuple": []}

    assert [f.code for f in signature_kept(evidence_with(lose_default))] == ["lost-signature"]


def test_value_is_unused_whatever_is_claimed() -> None:
    def claim_reader(graph: Encoded) -> None:
        graph["nodes"][2]["users"] = [{"node": 5}]

    assert [f.nodes for f in nothing_unused(evidence_with(claim_reader))] == [("sin",)]


def test_relu_reads_a_sum_by_its_arguments() -> None:
    def traced(function: Callable[..., object]) -> Encoded:
        gm = fx.symbolic_trace(function)
        return describe(gm, Encoder())

    data = traced(lambda x: torch.relu(torch.relu(x) + 1) + torch.add(x, 2))
    place = next(i for i, row in enumerate(data["nodes"]) if row["name"] == "add_1")
    data["nodes"][-2]["inputs"] = [{"node": place}]
    evidence = Evidence(EXERCISE, CASE, Outcome(CASE.name, value={"graph_module": data}), KEY)
    assert [f.code for f in one_relu_for_each_sum(evidence)] == ["relu-missing"]


def test_form_of_stars() -> None:
    class Stars(nn.Module):
        def forward(self, x, *rest, key=None, **options):
            return x + rest[0]

    gm = fx.symbolic_trace(Stars())
    data = describe(gm, Encoder())
    assert DerivedGraph(data, lambda: gm.graph).signature == data["signature"]


def test_own_code_is_taken_for_what_is_allowed() -> None:
    def copies(value: torch.Tensor) -> torch.Tensor:
        return value.clone()

    def does_all(x: torch.Tensor, scale: float) -> torch.Tensor:
        return x * scale

    gm = fx.symbolic_trace(Model())
    output = gm.graph.output_node()
    with gm.graph.inserting_before(output):
        x, scale, *_ = gm.graph.nodes
        one = gm.graph.call_function(copies, (), {"value": output.args[0]})
        gm.graph.call_function(does_all, (x, scale))
    output.args = (one,)
    gm.recompile()
    outcome = run_trial("transform", lambda model: gm, make, CASE.name)

    def evidence(allowed: str) -> Evidence:
        exercise = replace(EXERCISE, own_code=allowed)  # type: ignore[arg-type]
        return Evidence(exercise, CASE, deepcopy(outcome), KEY)

    assert [called for _, called in evidence("refused").own_code] == ["copies", "does_all"]
    assert [called for _, called in evidence("copies").own_code] == ["does_all"]
    assert evidence("skipped").own_code == []
    assert evidence("refused").rebuilt is None
    rows = substitute_user_code("skipped", outcome.value["graph_module"])["nodes"]
    assert [row["target"] for row in rows[-3:-1]] == [{"case": "nothing"}] * 2


def test_operation_that_is_not_run_holds_nothing() -> None:
    """Its result would rest on the answer's claims alone."""

    def forge(graph: Encoded) -> None:
        graph["nodes"][2]["target"] = {"unlisted": "torch.another"}

    evidence = evidence_with(forge)
    (finding,) = findings_of(EXERCISE, CASE, evidence.outcome)
    assert finding.code == "unlisted-operation"
