"""Which nodes of a graph the values that somebody wants depend on, memory included.

A value depends on the nodes that it reads, and on every call in place that changed the
memory of what is read before it is read. Which values share memory is not guessed from
names: the graph is run, and the storages of the values are compared.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import fx

from autograder.execution import RUN_SEED


class Recorder(fx.Interpreter):
    """Runs a graph and notes each value, as it was when it was computed and as it ended.

    Attributes:
        then: a copy of each node's value at the time when it was computed.
        values: the values themselves, in whatever state they are by now.
    """

    def __init__(self, gm: fx.GraphModule) -> None:
        super().__init__(gm, garbage_collect_values=False)
        self.then: dict[str, Any] = {}
        self.values: dict[str, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        """Run a node, and note its value."""
        value = super().run_node(n)
        self.values[n.name] = value
        self.then[n.name] = copy_of(value)
        return value

    def written_by(self, node: fx.Node) -> set[int]:
        """The storages that a node changes."""
        if not _is_in_place(self.module, node):
            return set()
        first = node.args[0] if node.args else node.kwargs.get("input")
        out = node.kwargs.get("out")
        changed = [first if out is None else out]
        return {key for n in _nodes_in(changed) for key in storages(self.values[n.name])}


def copy_of(value: Any) -> Any:
    """A copy of a value's tensors, in the same nesting."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(copy_of(item) for item in value)
    if isinstance(value, dict):
        return {key: copy_of(item) for key, item in value.items()}
    return value


def recorded(gm: fx.GraphModule, inputs: tuple[Any, ...]) -> Recorder:
    """The record of running a graph on copies of some inputs."""
    recorder = Recorder(gm)
    run_recorder(recorder, inputs)
    return recorder


def run_recorder(recorder: Recorder, inputs: tuple[Any, ...]) -> None:
    """Run a recorder on copies of some inputs, under the seed of all runs."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(RUN_SEED)
        recorder.run(*copy.deepcopy(inputs))


def needed(recorder: Recorder, wanted: set[str]) -> set[str]:
    """Names of the nodes that the values of some nodes depend on, these among them."""
    found: set[str] = set()
    live: set[int] = set()  # storages whose content is still to be read
    for node in reversed(list(recorder.module.graph.nodes)):
        read = any(user.name in found for user in node.users)
        if node.name in wanted or read or recorder.written_by(node) & live:
            found.add(node.name)
            for other in (node, *node.all_input_nodes):
                live |= set(storages(recorder.values[other.name]))
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


def _is_in_place(gm: fx.GraphModule, node: fx.Node) -> bool:
    if node.kwargs.get("inplace") is True or node.kwargs.get("out") is not None:
        return True
    if node.op == "call_module":
        return bool(getattr(gm.get_submodule(str(node.target)), "inplace", False))
    name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
    return str(name).endswith("_") and not str(name).endswith("__") and node.op.startswith("call")
