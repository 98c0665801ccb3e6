"""The code of usual graphs: the same as FX's own, sign for sign; all others are left to FX."""

from __future__ import annotations

import math
import operator
import traceback
from collections import namedtuple
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx import graph as fx_graph
from torch.fx.graph import Graph

from autograder.core import quick_code, quick_tracing
from autograder.exercises import EXERCISES

quick_tracing.install()
_STOCK = Graph.python_code.__globals__["original"]


def own(x: torch.Tensor) -> torch.Tensor:
    """A function of this module."""
    return x + 1


def same_name() -> Callable[..., Any]:
    """Another function of that name."""

    def own(x: torch.Tensor) -> torch.Tensor:
        return x + 2

    own.__module__, own.__qualname__ = __name__, "own"
    return own


class Everything(nn.Module):
    """All kinds of nodes, and values of all usual types."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x, scale=2.0, *, flag=True):  # type: ignore[no-untyped-def]
        y = self.layers(x) * self.weight + math.sqrt(2.0)
        y += x.shape[0]
        y = torch.cat([y, F.gelu(y, approximate="tanh")], dim=-1)[..., 1:3, None]
        y = y.to(torch.float64).clamp(min=-math.inf).masked_fill(y > 0, scale)
        torch.sin(y)
        return {"a": (y,), "b": [y, None, slice(0, x.ndim)]}, -y @ y.mT, operator.iadd(y, 1)


MODELS = [
    name
    for name, one in EXERCISES.items()
    if one.random and isinstance(one.cases[0].make(0).model, nn.Module)
]
"""Exercises whose cases have models."""


def graph_of(target: Any, *args: Any, **kwargs: Any) -> fx.Graph:
    """A graph with one call."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(target, (x, *args), kwargs))
    return graph


def written(graph: fx.Graph) -> Any:
    """What the quick way makes of a graph."""
    return quick_code.quick_code(graph, "self", {})


def assert_same(graph: fx.Graph) -> None:
    quick, stock = written(graph), _STOCK(graph, "self")
    assert quick.src == stock.src
    assert list(quick.globals) == list(stock.globals)
    pairs = zip(quick.globals.values(), stock.globals.values(), strict=True)
    assert all(one is other or one == other for one, other in pairs)
    assert quick._lineno_map == stock._lineno_map
    assert quick._prologue_start == stock._prologue_start


def test_every_kind_of_node_and_value() -> None:
    assert_same(fx.symbolic_trace(Everything()).graph)


@pytest.mark.parametrize("name", MODELS)
def test_models_of_the_course(name: str) -> None:
    exercise = EXERCISES[name]
    assert exercise.random is not None
    for case in (*exercise.cases[:8], *exercise.random.cases(7)[:6]):
        try:
            graph = fx.symbolic_trace(case.make(0).model).graph  # type: ignore[arg-type]
        except Exception:
            continue  # a case without a model, or of one that cannot be traced
        if written(graph) is not None:
            assert_same(graph)


def test_names_are_told_apart_as_by_fx() -> None:
    graph = fx.Graph()
    x = graph.placeholder("torch")
    y = graph.call_function(own, (x,))
    z = graph.call_function(same_name(), (y,))
    graph.output(graph.call_method("inf", (z, graph.get_attr("a.0.b"))))
    assert_same(graph)


def test_what_is_not_read_is_let_go() -> None:
    graph = graph_of(torch.relu)
    with graph.inserting_before(graph.output_node()):
        graph.call_function(print, (graph.find_nodes(op="placeholder")[0],))
    assert_same(graph)


Pair = namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    "graph",
    [
        graph_of(torch.add, Pair(1, 2)),
        graph_of(torch.add, 1j),
        graph_of(torch.add, torch.ones(1)),
        graph_of(getattr, "no name"),
        graph_of(getattr),
        graph_of(torch.add, "# COUNTER: 3"),
        fx.Graph(),
    ],
    ids=[
        "named tuple",
        "complex",
        "tensor",
        "odd name",
        "one argument",
        "counter",
        "empty",
    ],
)
def test_what_is_unusual_is_left_to_fx(graph: fx.Graph) -> None:
    assert written(graph) is None


def test_types_marks_and_wishes_are_left_to_fx(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(own)
    call = next(node for node in graph.nodes if node.op == "call_function")
    assert quick_code.quick_code(graph, "self", {"verbose": True}) is None
    call.type = list[torch.Tensor]
    assert written(graph) is None
    call.type, call.meta = torch.Tensor, {"is_wrapped": True}
    assert written(graph) is None
    call.meta = {"nn_module_stack": {}}
    assert_same(graph)
    graph.on_generate_code(lambda _: lambda body: body)
    assert written(graph) is None
    graph = graph_of(own)
    monkeypatch.setenv("FX_GRAPH_SHOW_META", "1")
    assert written(graph) is None


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (fx_graph, "_format_target"),
        (fx_graph.CodeGen, "gen_fn_def"),
        (fx_graph.CodeGen, "_gen_python_code"),
        (fx.Node, "__repr__"),
    ],
)
def test_who_mends_fx_is_heard(owner: Any, name: str) -> None:
    graph, own = graph_of(torch.relu), getattr(owner, name)
    with mock.patch.object(owner, name, lambda *args, **kwargs: own(*args, **kwargs)):
        assert written(graph) is None
    assert_same(graph)


def test_a_keyword_as_a_name_fails_as_with_fx() -> None:
    assert_same(graph_of(getattr, "class"))


def test_nodes_are_found_in_the_order_of_the_graph_afterwards() -> None:
    def search(write: Callable[[fx.Graph], Any]) -> list[str]:
        graph = graph_of(torch.relu)
        with graph.inserting_before(
            next(iter(graph.find_nodes(op="call_function", target=torch.relu)))
        ):
            graph.call_function(torch.relu, (1,), name="early")
        write(graph)
        found = graph.find_nodes(op="call_function", target=torch.relu, sort=False)
        return [node.name for node in found]

    assert search(written) == search(lambda graph: _STOCK(graph, "self")) == ["early", "relu"]


def test_what_fx_raises_comes_from_fx() -> None:
    graph = graph_of(eval("lambda x: x"))  # whose text nobody finds
    with pytest.raises(RuntimeError) as raised:
        fx.GraphModule({}, graph)
    rows = traceback.extract_tb(raised.value.__traceback__)
    assert not [row.filename for row in rows if "autograder" in row.filename]
