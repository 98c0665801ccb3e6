"""Beginners' mistakes in chapter 04b."""

from __future__ import annotations

import operator

import torch
from torch import fx, nn

from autograder.given import LinearReLU
from tests.exercises.mistakes import SHOWS_PLACE, UNSTICKS, mistake


@mistake("fuse_addcmul", "the product is erased first", UNSTICKS)
def erased_first(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.target in (torch.add, operator.add):
            for product in node.all_input_nodes:
                if product.target in (torch.mul, operator.mul):
                    other = next(a for a in node.args if a is not product)
                    gm.graph.erase_node(product)
                    node.target, node.args = torch.addcmul, (other, *product.args)
    gm.recompile()
    return gm


@mistake(
    "fuse_linear_relu",
    "targets with dots as names",
    SHOWS_PLACE,
    but="a missed place comes first; the name with dots is below",
)
def dotted(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and isinstance(gm.get_submodule(node.target), nn.Linear):
            for reader in list(node.users):
                if reader.target is torch.relu:
                    setattr(gm, node.target + "_relu", LinearReLU(gm.get_submodule(node.target)))
                    node.target = node.target + "_relu"
                    reader.replace_all_uses_with(node)
                    gm.graph.erase_node(reader)
    gm.recompile()
    return gm
