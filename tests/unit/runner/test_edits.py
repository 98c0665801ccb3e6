"""The record of an answer that edits a graph module: the module unchanged, and its vals."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import autograder.given  # noqa: F401 - its import registers the operator
from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.fake_values import val_text
from autograder.core.graph_program import admitted
from autograder.core.outcome import Outcome
from autograder.runner.kinds.graph_edit import run


def recorded(answer: Any) -> Outcome:
    gm = make_fx(lambda x: torch.sin(x) + 1, tracing_mode="fake")(torch.ones(2))
    outcome, encoder = Outcome("a case"), Encoder()
    trial = Trial(args=(gm,), inputs=((torch.ones(2),),))
    run(answer, trial, outcome, encoder)
    outcome.tensors = encoder.tensors
    return outcome


def to_norm(gm: fx.GraphModule) -> int:
    (sine,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default)
    sine.target = torch.ops.fxcourse.rms_norm.default
    sine.args = (*sine.args, None, 0.0)
    del sine.meta["val"]
    gm.recompile()
    return 1


def test_the_changed_module_is_described_admitted_and_run() -> None:
    outcome = recorded(to_norm)
    assert outcome.value["returned"] == 1
    described = outcome.value["graph_module"]
    assert [meta.get("val") for meta in described["meta"]] == [
        "float32 [2]", None, "float32 [2]", None,
    ]  # fmt: skip
    program = admitted(described, outcome.tensors, {})
    x = torch.tensor([3.0, 4.0])
    torch.testing.assert_close(program(x), x / x.pow(2).mean().sqrt() + 1)
    assert outcome.runs[0].keys() == {"forward", "interpreter", "copy"}


def test_the_module_itself_is_told_apart_from_others() -> None:
    assert recorded(lambda gm: gm).value["returned"] == "the graph module"
    assert recorded(lambda gm: None).value["returned"] is None


def test_a_val_says_whether_it_is_fake_and_of_which_mode() -> None:
    mode, other = FakeTensorMode(), FakeTensorMode()
    with mode:
        fake = torch.empty(2, 3, dtype=torch.float16)
    with other:
        foreign = torch.empty(2)
    assert val_text(fake, mode) == "float16 [2, 3]"
    assert val_text(foreign, mode) == "float32 [2], of another mode"
    assert val_text(torch.ones(1), mode) == "float32 [1], and not fake"
    assert val_text((fake, [3, None]), mode) == "(float16 [2, 3], (3, None))"
