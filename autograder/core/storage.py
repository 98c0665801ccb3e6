"""Finds the nodes that given values of a graph depend on, including through shared memory.

A value depends on the nodes that it reads, and on every earlier in-place call that changed the
memory it reads. Names do not tell which values share memory, so the graph is run, and the storages
of its values are compared.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import fx, nn

from autograder.core.execution import RUN_SEED, seed_all
from autograder.core.graph_program import Program


class Record:
    """The values of a graph's nodes in one run.

    Attributes:
        graph: the graph.
        then: a copy of each node's value at the time when it was computed.
        values: the values themselves, which later nodes may have changed.
    """

    def __init__(self, graph: fx.Graph, module_at: Callable[[str], nn.Module]) -> None:
        self.graph, self._module_at = graph, module_at
        self.then: dict[str, Any] = {}
        self.values: dict[str, Any] = {}

    def note(self, node: fx.Node, value: Any) -> None:
        """Record the value of a node."""
        self.values[node.name] = value
        self.then[node.name] = copy_of(value)

    def written_by(self, node: fx.Node) -> set[int]:
        """The storages that a node changes."""
        if not self._is_in_place(node):
            return set()
        first = node.args[0] if node.args else node.kwargs.get("input")
        out = node.kwargs.get("out")
        changed = [first if out is None else out]
        return {key for n in _nodes_in(changed) for key in storages(self.values[n.name])}

    def _is_in_place(self, node: fx.Node) -> bool:
        if node.kwargs.get("inplace") is True or node.kwargs.get("out") is not None:
            return True
        if node.op == "call_module":
            return bool(getattr(self._module_at(str(node.target)), "inplace", False))
        name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
        in_place = str(name).endswith("_") and not str(name).endswith("__")
        # Python's own `operator.and_`, `or_`, `not_` and `is_` change nothing.
        pure = getattr(node.target, "__module__", "") == "_operator"
        return in_place and not pure and node.op.startswith("call")


class Recorder(fx.Interpreter):
    """Runs a graph module of the course, and records its values."""

    def __init__(self, gm: fx.GraphModule) -> None:
        super().__init__(gm, garbage_collect_values=False)
        self.record = Record(gm.graph, gm.get_submodule)

    def run_node(self, n: fx.Node) -> Any:
        """Run a node, and record its value."""
        value = super().run_node(n)
        self.record.note(n, value)
        return value


def copy_of(value: Any) -> Any:
    """Copy the tensors of a value, in the same nesting."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(copy_of(item) for item in value)
    if isinstance(value, dict):
        return {key: copy_of(item) for key, item in value.items()}
    return value


def recorded(gm: fx.GraphModule, inputs: tuple[Any, ...]) -> Record:
    """Run a graph module of the course on copies of the inputs, and return the record."""
    recorder = Recorder(gm)
    run_recorder(recorder, inputs)
    return recorder.record


def run_recorder(recorder: Recorder, inputs: tuple[Any, ...]) -> None:
    """Run a recorder on copies of the inputs, under `RUN_SEED`."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        seed_all(RUN_SEED)
        recorder.run(*copy.deepcopy(inputs))


def recorded_program(program: Program, inputs: tuple[Any, ...]) -> Record:
    """Run a described graph on copies of the inputs, and return the record."""
    record = Record(program.graph, program.modules.__getitem__)
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        seed_all(RUN_SEED)
        program.run(*copy.deepcopy(inputs), observe=record.note)
    return record


def needed(record: Record, wanted: set[str]) -> set[str]:
    """Names of the wanted nodes and of all nodes that their values depend on."""
    found: set[str] = set()
    live: set[int] = set()  # storages whose content a later node reads
    for node in reversed(list(record.graph.nodes)):
        read = any(user.name in found for user in node.users)
        if node.name in wanted or read or record.written_by(node) & live:
            found.add(node.name)
            for other in (node, *node.all_input_nodes):
                live |= set(storages(record.values[other.name]))
    return found


def storages(value: Any) -> Iterator[int]:
    """The storages of all tensors in a value."""
    if isinstance(value, torch.Tensor):
        if value.numel():
            yield value.untyped_storage().data_ptr()
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from storages(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from storages(item)


def _nodes_in(values: Any) -> list[fx.Node]:
    found: list[fx.Node] = []
    fx.node.map_arg(values, found.append)
    return found
