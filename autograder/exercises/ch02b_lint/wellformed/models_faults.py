"""Faults for any graph module, for `wellformed`: arguments, readers, targets and keys.

They generalize `models_broken` and `models_broken_places`, which break models of their own. The
other faults are in `models_faults_elsewhere`.
"""

# Function names describe the fault.
# ruff: noqa: D103

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import own_buffers, own_modules, own_parameters

GM = fx.GraphModule
Step = Callable[[GM, Random], None]
"""Changes a graph module in one way, at a place that the random numbers choose."""

# ------------------------------------------------------------------ places


def inputs_of_graph(gm: GM) -> list[fx.Node]:
    """The placeholders."""
    return [node for node in gm.graph.nodes if node.op == "placeholder"]


def new_node(gm: GM, op: str = "call_function", target: Any = torch.exp) -> fx.Node:
    """A new node after the first parameter, without readers."""
    first = inputs_of_graph(gm)[0]
    with gm.graph.inserting_after(first):
        return gm.graph.create_node(op, target, () if op == "get_attr" else (first,))


def calls_of(gm: GM) -> list[fx.Node]:
    """The nodes that call something; if there are none, a new one."""
    return [n for n in gm.graph.nodes if n.op.startswith("call_")] or [new_node(gm)]


def node_with_value(gm: GM, random: Random) -> fx.Node:
    """Any node but the output."""
    return random.choice([node for node in gm.graph.nodes if node.op != "output"])


def output_of(gm: GM) -> fx.Node | None:
    """The output, if there still is one."""
    return next((node for node in gm.graph.nodes if node.op == "output"), None)


def _wrap(value: Any, way: int) -> Any:
    """The value in a container; `way` chooses the container."""
    return (
        value,
        [1, value],
        (slice(None), slice(None, value)),
        {"a": (1, {"b": value})},
        slice(value, 4),
        slice(0, 4, value),
        [[(value,)]],
    )[way % 7]


def _put(node: fx.Node, value: Any, random: Random) -> None:
    """Add a value to a node's arguments, at a random place."""
    held = _wrap(value, random.randrange(7))
    if node.op == "output":
        node.args = ((node.args[0], held),)
    elif random.random() < 0.4:
        node.kwargs = {**node.kwargs, f"more_{len(node.kwargs)}": held}
    else:
        node.args = (*node.args, held)


def _reader(gm: GM, random: Random) -> fx.Node:
    """A random node that can take another argument."""
    output = output_of(gm)
    return random.choice(calls_of(gm) + ([output] if output else []))


def erased(gm: GM) -> fx.Node:
    """A node that was erased right after it was made."""
    ghost = new_node(gm)
    gm.graph.erase_node(ghost)
    return ghost


def deep_module(gm: GM) -> nn.Module:
    """A module two levels down that no node calls."""
    gm.add_submodule("rooms.inner", nn.Linear(2, 2))
    return gm.get_submodule("rooms.inner")


# ------------------------------------------------------------------ arguments and users


def foreign_argument(gm: GM, random: Random) -> None:
    twin = random.choice([n for n in copy.deepcopy(gm.graph).nodes if n.op != "output"])
    _put(_reader(gm, random), twin, random)


def erased_argument(gm: GM, random: Random) -> None:
    ghost = erased(gm)
    _put(_reader(gm, random), ghost, random)


def reader_elsewhere(gm: GM, random: Random) -> None:
    fx.Graph().call_function(torch.exp, ([node_with_value(gm, random)],))


def erased_reader(gm: GM, random: Random) -> None:
    erased(gm).args = (node_with_value(gm, random),)


def tensor_argument(gm: GM, random: Random) -> None:
    _put(_reader(gm, random), torch.ones(2), random)


def parameter_argument(gm: GM, random: Random) -> None:
    node = new_node(gm, target=torch.add)
    node.args = (*node.args, nn.Parameter(torch.ones(2)))


def reads_itself(gm: GM, random: Random) -> None:
    node = random.choice(calls_of(gm))
    _put(node, node, random)


def reads_a_later_one(gm: GM, random: Random) -> None:
    calls = calls_of(gm)
    _put(calls[0], random.choice(calls), random)


def input_behind_its_reader(gm: GM, random: Random) -> None:
    reader, first = new_node(gm), inputs_of_graph(gm)[0]
    reader.append(first)


def tensor_behind_its_reader(gm: GM, random: Random) -> None:
    reader = new_node(gm)
    gm.plain = torch.ones(2)
    read = new_node(gm, "get_attr", "plain")
    reader.args = (read,)
    reader.append(read)


# ------------------------------------------------------------------ targets and keys


def absent_module(gm: GM, random: Random) -> None:
    deep_module(gm)
    new_node(gm, "call_module", random.choice(("nowhere", "rooms.outer", "room.inner")))


def absent_attribute(gm: GM, random: Random) -> None:
    deep_module(gm)
    new_node(gm, "get_attr", random.choice(("nowhere", "rooms.inner.weights", "room.inner.weight")))


def absent_module_returned(gm: GM, random: Random) -> None:
    node = new_node(gm, "call_module", "nowhere.at.all")
    output = output_of(gm)
    if output is not None:
        output.args = ([output.args[0], node],)


def other_target(gm: GM, random: Random) -> None:
    named = [n for n in gm.graph.nodes if n.op in ("call_module", "get_attr")]
    node = random.choice(named or [new_node(gm, "get_attr", "")])
    node.target = f"{node.target}s"


def dotted_target(gm: GM, random: Random) -> None:
    own_modules(gm)["act.fn"] = nn.ReLU()
    new_node(gm, "call_module", "act.fn")


def _keys(module: nn.Module, random: Random) -> None:
    table, value = random.choice(
        (
            (own_modules(module), nn.ReLU()),
            (own_buffers(module), torch.zeros(1)),
            (own_buffers(module), None),
            (own_parameters(module), nn.Parameter(torch.zeros(1))),
            (own_parameters(module), None),
        )
    )
    table["a.b"] = value


def dotted_key(gm: GM, random: Random) -> None:
    _keys(gm, random)


def dotted_key_below(gm: GM, random: Random) -> None:
    deep_module(gm)
    _keys(random.choice(list(gm.modules())[1:]), random)


def dotted_key_deep(gm: GM, random: Random) -> None:
    _keys(deep_module(gm), random)
