"""The private names of PyTorch that the course uses: each exists, and one file has them all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import fx, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

import autograder
from autograder.core import torch_private

HOME = Path(autograder.__file__).parent
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in HOME.rglob("*.py")}


class Model(nn.Module):
    """One of each: a parameter, a buffer that is `None`, a child."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("offset", None)
        self.act = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(x + self.weight)


class StaysEntered(TorchDispatchMode):
    """A mode that raises when it ends."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

    def __exit__(self, *_: object) -> None:
        raise RuntimeError("not today")


@pytest.fixture
def gm() -> fx.GraphModule:
    return fx.symbolic_trace(Model())


def test_what_a_module_holds_itself() -> None:
    model = Model()
    assert list(torch_private.own_parameters(model)) == ["weight"]
    assert torch_private.own_buffers(model) == {"offset": None}
    assert torch_private.own_modules(model) == {"act": model.act}
    assert isinstance(nn.BatchNorm2d(1), torch_private.BatchNorm)
    assert isinstance(nn.BatchNorm1d(1), torch_private.BatchNorm)


def test_what_a_graph_has_on_record(gm: fx.GraphModule) -> None:
    assert type(torch_private.codegen_of(gm.graph)) is fx.graph.CodeGen
    (add,) = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.add) or [
        node for node in gm.graph.nodes if node.op == "call_function"
    ]
    assert list(torch_private.inputs_recorded_by(add)) == add.all_input_nodes
    torch_private.rename(add, "total")
    assert add.name == "total"
    assert "total" in gm.graph.python_code("self").src


def test_registries_of_tracing() -> None:
    scope = {"__name__": "of_a_test"}
    before = set(torch_private.wrapped_functions())
    exec("from torch import fx\nfx.wrap('len')", scope)
    new = set(torch_private.wrapped_functions()) - before
    assert [(key[1], torch_private.wrapped_functions().pop(key) is scope) for key in new] == [
        ("len", True)
    ]
    assert isinstance(torch_private.wrapped_methods(), list)
    assert torch._assert in torch_private.side_effectful_functions()


def test_names_of_operations() -> None:
    assert torch_private.qualified_name(F.relu) == "torch.nn.functional.relu"
    assert "aten::add.Tensor" in torch_private.operator_names()
    assert "add" in torch_private.tensor_base().__dict__
    assert isinstance(torch.ops.aten.add, torch_private.OpOverloadPacket)
    assert isinstance(torch.ops.aten.add.Tensor, torch_private.OpOverload)


def test_modes_that_stay_entered_are_left() -> None:
    entered = torch_private.modes_entered()
    fake = torch_private.fake_tensor_mode()
    for mode in (fake(), fake(), StaysEntered()):  # of two fake ones, one counts
        mode.__enter__()
    assert isinstance(torch.ones(1), torch_private.fake_tensor_class())
    assert torch_private.leave_modes(entered) == 2
    assert torch_private.modes_entered() == entered
    assert not isinstance(torch.ones(1), torch_private.fake_tensor_class())
    assert torch_private.leave_modes(entered) == 0


def test_fake_tensors_have_shapes_alone() -> None:
    with torch_private.fake_tensor_mode()():
        assert torch.ones(2, 3).shape == (2, 3)


ELSEWHERE = {"_assert": "what FX itself records", "_exit": "of os", "_getframe": "of sys"} | {
    "_assert_tensor_metadata": "an operator of ATen",
    "_preprocessors": "of nbconvert",
    "_config": "of multiprocessing",
    "_lru_cache_wrapper": "of functools",
    "_unsafe_view": "an operator of ATen",
    "_to_copy": "an operator of ATen",
    "_dynamo": "PyTorch documents it under this name: `reset`, `graph_break`, `explain`",
}
"""Private names that are not PyTorch's, or that PyTorch documents."""


PRIVATE_FILES = ("torch_private.py", "fx_tracing.py")
"""The second file replaces private names, and has its own tests."""


def test_no_other_file_names_what_is_private() -> None:
    own = {name for tree in TREES.values() for name in _defined(tree)}
    found = {
        f"{path.relative_to(HOME)}: {name}"
        for path, tree in TREES.items()
        if path.name not in PRIVATE_FILES
        for name in _private(tree)
        if name not in own and name not in ELSEWHERE
    }
    assert found == set()


def _defined(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                yield name


def _private(tree: ast.AST) -> Iterator[str]:
    """Names with one underscore that are read as attributes, or imported from another package."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("autograder"):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
        yield from (name for name in names if name.startswith("_") and not name.startswith("__"))
