"""Faults for `wellformed` that any graph module can be given: each says which codes it causes.

They do what the bank in `broken` and `broken_places` does to its own models.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch import fx, nn

from autograder.core.torch_private import own_buffers, own_modules, own_parameters

GM = fx.GraphModule
Fault = Callable[[GM, Random], set[str]]


@dataclass(frozen=True)
class Step:
    """One thing that is done to a graph module.

    Attributes:
        says: what it is, for a person.
        apply: does it, at a place that the random numbers choose.
        kind: the code that it is about; nothing for what is harmless.
    """

    says: str
    apply: Fault
    kind: str = ""


STEPS: dict[str, list[Step]] = {}


def step(says: str, kind: str = "") -> Callable[[Fault], Fault]:
    """Put a step on the list of its kind."""

    def register(apply: Fault) -> Fault:
        STEPS.setdefault(kind, []).append(Step(says, apply, kind))
        return apply

    return register


# ------------------------------------------------------------------ places


def inputs_of_graph(gm: GM) -> list[fx.Node]:
    """The placeholders."""
    return [node for node in gm.graph.nodes if node.op == "placeholder"]


def new_node(gm: GM, op: str = "call_function", target: Any = torch.exp) -> fx.Node:
    """A node behind the first parameter; nobody reads it."""
    first = inputs_of_graph(gm)[0]
    with gm.graph.inserting_after(first):
        return gm.graph.create_node(op, target, () if op == "get_attr" else (first,))


def calls_of(gm: GM) -> list[fx.Node]:
    """The nodes that call something; there is one at least."""
    return [n for n in gm.graph.nodes if n.op.startswith("call_")] or [new_node(gm)]


def node_with_value(gm: GM, random: Random) -> fx.Node:
    """Any node but the output."""
    return random.choice([node for node in gm.graph.nodes if node.op != "output"])


def output_of(gm: GM) -> fx.Node | None:
    """The output, as long as there is one."""
    return next((node for node in gm.graph.nodes if node.op == "output"), None)


def _wrap(value: Any, way: int) -> Any:
    """The value in a container."""
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
    """Put a value among a node's arguments, somewhere."""
    held = _wrap(value, random.randrange(7))
    if node.op == "output":
        node.args = ((node.args[0], held),)
    elif random.random() < 0.4:
        node.kwargs = {**node.kwargs, f"more_{len(node.kwargs)}": held}
    else:
        node.args = (*node.args, held)


def _reader(gm: GM, random: Random) -> fx.Node:
    """A node that may get an argument more."""
    output = output_of(gm)
    return random.choice(calls_of(gm) + ([output] if output else []))


def erased(gm: GM) -> fx.Node:
    """A node that was in the graph for a moment."""
    ghost = new_node(gm)
    gm.graph.erase_node(ghost)
    return ghost


def deep_module(gm: GM) -> nn.Module:
    """A module two levels down, called by no node."""
    gm.add_submodule("rooms.inner", nn.Linear(2, 2))
    return gm.get_submodule("rooms.inner")


# ------------------------------------------------------------------ arguments and users


@step("a node of another graph among the arguments", "foreign-node")
def _(gm: GM, random: Random) -> set[str]:
    twin = random.choice([n for n in copy.deepcopy(gm.graph).nodes if n.op != "output"])
    _put(_reader(gm, random), twin, random)
    return {"foreign-node"}


@step("an erased node among the arguments", "foreign-node")
def _(gm: GM, random: Random) -> set[str]:
    ghost = erased(gm)
    _put(_reader(gm, random), ghost, random)
    return {"foreign-node"}


@step("a reader in another graph", "foreign-node")
def _(gm: GM, random: Random) -> set[str]:
    fx.Graph().call_function(torch.exp, ([node_with_value(gm, random)],))
    return {"foreign-node"}


@step("a reader that was erased", "foreign-node")
def _(gm: GM, random: Random) -> set[str]:
    erased(gm).args = (node_with_value(gm, random),)
    return {"foreign-node"}


@step("a tensor among the arguments", "raw-tensor")
def _(gm: GM, random: Random) -> set[str]:
    _put(_reader(gm, random), torch.ones(2), random)
    return {"raw-tensor"}


@step("a parameter, the object itself, as an argument", "raw-tensor")
def _(gm: GM, random: Random) -> set[str]:
    node = new_node(gm, target=torch.add)
    node.args = (*node.args, nn.Parameter(torch.ones(2)))
    return {"raw-tensor"}


@step("a node that reads itself", "undefined-use")
def _(gm: GM, random: Random) -> set[str]:
    node = random.choice(calls_of(gm))
    _put(node, node, random)
    return {"undefined-use"}


@step("a node that reads a later one", "undefined-use")
def _(gm: GM, random: Random) -> set[str]:
    calls = calls_of(gm)
    _put(calls[0], random.choice(calls), random)
    return {"undefined-use"}


@step("a parameter of forward behind its reader", "undefined-use")
def _(gm: GM, random: Random) -> set[str]:
    reader, first = new_node(gm), inputs_of_graph(gm)[0]
    reader.append(first)
    return {"undefined-use"}


@step("a tensor or parameter behind its reader", "undefined-use")
def _(gm: GM, random: Random) -> set[str]:
    reader = new_node(gm)
    gm.plain = torch.ones(2)
    read = new_node(gm, "get_attr", "plain")
    reader.args = (read,)
    reader.append(read)
    return {"undefined-use"}


# ------------------------------------------------------------------ targets and keys


@step("a call of a module that is not there", "missing-target")
def _(gm: GM, random: Random) -> set[str]:
    deep_module(gm)
    new_node(gm, "call_module", random.choice(("nowhere", "rooms.outer", "room.inner")))
    return {"missing-target"}


@step("a get_attr of what is not there", "missing-target")
def _(gm: GM, random: Random) -> set[str]:
    deep_module(gm)
    new_node(gm, "get_attr", random.choice(("nowhere", "rooms.inner.weights", "room.inner.weight")))
    return {"missing-target"}


@step("a missing module whose value is returned", "missing-target")
def _(gm: GM, random: Random) -> set[str]:
    node = new_node(gm, "call_module", "nowhere.at.all")
    output = output_of(gm)
    if output is not None:
        output.args = ([output.args[0], node],)
    return {"missing-target"}


@step("another target for a node", "missing-target")
def _(gm: GM, random: Random) -> set[str]:
    named = [n for n in gm.graph.nodes if n.op in ("call_module", "get_attr")]
    node = random.choice(named or [new_node(gm, "get_attr", "")])
    node.target = f"{node.target}s"
    return {"missing-target"}


@step("a dotted key with the name of the target", "dotted-name")
def _(gm: GM, random: Random) -> set[str]:
    own_modules(gm)["act.fn"] = nn.ReLU()
    new_node(gm, "call_module", "act.fn")
    return {"dotted-name", "missing-target"}


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


@step("a key with a dot in the module", "dotted-name")
def _(gm: GM, random: Random) -> set[str]:
    _keys(gm, random)
    return {"dotted-name"}


@step("a key with a dot in some module below", "dotted-name")
def _(gm: GM, random: Random) -> set[str]:
    deep_module(gm)
    _keys(random.choice(list(gm.modules())[1:]), random)
    return {"dotted-name"}


@step("a key with a dot two levels down, in a module that nobody calls", "dotted-name")
def _(gm: GM, random: Random) -> set[str]:
    _keys(deep_module(gm), random)
    return {"dotted-name"}
