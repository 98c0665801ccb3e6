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


def _step(says: str, kind: str = "") -> Callable[[Fault], Fault]:
    def register(apply: Fault) -> Fault:
        STEPS.setdefault(kind, []).append(Step(says, apply, kind))
        return apply

    return register


# ------------------------------------------------------------------ places


def _inputs(gm: GM) -> list[fx.Node]:
    return [node for node in gm.graph.nodes if node.op == "placeholder"]


def _new(gm: GM, op: str = "call_function", target: Any = torch.exp) -> fx.Node:
    """A node behind the first parameter; nobody reads it."""
    first = _inputs(gm)[0]
    with gm.graph.inserting_after(first):
        return gm.graph.create_node(op, target, () if op == "get_attr" else (first,))


def _calls(gm: GM) -> list[fx.Node]:
    return [n for n in gm.graph.nodes if n.op.startswith("call_")] or [_new(gm)]


def _valued(gm: GM, random: Random) -> fx.Node:
    return random.choice([node for node in gm.graph.nodes if node.op != "output"])


def _output(gm: GM) -> fx.Node | None:
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
    output = _output(gm)
    return random.choice(_calls(gm) + ([output] if output else []))


def _erased(gm: GM) -> fx.Node:
    ghost = _new(gm)
    gm.graph.erase_node(ghost)
    return ghost


def _deep(gm: GM) -> nn.Module:
    """A module two levels down, called by no node."""
    gm.add_submodule("rooms.inner", nn.Linear(2, 2))
    return gm.get_submodule("rooms.inner")


# ------------------------------------------------------------------ arguments and users


@_step("a node of another graph among the arguments", "foreign-node")
def _(gm: GM, random: Random) -> set[str]:
    twin = random.choice([n for n in copy.deepcopy(gm.graph).nodes if n.op != "output"])
    _put(_reader(gm, random), twin, random)
    return {"foreign-node"}


@_step("an erased node among the arguments", "foreign-node")
def _(gm: GM, random: Random) -> set[str]:
    ghost = _erased(gm)
    _put(_reader(gm, random), ghost, random)
    return {"foreign-node"}


@_step("a reader in another graph", "foreign-node")
def _(gm: GM, random: Random) -> set[str]:
    fx.Graph().call_function(torch.exp, ([_valued(gm, random)],))
    return {"foreign-node"}


@_step("a reader that was erased", "foreign-node")
def _(gm: GM, random: Random) -> set[str]:
    _erased(gm).args = (_valued(gm, random),)
    return {"foreign-node"}


@_step("a tensor among the arguments", "raw-tensor")
def _(gm: GM, random: Random) -> set[str]:
    _put(_reader(gm, random), torch.ones(2), random)
    return {"raw-tensor"}


@_step("a parameter, the object itself, as an argument", "raw-tensor")
def _(gm: GM, random: Random) -> set[str]:
    node = _new(gm, target=torch.add)
    node.args = (*node.args, nn.Parameter(torch.ones(2)))
    return {"raw-tensor"}


@_step("a node that reads itself", "undefined-use")
def _(gm: GM, random: Random) -> set[str]:
    node = random.choice(_calls(gm))
    _put(node, node, random)
    return {"undefined-use"}


@_step("a node that reads a later one", "undefined-use")
def _(gm: GM, random: Random) -> set[str]:
    calls = _calls(gm)
    _put(calls[0], random.choice(calls), random)
    return {"undefined-use"}


@_step("a parameter of forward behind its reader", "undefined-use")
def _(gm: GM, random: Random) -> set[str]:
    reader, first = _new(gm), _inputs(gm)[0]
    reader.append(first)
    return {"undefined-use"}


@_step("a tensor or parameter behind its reader", "undefined-use")
def _(gm: GM, random: Random) -> set[str]:
    reader = _new(gm)
    gm.plain = torch.ones(2)
    read = _new(gm, "get_attr", "plain")
    reader.args = (read,)
    reader.append(read)
    return {"undefined-use"}


# ------------------------------------------------------------------ targets and keys


@_step("a call of a module that is not there", "missing-target")
def _(gm: GM, random: Random) -> set[str]:
    _deep(gm)
    _new(gm, "call_module", random.choice(("nowhere", "rooms.outer", "room.inner")))
    return {"missing-target"}


@_step("a get_attr of what is not there", "missing-target")
def _(gm: GM, random: Random) -> set[str]:
    _deep(gm)
    _new(gm, "get_attr", random.choice(("nowhere", "rooms.inner.weights", "room.inner.weight")))
    return {"missing-target"}


@_step("a missing module whose value is returned", "missing-target")
def _(gm: GM, random: Random) -> set[str]:
    node = _new(gm, "call_module", "nowhere.at.all")
    output = _output(gm)
    if output is not None:
        output.args = ([output.args[0], node],)
    return {"missing-target"}


@_step("another target for a node", "missing-target")
def _(gm: GM, random: Random) -> set[str]:
    named = [n for n in gm.graph.nodes if n.op in ("call_module", "get_attr")]
    node = random.choice(named or [_new(gm, "get_attr", "")])
    node.target = f"{node.target}s"
    return {"missing-target"}


