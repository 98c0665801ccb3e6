"""Graphs for `sort_graph` in which some nodes precede their inputs, and the report."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import fx, nn
from torch.fx.node import map_aggregate

from autograder.authoring.models import Trial, fresh
from autograder.exercises.ch12_passes.models import attempt, is_recompiled, rows_of


@dataclass(frozen=True)
class Entry:
    """One node at its position in the graph.

    Attributes:
        name: the node's name; ``output`` is the output node.
        target: the function, or the name of a method, layer or attribute.
        args: its arguments, with other nodes by name.
        kwargs: its keyword arguments, as pairs.
        op: its opcode.
    """

    name: str
    target: Any
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    op: str = "call_function"


def sin(name: str, read: str) -> Entry:
    """A node with one input."""
    return Entry(name, torch.sin, (read,))


def add(name: str, first: str, second: str) -> Entry:
    """A node with two inputs."""
    return Entry(name, torch.add, (first, second))


def output(*reads: Any) -> Entry:
    """The output node."""
    return Entry("output", "output", (reads[0] if len(reads) == 1 else reads,), op="output")


def total(parts):
    """The sum of the tensors in a dictionary."""
    return sum(parts["all"])


class Parts(nn.Module):
    """The modules and tensors that the graphs call and read."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.weight = nn.Parameter(torch.ones(3))


def graph_module(root: nn.Module, entries: tuple[Entry, ...]) -> fx.GraphModule:
    """Build a graph module with these nodes, in this order, after two placeholders.

    It is not recompiled, so its code is that of a graph without nodes.
    """
    gm = fx.GraphModule(root, fx.Graph())
    gm.layer, gm.weight = root.layer, root.weight
    graph = gm.graph
    nodes = {name: graph.placeholder(name) for name in ("x1", "x2")}
    for entry in entries:
        nodes[entry.name] = graph.create_node(entry.op, entry.target, (), {}, entry.name)
    for i, entry in enumerate(entries):
        args, kwargs = map_aggregate(
            (entry.args, dict(entry.kwargs)), lambda a: nodes.get(a, a) if type(a) is str else a
        )
        node = nodes[entry.name]
        node.args, node.kwargs = args, kwargs
        node.meta["number"] = i
        node.meta["val"] = f"what {node.name} gives"
    return gm


@dataclass(frozen=True)
class ByHand:
    """Makes a graph module from entries."""

    entries: tuple[Entry, ...]

    def __call__(self, root: nn.Module) -> fx.GraphModule:
        """The graph module."""
        return graph_module(root, self.entries)


@dataclass(frozen=True)
class Sorting:
    """Builds the objects of a case.

    Attributes:
        entries: the nodes after the placeholders, in order.
    """

    entries: tuple[Entry, ...]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        root = fresh(Parts, seed)
        generator = torch.Generator().manual_seed(seed)
        inputs = tuple(torch.randn(2, 3, generator=generator, dtype=torch.float64) for _ in "12")
        return Trial(
            args=(Asked(ByHand(self.entries), root),),
            model=root,
            inputs=(inputs,),
        )


def shortened(names: list[str]) -> str:
    """Names for a sentence; only the first and the last of many."""
    if len(names) > 16:
        names = [*names[:8], "...", *names[-4:]]
    return ", ".join(names)


@dataclass(frozen=True, eq=False)
class Asked:
    """Calls the answer with a graph module, and reports on the changed module.

    Attributes:
        make: makes the graph module.
        root: the modules and tensors for it.
    """

    make: Callable[[nn.Module], fx.GraphModule]
    root: nn.Module = field(repr=False)

    @property
    def listed(self) -> str:
        """The names of the nodes in the order of the given graph."""
        return shortened([node.name for node in self.make(self.root).graph.nodes])

    @property
    def says(self) -> str:
        """The call, for a card."""
        return f"{{name}}(gm), with the nodes {self.listed}"

    def __call__(self, answer: Any) -> Callable[..., Any]:
        """Call the answer; each run then calls the module, if it was sorted."""
        gm = self.make(self.root)
        nodes, code = {node.name: node for node in gm.graph.nodes}, gm.code
        said: dict[str, Any] = {"ended": "returned", "message": ""}
        try:
            said["nothing"] = answer(gm) is None
        except ValueError as error:
            said |= {"ended": "refused", "message": str(error), "code": gm.code == code}
        found = [*gm.graph.nodes]
        said["order"] = [node.name for node in found]
        said["same nodes"] = {*map(id, found)} == {*map(id, nodes.values())}
        said["rows"] = sorted(rows_of(gm), key=lambda row: str(row[1]))
        if said["ended"] == "refused":
            return lambda *_: said
        said["recompiled"] = is_recompiled(gm)
        return lambda *inputs: {**said, "result": attempt(gm, *inputs)}


# ------------------------------------------------------------------ random models


@dataclass(frozen=True)
class Shuffled:
    """Traces a model, and shuffles the nodes after the placeholders.

    Attributes:
        choice: seed of the order; some choices also add a cycle.
    """

    choice: int

    def __call__(self, model: nn.Module) -> fx.GraphModule:
        """The graph module."""
        draw = random.Random(self.choice)
        gm = fx.symbolic_trace(copy.deepcopy(model))
        nodes = [*gm.graph.nodes]
        for i, node in enumerate(nodes):
            if node.op not in ("placeholder", "output"):
                node.name = f"n{i}_{node.name}"
            node.meta["number"] = i
            node.meta["val"] = f"what {node.name} gives"
        if self.choice % 4 == 3:
            _close_a_circle(nodes, draw)
        others = [node for node in nodes if node.op != "placeholder"]
        draw.shuffle(others)
        last = nodes[len(nodes) - len(others) - 1]
        for node in others:
            last.append(node)
            last = node
        return gm


def _close_a_circle(nodes: list[fx.Node], draw: random.Random) -> None:
    """Let one call read its own value, or a value computed from it."""
    calls = [node for node in nodes if node.op == "call_function" and node.all_input_nodes]
    if not calls:
        return
    first = draw.choice(calls)
    behind = {first: None}
    for node in nodes:
        if any(read in behind for read in node.all_input_nodes) and node.op != "output":
            behind[node] = None
    first.replace_input_with(draw.choice(first.all_input_nodes), draw.choice([*behind]))


def shuffled(trial: Trial, choice: int) -> Trial:
    """Shuffle the nodes in the trial of a random model."""
    assert trial.model is not None
    return replace(trial, args=(Asked(Shuffled(choice), trial.model),), inputs=trial.inputs[:1])


# ------------------------------------------------------------------ larger graphs


MIXED = (
    output("n9"),
    Entry("n9", "view_as", ("n8", "x1"), op="call_method"),
    Entry("n8", operator.mul, ("n7", "w6")),
    Entry("n7", "layer", ("n5",), op="call_module"),
    Entry("w6", "weight", op="get_attr"),
    Entry("n5", torch.add, ("x1",), (("other", "n4"), ("alpha", 2))),
    Entry("n4", operator.getitem, ("n3", slice(None, "n2"))),
    Entry("n3", torch.cat, (["n1", ("x2")],)),
    Entry("n2", "size", ("n1", 0), op="call_method"),
    Entry("n1", torch.cos, ("x2",)),
)
"""Calls of every kind, with inputs in lists, slices and keywords; the output is first."""
