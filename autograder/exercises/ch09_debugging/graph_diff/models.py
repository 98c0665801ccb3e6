"""Pairs of graphs for `graph_diff` that differ in one thing, or in none."""

# A learner sees these functions as they are here; their names say what they are for.
# ruff: noqa: D103

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.node import Argument

from autograder.authoring.models import Trial, fresh, rename

_LIKE_A_NODE: tuple[Argument, ...] = (
    *("%scale", "@scale", "$scale", "<scale>", "node:scale", "node_scale", "Node(scale)"),
    *(("node", "scale"), ("Node", "scale"), ("name", "scale"), ("scale",)),
    {"node": "scale"},
)
"""Texts, tuples and dictionaries that only resemble the node `scale`."""

Edit = Callable[[fx.GraphModule], None]


class Net(nn.Module):
    """A model with several kinds of nodes."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.act = nn.Tanh()
        self.shift = nn.Parameter(torch.rand(3))

    def forward(self, x, scale=2.0):
        hidden = torch.relu(self.layer(x) + self.shift)
        rows = torch.cat([hidden, x.neg(), hidden], dim=0)
        return self.act(rows[:, 1 : x.size(1)]) * scale, {"rows": rows}


class Cut(nn.Module):
    """Layers of a container, and calls in which details matter."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        self.shift = nn.Parameter(torch.rand(3))

    def forward(self, x, n=2):
        rows = torch.clamp(self.layers(x) + self.shift, max=1.0)
        return rows[:n].to(torch.float32).sum(-1)


def named(gm: fx.GraphModule, name: str) -> fx.Node:
    """The node with this name."""
    return next(node for node in gm.graph.nodes if node.name == name)


# ------------------------------------------------------------------ edits


def nothing(gm: fx.GraphModule) -> None:
    """Leave the graph unchanged."""


def another_target(gm: fx.GraphModule) -> None:
    named(gm, "relu").target = torch.sigmoid


def other_targets(gm: fx.GraphModule) -> None:
    """Change a target of each kind; functions keep their arguments."""
    named(gm, "relu").target = F.relu
    named(gm, "add").target = torch.add
    named(gm, "neg").target = "abs"
    named(gm, "layer").target = "act"
    named(gm, "shift").target = "layer.bias"
    named(gm, "scale").target = "factor"


def another_opcode(gm: fx.GraphModule) -> None:
    """Turn a module call into a method call with the same target."""
    node = named(gm, "act")
    node.op, node.target = "call_method", "act"


def another_keyword(gm: fx.GraphModule) -> None:
    named(gm, "cat").kwargs = {"dim": 1}


def text_for_number(gm: fx.GraphModule) -> None:
    named(gm, "cat").kwargs = {"dim": "0"}


def another_nesting(gm: fx.GraphModule) -> None:
    relu, neg = named(gm, "relu"), named(gm, "neg")
    named(gm, "cat").args = ([relu, [neg, relu]],)


def another_step(gm: fx.GraphModule) -> None:
    node = named(gm, "getitem")
    node.args = (node.args[0], (slice(None), slice(1, named(gm, "size"), 2)))


def another_place_in_a_list(gm: fx.GraphModule) -> None:
    relu, neg = named(gm, "relu"), named(gm, "neg")
    named(gm, "cat").args = ([relu, relu, neg],)


def another_slice(gm: fx.GraphModule) -> None:
    node = named(gm, "getitem")
    node.args = (node.args[0], (slice(None), slice(0, None)))


def another_result(gm: fx.GraphModule) -> None:
    output = named(gm, "output")
    first, _ = output.args[0]
    output.args = ((first, {"rows": named(gm, "relu")}),)


def zero_and_nearly_zero(gm: fx.GraphModule) -> None:
    """Use zero, almost zero, and two keywords."""
    named(gm, "cat").kwargs = {"dim": 0}
    named(gm, "neg").kwargs = {"eps": 1e-12}
    named(gm, "relu").kwargs = {"inplace": False, "out": None}


def none_and_other_orders(gm: fx.GraphModule) -> None:
    """Use `None`, a little more, and the same keywords in another order."""
    named(gm, "cat").kwargs = {"dim": None}
    named(gm, "neg").kwargs = {"eps": 1e-7}
    named(gm, "relu").kwargs = {"out": None, "inplace": False}


def small_changes(gm: fx.GraphModule) -> None:
    """Change a keyword to `None`, the end of a slice, a dtype and a dimension."""
    named(gm, "clamp").kwargs = {"min": None, "max": 1.0}
    named(gm, "getitem").args = (named(gm, "clamp"), slice(named(gm, "n"), None))
    named(gm, "to").args = (named(gm, "getitem"), torch.float16)
    named(gm, "sum_1").args = (named(gm, "to"), -2)


def other_parts(gm: fx.GraphModule) -> None:
    """Replace a module and a parameter under their old names."""
    setattr(gm.get_submodule("layers"), "1", nn.Sigmoid())
    gm.shift = nn.Parameter(torch.zeros(3))


def inserted(gm: fx.GraphModule) -> None:
    """Insert a node that one node reads."""
    relu = named(gm, "relu")
    with gm.graph.inserting_after(relu):
        new = gm.graph.call_function(torch.sin, (relu,))
    named(gm, "cat").args = ([relu, named(gm, "neg"), new],)


