"""The runner records a learner's use of forbidden attributes, and ignores use by FX itself."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import fx, nn

from autograder.exercises.ch02_nodes.inputs_of.models import OWN_LIST
from autograder.runner import forbidden
from autograder.runner.forbidden import spying_on
from autograder.speed import fx_tracing

TEXT = "lambda node: node.all_input_nodes"


@pytest.fixture
def node() -> fx.Node:
    return list(fx.symbolic_trace(nn.ReLU()).graph.nodes)[1]


def test_use_by_fx_itself_is_not_noted(node: fx.Node) -> None:
    fx_tracing.install()  # calls from FX's patched functions do not count either
    with spying_on(OWN_LIST) as used:
        node.graph.lint()
        fx.Interpreter(fx.GraphModule(nn.ReLU(), node.graph)).run(torch.ones(1))
        node.graph.eliminate_dead_code()
    assert used == []


def test_code_that_is_compiled_as_if_it_were_a_file_of_torch_is_noted(node: fx.Node) -> None:
    read = eval(compile(TEXT, str(fx.node.__file__), "eval"))
    with spying_on(OWN_LIST) as used:
        read(node)
    assert used == ["all_input_nodes"]


def test_a_note_needs_no_name_that_a_cell_can_give_another_meaning(
    node: fx.Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    with spying_on(OWN_LIST) as used:
        silent = SimpleNamespace(_getframe=lambda depth: SimpleNamespace(f_code=fx.Node.__init__))
        monkeypatch.setattr(forbidden, "sys", silent)
        monkeypatch.setattr(forbidden._Spy, "_noting", lambda spy: lambda: None)
        monkeypatch.setattr(forbidden, "_property", None)
        _ = node.all_input_nodes
    assert used == ["all_input_nodes"]
