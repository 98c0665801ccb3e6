"""The record of a training step's graph: nested arguments, shared memory, marks, gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.graph_jobs import do_job
from autograder.core.outcome import Outcome
from autograder.given import annotate, make_fx, memory_of, preserve_node_meta
from autograder.runner.kinds.step_graph import run

PARAMS = {"weight": torch.tensor([1.0, 2.0]), "bias": torch.tensor([0.5, 0.5])}


def step(params: Any, x: torch.Tensor) -> Any:
    value = params["weight"] * x
    with annotate({"phase": "backward"}):
        grad = value.view(2, 1) * 2
    return value, {"grad": grad, "bias": params["bias"].add_(1)}


def captured(*_: Any) -> Any:
    with preserve_node_meta():
        return make_fx(step, tracing_mode="fake")(PARAMS, torch.ones(2))


def recorded(answer: Any, model: nn.Module | None = None) -> tuple[Outcome, Trial]:
    trial = Trial(args=(model,), model=model, inputs=((PARAMS, torch.tensor([3.0, 4.0])),))
    outcome, encoder = Outcome("a case"), Encoder()
    run(answer, trial, outcome, encoder)
    outcome.tensors = encoder.tensors
    return outcome, trial


def test_a_graph_with_nested_arguments_is_described_and_run() -> None:
    outcome, trial = recorded(captured)
    assert outcome.value["trees"] == {
        "tuple": [
            {"tuple": [{"dict": [["weight", 0], ["bias", 1]]}, 2]},
            {"tuple": [0, {"dict": [["grad", 1], ["bias", 2]]}]},
        ]
    }
    results, tensors = do_job("results", trial, outcome.value, outcome.tensors)
    value, rest = results[0]["value"]["tuple"]
    assert tensors[value["tensor"]].tolist() == [3.0, 8.0]
    assert [key for key, _ in rest["dict"]] == ["grad", "bias"]
    (after, _) = results[0]["args"]["tuple"]
    assert tensors[dict(map(tuple, after["dict"]))["bias"]["tensor"]].tolist() == [1.5, 1.5]


def test_values_of_one_memory_have_one_number() -> None:
    outcome, _ = recorded(captured)
    described = outcome.value["graph_module"]
    notes = {
        row["name"]: meta for row, meta in zip(described["nodes"], described["meta"], strict=True)
    }
    (multiplied,), (viewed,) = (notes[name]["memory"]["list"] for name in ("mul", "view"))
    assert multiplied == viewed != notes["mul_1"]["memory"]["list"][0]
    assert "custom" not in notes["mul"]
    assert notes["view"]["custom"] == {"dict": [["phase", "backward"]]}


@pytest.mark.parametrize(
    "trees",
    [
        [0, 0],
        [{"tuple": [{"dict": [["weight", 0], ["bias", 0]]}, 1]}, 0],
        [{"tuple": [{"dict": [["weight", 0], ["bias", 1]]}, 3]}, 0],
        [{"opaque": "tree"}, 0],
    ],
)
def test_arguments_that_do_not_fit_the_placeholders_are_not_admitted(trees: list[Any]) -> None:
    outcome, trial = recorded(captured)
    value = {**outcome.value, "trees": {"tuple": trees}}
    found, _ = do_job("results", trial, value, outcome.tensors)
    assert "not admitted" in found


def test_arguments_nested_in_another_way_raise() -> None:
    outcome, trial = recorded(captured)
    given, result = outcome.value["trees"]["tuple"]
    given["tuple"][0]["dict"][1][0] = "offset"
    value = {**outcome.value, "trees": {"tuple": [given, result]}}
    (found,), _ = do_job("results", trial, value, outcome.tensors)
    assert "other keys" in found["error"]["message"]


@pytest.mark.parametrize("had", [False, True])
def test_a_changed_gradient_is_a_change_of_the_model(had: bool) -> None:
    model = nn.Linear(2, 1)
    if had:
        model(torch.ones(2)).backward()

    def answer(model: nn.Module) -> None:
        model(torch.ones(2)).backward()

    outcome, _ = recorded(answer, model)
    assert sorted(outcome.changed) == [
        "the gradient of parameter `bias` was changed",
        "the gradient of parameter `weight` was changed",
    ]
    assert recorded(lambda model: None, model)[0].changed == []


def test_names_of_the_chapters_that_pytorch_may_change() -> None:
    """Each is there, and does what chapter 16 says."""
    base = torch.zeros(4)
    assert memory_of(base) == memory_of(base.view(2, 2)) != memory_of(torch.zeros(4))
    gm = captured()
    marked = [n.name for n in gm.graph.nodes if n.meta.get("custom") == {"phase": "backward"}]
    assert marked == ["view", "mul_1"]
    vals = [n.meta["val"] for n in gm.graph.nodes if n.op != "output"]
    assert {type(val).__name__ for val in vals} == {"FakeTensor"}
    with annotate({"phase": "backward"}):
        unmarked = make_fx(step, tracing_mode="fake")(PARAMS, torch.ones(2))
    assert not any("custom" in node.meta for node in unmarked.graph.nodes)
    assert PARAMS["bias"].tolist() == [0.5, 0.5] and len(pytree.tree_leaves(PARAMS)) == 2