@_step("a dotted key with the name of the target", "dotted-name")
def _(gm: GM, random: Random) -> set[str]:
    gm._modules["act.fn"] = nn.ReLU()
    _new(gm, "call_module", "act.fn")
    return {"dotted-name", "missing-target"}


def _keys(module: nn.Module, random: Random) -> None:
    table, value = random.choice(
        (
            (module._modules, nn.ReLU()),
            (module._buffers, torch.zeros(1)),
            (module._buffers, None),
            (module._parameters, nn.Parameter(torch.zeros(1))),
            (module._parameters, None),
        )
    )
    table["a.b"] = value


@_step("a key with a dot in the module", "dotted-name")
def _(gm: GM, random: Random) -> set[str]:
    _keys(gm, random)
    return {"dotted-name"}


@_step("a key with a dot in some module below", "dotted-name")
def _(gm: GM, random: Random) -> set[str]:
    _deep(gm)
    _keys(random.choice(list(gm.modules())[1:]), random)
    return {"dotted-name"}


@_step("a key with a dot two levels down, in a module that nobody calls", "dotted-name")
def _(gm: GM, random: Random) -> set[str]:
    _keys(_deep(gm), random)
    return {"dotted-name"}


# ------------------------------------------------------------------ the output


@_step("two outputs", "output")
def _(gm: GM, random: Random) -> set[str]:
    gm.graph.output(_inputs(gm)[0])
    return {"output"}


@_step("no output", "output")
def _(gm: GM, random: Random) -> set[str]:
    output = _output(gm)
    with gm.graph.inserting_before(output):  # what it reads, faults too, is still read
        gm.graph.call_function(torch.exp, output.args)
    gm.graph.erase_node(output)
    return {"output"}


@_step("a node behind the output", "output")
def _(gm: GM, random: Random) -> set[str]:
    gm.graph.call_method("neg", (_inputs(gm)[0],))
    return {"output"}


@_step("a second output, in the middle", "output")
def _(gm: GM, random: Random) -> set[str]:
    node = _valued(gm, random)
    with gm.graph.inserting_after(node):
        gm.graph.output(node)
    return {"output"}


@_step("the output first", "output")
def _(gm: GM, random: Random) -> set[str]:
    output = _output(gm)
    next(iter(gm.graph.nodes)).prepend(output)
    read = set(output.all_input_nodes) & set(gm.graph.nodes)
    return {"output", "undefined-use"} if read else {"output"}


# ------------------------------------------------------------------ the code


@_step("a node added without recompile", "stale-code")
def _(gm: GM, random: Random) -> set[str]:
    _new(gm)
    return {"stale-code"}


@_step("a number changed without recompile", "stale-code")
def _(gm: GM, random: Random) -> set[str]:
    node = _new(gm, target=torch.mul)
    node.args = (*node.args, 1)
    gm.recompile()
    node.args = (node.args[0], random.choice((1.0, 2, True)))
    return {"stale-code"}


@_step("another method without recompile", "stale-code")
def _(gm: GM, random: Random) -> set[str]:
    node = _new(gm, "call_method", "neg")
    gm.recompile()
    node.target = "abs"
    return {"stale-code"}


@_step("another result without recompile", "stale-code")
def _(gm: GM, random: Random) -> set[str]:
    output = _output(gm)
    if output is None:
        _new(gm)
    else:
        output.args = ([output.args[0]],)
    return {"stale-code"}


@_step("a tensor as a default value, without recompile", "stale-code")
def _(gm: GM, random: Random) -> set[str]:
    _inputs(gm)[0].args = (torch.ones(2),)
    return {"raw-tensor", "stale-code"}


# ------------------------------------------------------------------ nothing wrong


@_step("one module under two names, both called")
def _(gm: GM, random: Random) -> set[str]:
    gm.left = gm.right = nn.Linear(2, 2)
    for name in ("left", "right"):
        _new(gm, "call_module", name)
        _new(gm, "get_attr", f"{name}.weight")
    return set()


@_step("nodes and tensors in node.meta")
def _(gm: GM, random: Random) -> set[str]:
    for node in gm.graph.nodes:
        node.meta["val"] = [torch.ones(1), {"of": fx.Graph().placeholder("x")}]
    return set()


@_step("a plain attribute with a dot in its name")
def _(gm: GM, random: Random) -> set[str]:
    gm.__dict__["written.by"] = "hand"
    return set()


@_step("a plain tensor, a submodule and a deep weight read by get_attr")
def _(gm: GM, random: Random) -> set[str]:
    _deep(gm)
    gm.plain = torch.ones(2)
    for target in ("plain", "rooms.inner", "rooms.inner.weight"):
        _new(gm, "get_attr", target)
    return set()


@_step("an edit that was taken back")
def _(gm: GM, random: Random) -> set[str]:
    node = random.choice(_calls(gm))
    gm.recompile()
    args, node.args = node.args, ()
    node.args = args
    return set()


@_step("a node erased properly")
def _(gm: GM, random: Random) -> set[str]:
    _erased(gm)
    return set()


@_step("a text that looks like a path, and other constants")
def _(gm: GM, random: Random) -> set[str]:
    node = _new(gm, target=print)
    node.args = ("rooms.inner", torch.float32, torch.Size([2]), ..., None)
    return set()
