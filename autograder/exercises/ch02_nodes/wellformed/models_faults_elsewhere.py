"""Faults of the output and of the code, and what looks like a fault and is none."""

from __future__ import annotations

from random import Random

import torch
from torch import fx, nn

from autograder.models.faults import (
    GM,
    calls_of,
    deep_module,
    erased,
    inputs_of_graph,
    new_node,
    node_with_value,
    output_of,
    step,
)

# ------------------------------------------------------------------ the output


@step("two outputs", "output")
def _(gm: GM, random: Random) -> set[str]:
    gm.graph.output(inputs_of_graph(gm)[0])
    return {"output"}


@step("no output", "output")
def _(gm: GM, random: Random) -> set[str]:
    output = output_of(gm)
    with gm.graph.inserting_before(output):  # what it reads, faults too, is still read
        gm.graph.call_function(torch.exp, output.args)
    gm.graph.erase_node(output)
    return {"output"}


@step("a node behind the output", "output")
def _(gm: GM, random: Random) -> set[str]:
    gm.graph.call_method("neg", (inputs_of_graph(gm)[0],))
    return {"output"}


@step("a second output, in the middle", "output")
def _(gm: GM, random: Random) -> set[str]:
    node = node_with_value(gm, random)
    with gm.graph.inserting_after(node):
        gm.graph.output(node)
    return {"output"}


@step("the output first", "output")
def _(gm: GM, random: Random) -> set[str]:
    output = output_of(gm)
    next(iter(gm.graph.nodes)).prepend(output)
    read = set(output.all_input_nodes) & set(gm.graph.nodes)
    return {"output", "undefined-use"} if read else {"output"}


# ------------------------------------------------------------------ the code


@step("a node added without recompile", "stale-code")
def _(gm: GM, random: Random) -> set[str]:
    new_node(gm)
    return {"stale-code"}


@step("a number changed without recompile", "stale-code")
def _(gm: GM, random: Random) -> set[str]:
    node = new_node(gm, target=torch.mul)
    node.args = (*node.args, 1)
    gm.recompile()
    node.args = (node.args[0], random.choice((1.0, 2, True)))
    return {"stale-code"}


@step("another method without recompile", "stale-code")
def _(gm: GM, random: Random) -> set[str]:
    node = new_node(gm, "call_method", "neg")
    gm.recompile()
    node.target = "abs"
    return {"stale-code"}


@step("another result without recompile", "stale-code")
def _(gm: GM, random: Random) -> set[str]:
    output = output_of(gm)
    if output is None:
        new_node(gm)
    else:
        output.args = ([output.args[0]],)
    return {"stale-code"}


@step("a tensor as a default value, without recompile", "stale-code")
def _(gm: GM, random: Random) -> set[str]:
    inputs_of_graph(gm)[0].args = (torch.ones(2),)
    return {"raw-tensor", "stale-code"}


# ------------------------------------------------------------------ nothing wrong


@step("one module under two names, both called")
def _(gm: GM, random: Random) -> set[str]:
    gm.left = gm.right = nn.Linear(2, 2)
    for name in ("left", "right"):
        new_node(gm, "call_module", name)
        new_node(gm, "get_attr", f"{name}.weight")
    return set()


@step("nodes and tensors in node.meta")
def _(gm: GM, random: Random) -> set[str]:
    for node in gm.graph.nodes:
        node.meta["val"] = [torch.ones(1), {"of": fx.Graph().placeholder("x")}]
    return set()


@step("a plain attribute with a dot in its name")
def _(gm: GM, random: Random) -> set[str]:
    gm.__dict__["written.by"] = "hand"
    return set()


@step("a plain tensor, a submodule and a deep weight read by get_attr")
def _(gm: GM, random: Random) -> set[str]:
    deep_module(gm)
    gm.plain = torch.ones(2)
    for target in ("plain", "rooms.inner", "rooms.inner.weight"):
        new_node(gm, "get_attr", target)
    return set()


@step("an edit that was taken back")
def _(gm: GM, random: Random) -> set[str]:
    node = random.choice(calls_of(gm))
    gm.recompile()
    args, node.args = node.args, ()
    node.args = args
    return set()


@step("a node erased properly")
def _(gm: GM, random: Random) -> set[str]:
    erased(gm)
    return set()


@step("a text that looks like a path, and other constants")
def _(gm: GM, random: Random) -> set[str]:
    node = new_node(gm, target=print)
    node.args = ("rooms.inner", torch.float32, torch.Size([2]), ..., None)
    return set()