def several_inserted(gm: fx.GraphModule) -> None:
    """Insert nodes at the beginning and in the middle; the later ones are made first."""
    with gm.graph.inserting_after(named(gm, "cat")):
        gm.graph.call_method("tanh", (named(gm, "cat"),))
    with gm.graph.inserting_before(named(gm, "layer")):
        gm.graph.call_method("zero", (named(gm, "x"),))
        gm.graph.call_method("abs", (named(gm, "x"),))


def several_erased(gm: fx.GraphModule) -> None:
    output = named(gm, "output")
    output.args = (named(gm, "x"),)
    for node in reversed(list(gm.graph.nodes)):
        if node.op not in ("placeholder", "output") and not node.users:
            gm.graph.erase_node(node)


def another_name(gm: fx.GraphModule) -> None:
    rename(named(gm, "relu"), "activation")


def another_order(gm: fx.GraphModule) -> None:
    named(gm, "layer").prepend(named(gm, "neg"))


def notes_and_order(gm: fx.GraphModule) -> None:
    """Set `meta` and a type, and swap two nodes."""
    another_order(gm)
    for node in gm.graph.nodes:
        node.meta["seen"] = node.op
    named(gm, "relu").type = torch.Tensor


def changed_in_turn(gm: fx.GraphModule) -> None:
    """Make several changes, in another order than the graph's."""
    another_result(gm)
    another_keyword(gm)
    another_target(gm)
    another_order(gm)
    named(gm, "neg").target = "abs"


def text_for_node(gm: fx.GraphModule) -> None:
    """Replace a node argument by the node's name as text."""
    node = named(gm, "getitem")
    node.args = (node.args[0], "scale")


def node_for_text(gm: fx.GraphModule) -> None:
    node = named(gm, "getitem")
    node.args = (node.args[0], named(gm, "scale"))


def _rows_of(gm: fx.GraphModule, keys: Iterable[Argument]) -> None:
    with gm.graph.inserting_before(named(gm, "output")):
        for key in keys:
            gm.graph.call_method("get", (named(gm, "x"), key))


def rows_by_key(gm: fx.GraphModule) -> None:
    """Insert calls that read the node."""
    _rows_of(gm, [named(gm, "scale") for _ in _LIKE_A_NODE])


def rows_by_what_looks_like_a_key(gm: fx.GraphModule) -> None:
    """Insert calls that read something similar to the node."""
    _rows_of(gm, _LIKE_A_NODE)


@lru_cache(maxsize=1)
def _graph() -> fx.Graph:
    return fx.symbolic_trace(Net()).graph


def _copied(graph: fx.Graph) -> fx.Graph:
    """Copy a graph with its names, which is faster than tracing again."""
    new, made = fx.Graph(), {}
    for node in graph.nodes:
        made[node] = new.node_copy(node, made.__getitem__)
    return new


@dataclass(frozen=True, eq=False)
class Edited:
    """Builds a trial: two graphs, made from one model by two edits.

    Attributes:
        first: edits the first graph.
        second: edits the second.
        graphs: whether the answer gets a `Graph`, not a module: first, second.
        make: builds the model; each graph of another model than `Net` is a trace of its own.
    """

    first: Edit = nothing
    second: Edit = nothing
    graphs: tuple[bool, bool] = (False, False)
    make: Callable[[], nn.Module] = Net

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed)
        pair = []
        for edit in (self.first, self.second):
            own = self.make is not Net
            made = fx.symbolic_trace(model) if own else fx.GraphModule(model, _copied(_graph()))
            edit(made)
            pair.append(made)
        args = [made.graph if bare else made for made, bare in zip(pair, self.graphs, strict=True)]
        return Trial(args=tuple(args), model=pair[0], watch=(pair[1],), noted=True)


# ------------------------------------------------------------------ random models


def _edit_somewhere(gm: fx.GraphModule, choice: int) -> None:
    nodes = list(gm.graph.nodes)
    calls = [node for node in nodes if node.op.startswith("call")] or nodes[-1:]
    node, how = calls[choice % len(calls)], choice // 7 % 5
    if how == 0 and node.op == "call_function":
        node.target = operator.sub
    elif how == 1:
        node.kwargs = {**node.kwargs, "out": nodes[0]}
    elif how == 2:
        node.args = (*node.args, [nodes[0], {"size": (3, nodes[0])}])
    elif how == 3:
        with gm.graph.inserting_before(node):
            new = gm.graph.call_method("sin", (nodes[0],))
        node.args = (new, *node.args[1:])
    else:
        rename(node, "another_name")


def with_another(trial: Trial, choice: int) -> Trial:
    """Add a copy of the trace, with some edits, to the trial of a random model."""
    before = fx.symbolic_trace(trial.model)
    after = fx.GraphModule(before, _copied(before.graph))
    for turn in range(choice % 4):
        _edit_somewhere(after, choice // 4 + 11 * turn)
    pair = (after, before) if choice % 5 == 0 else (before, after)
    args = tuple(gm.graph if choice % 3 == 0 else gm for gm in pair)
    return replace(trial, args=args, model=before, watch=(after,))
