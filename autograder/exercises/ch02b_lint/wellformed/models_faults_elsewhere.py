"""Changes to any graph module for `wellformed`: output, code, and harmless changes."""

# Function names describe the change.
# ruff: noqa: D103

from __future__ import annotations

from random import Random

import torch
from torch import fx, nn

from autograder.exercises.ch02b_lint.wellformed.models_faults import (
    GM,
    calls_of,
    deep_module,
    erased,
    inputs_of_graph,
    new_node,
    node_with_value,
    output_of,
)

# ------------------------------------------------------------------ the output


def two_outputs(gm: GM, random: Random) -> None:
    gm.graph.output(inputs_of_graph(gm)[0])


def no_output(gm: GM, random: Random) -> None:
    output = output_of(gm)
    with gm.graph.inserting_before(output):  # it reads all that the output read
        gm.graph.call_function(torch.exp, output.args)
    gm.graph.erase_node(output)


def node_behind_the_output(gm: GM, random: Random) -> None:
    gm.graph.call_method("neg", (inputs_of_graph(gm)[0],))


def output_in_the_middle(gm: GM, random: Random) -> None:
    node = node_with_value(gm, random)
    with gm.graph.inserting_after(node):
        gm.graph.output(node)


def output_first(gm: GM, random: Random) -> None:
    output = output_of(gm)
    next(iter(gm.graph.nodes)).prepend(output)


# ------------------------------------------------------------------ the code


def node_added(gm: GM, random: Random) -> None:
    new_node(gm)


def number_changed(gm: GM, random: Random) -> None:
    node = new_node(gm, target=torch.mul)
    node.args = (*node.args, 1)
    gm.recompile()
    node.args = (node.args[0], random.choice((1.0, 2, True)))


def other_method(gm: GM, random: Random) -> None:
    node = new_node(gm, "call_method", "neg")
    gm.recompile()
    node.target = "abs"


def other_result(gm: GM, random: Random) -> None:
    output = output_of(gm)
    if output is None:
        new_node(gm)
    else:
        output.args = ([output.args[0]],)


def tensor_as_default(gm: GM, random: Random) -> None:
    inputs_of_graph(gm)[0].args = (torch.ones(2),)


# ------------------------------------------------------------------ harmless changes


def two_names(gm: GM, random: Random) -> None:
    gm.left = gm.right = nn.Linear(2, 2)
    for name in ("left", "right"):
        new_node(gm, "call_module", name)
        new_node(gm, "get_attr", f"{name}.weight")


def filled_meta(gm: GM, random: Random) -> None:
    for node in gm.graph.nodes:
        node.meta["val"] = [torch.ones(1), {"of": fx.Graph().placeholder("x")}]


def plain_dotted_attribute(gm: GM, random: Random) -> None:
    gm.__dict__["written.by"] = "hand"


def plain_things_read(gm: GM, random: Random) -> None:
    deep_module(gm)
    gm.plain = torch.ones(2)
    for target in ("plain", "rooms.inner", "rooms.inner.weight"):
        new_node(gm, "get_attr", target)


def edit_taken_back(gm: GM, random: Random) -> None:
    node = random.choice(calls_of(gm))
    gm.recompile()
    args, node.args = node.args, ()
    node.args = args


def node_erased(gm: GM, random: Random) -> None:
    erased(gm)


def constants(gm: GM, random: Random) -> None:
    node = new_node(gm, target=print)
    node.args = ("rooms.inner", torch.float32, torch.Size([2]), ..., None)
