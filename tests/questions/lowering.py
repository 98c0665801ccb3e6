"""Questions about parts of a graph: which may form one piece, and how a piece becomes one call."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import fx, nn
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import create_op_support
from torch.fx.passes.split_module import split_module
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from tests.questions import question


def fused(gm: fx.GraphModule, *sets: set[str]) -> fx.GraphModule:
    """A copy in which each set of nodes is one call."""
    new = copy.deepcopy(gm)
    groups = [{n: None for n in new.graph.nodes if n.name in names} for names in sets]
    return fuse_by_partitions(new, groups, always_return_tuple=True)


class Detour(nn.Module):
    """Two neighbors, and a second path between them."""

    def forward(self, x):
        a = torch.relu(x)
        return torch.maximum(a, torch.sin(a))


class Entangled(nn.Module):
    """Two pairs that read each other."""

    def forward(self, x, y):
        a, b = torch.relu(x), torch.relu(y)
        return torch.maximum(a, torch.cos(b)) - torch.maximum(b, torch.sin(a))


def proposed(gm: fx.GraphModule, *functions: object) -> list[set[str]]:
    """The sets of nodes that PyTorch's partitioner proposes for a backend with these functions."""
    support = create_op_support(lambda _, node: node.target in functions)
    found = CapabilityBasedPartitioner(gm, support, allows_single_node_partition=True)
    return [{node.name for node in part.nodes} for part in found.propose_partitions()]


@question(47, "forum: are two nodes fusable?", "13b_lowering: A set that waits for itself")
def two_nodes_in_one_call() -> None:
    """How do I know whether two nodes can be fused?"""
    gm = fx.symbolic_trace(Detour())
    with pytest.raises(AssertionError, match="dependency cycles"):
        fused(gm, {"relu", "maximum"})  # neighbors, but not fusible
    x = torch.randn(3)
    for names in ({"relu", "sin"}, {"sin", "maximum"}, {"relu", "sin", "maximum"}):
        assert torch.equal(fused(gm, names)(x), gm(x))  # no path leaves these and returns


@question(48, "forum: node fusion via leaf nodes", "13b_lowering: What goes in and out")
def several_nodes_as_one() -> None:
    """How do several nodes become one node?"""
    gm = fx.symbolic_trace(Detour())
    one = fused(gm, {"relu", "sin"})
    calls = [node.target for node in one.graph.nodes if node.op == "call_module"]
    assert calls == ["fused_0"] and isinstance(one.fused_0, fx.GraphModule)

    class Whole(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    kept = fx.GraphModule(one, Whole().trace(one))  # it stays one node in a trace
    assert len(kept.graph.find_nodes(op="call_module", target="fused_0")) == 1


@question(59, "pytorch#166034", "13b_lowering: Two devices")
def splitting_an_exported_program() -> None:
    """Why does a split exported program not take my inputs any more?"""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(2.0))

        def forward(self, x):
            return torch.relu(x * self.scale)

    def half(node):
        return int(node.name.startswith("relu"))

    model, x = Scaled(), torch.randn(3)
    program = torch.export.export(model, (x,))
    lifted = split_module(copy.deepcopy(program.graph_module), None, half)
    with pytest.raises(TypeError, match="missing"):
        lifted(x)  # parameters are inputs of the program's graph
    split = split_module(program.module(), None, half)
    (result,) = split(x)  # the structure of the result is lost, too
    assert torch.equal(result, model(x))


@question(61, "pytorch#140014", "13b_lowering: Two devices")
def splitting_what_does_nothing() -> None:
    """What does `split_module` do with a graph that computes nothing?"""
    gm = fx.symbolic_trace(lambda x: (x,))
    split = split_module(gm, None, lambda node: 0)
    assert not split.graph.find_nodes(op="call_module", target="submod_0")
    x = torch.randn(3)
    assert split(x)[0] is x
    kept = split_module(gm, None, lambda node: 0, keep_original_order=True)
    assert kept(x)[0] is x  # this raised an error until a version of 2024


@question(62, "pytorch#86159", "13b_lowering: What PyTorch does")
def pieces_that_are_not_connected() -> None:
    """Does the partitioner join calls that are not connected, and does it avoid cycles?"""
    gm = fx.symbolic_trace(Entangled())
    sets = proposed(gm, torch.relu, torch.maximum)
    assert {frozenset(names) for names in sets} == {
        frozenset({"relu", "relu_1"}),
        frozenset({"maximum", "maximum_1"}),
    }
    x, y = torch.randn(3), torch.randn(3)
    assert torch.equal(fused(gm, *sets)(x, y), gm(x, y))


@question(63, "pytorch#81244", "13b_lowering: A write in place changes its place")
def a_write_that_moves() -> None:
    """Why is the result wrong after partitioning a graph that writes in place?"""

    class Writes(nn.Module):
        def forward(self, x):
            a = torch.relu(x)
            b = a.mul_(2)
            return torch.sin(a), b

    gm, ones = fx.symbolic_trace(Writes()), torch.ones(1)
    parts = split_module(copy.deepcopy(gm), None, lambda n: "2" if n.name == "mul_" else "1")
    assert not torch.equal(parts(ones)[0], gm(ones)[0])
    program = torch.export.export(Writes(), (ones,)).run_decompositions({})
    graph = program.graph_module
    assert not [n for n in graph.graph.nodes if str(n.target).startswith("aten.mul_")]
    with pytest.raises(RuntimeError, match="cycle"):  # the same labels: now an edge shows it
        split_module(copy.deepcopy(graph), None, lambda n: "2" if n.name == "mul" else "1")
    parts = split_module(copy.deepcopy(graph), None, lambda n: n.name)
    assert torch.equal(parts(ones)[0], Writes()(torch.ones(1))[0])


@question(64, "executorch PR#20384", "13b_lowering: Each set works alone, but not both together")
def found_dependency_cycles() -> None:
    """Why do my own sets give "found dependency cycles", or a cycle only together?"""
    gm = fx.symbolic_trace(Entangled())
    left, right = {"relu", "maximum"}, {"relu_1", "maximum_1"}
    assert fused(gm, left).graph and fused(gm, right).graph
    with pytest.raises(AssertionError, match="cycles"):
        fused(gm, left, right)
    assert fused(gm, {"relu", "relu_1"}, {"maximum", "maximum_1"}).graph


@question(58, "ColossalAI PR#1480", "13_partition: Tensors and their memory")
def memory_by_node() -> None:
    """How much memory does each node of my graph hold?"""
    held: dict[str, tuple[int, int]] = {}

    class Memory(fx.Interpreter):
        def run_node(self, n: fx.Node) -> object:
            value = super().run_node(n)
            if n.op == "call_function":
                size = value.numel() * value.element_size()
                held[n.name] = (size, value.untyped_storage().nbytes())
            return value

    def model(x):
        return torch.exp(x).reshape(-1)[:1]

    Memory(fx.symbolic_trace(model)).run(torch.ones(10, 100))
    # A slice has four bytes, but keeps all 4,000 bytes of its storage.
    assert held == {"exp": (4000, 4000), "getitem": (4, 4000)}
