"""Beginners' mistakes in chapter 04."""

from __future__ import annotations

import operator

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.given import LinearReLU
from tests.panel import mistake


@mistake("count_matches", "the matches, not their number")
def the_matches(model, pattern):
    return fx.replace_pattern(fx.symbolic_trace(model), pattern, pattern)


@mistake("count_matches", "the replacement is a lambda of nothing")
def no_parameters(model, pattern):
    return len(fx.replace_pattern(fx.symbolic_trace(model), pattern, lambda: 0))


@mistake("count_matches", "counts nodes with the pattern's targets")
def counts_targets(model, pattern):
    wanted = {n.target for n in fx.symbolic_trace(pattern).graph.nodes if n.op == "call_function"}
    return sum(n.target in wanted for n in fx.symbolic_trace(model).graph.nodes)


@mistake("to_hardswish", "a pattern with the numbers as parameters' defaults")
def defaults(model):
    gm = fx.symbolic_trace(model)
    fx.replace_pattern(gm, lambda x, a=3, b=6: x * F.relu6(x + a) / b, lambda x: F.hardswish(x))
    return gm


@mistake("to_hardswish", "relu6 of the whole")
def relu6_outside(model):
    gm = fx.symbolic_trace(model)
    fx.replace_pattern(gm, lambda x: F.relu6(x * (x + 3)) / 6, lambda x: F.hardswish(x))
    return gm


@mistake("replace_until_done", "one round")
def one_round(model, pattern, replacement, limit=100):
    gm = fx.symbolic_trace(model)
    return gm, len(fx.replace_pattern(gm, pattern, replacement))


@mistake("replace_until_done", "endless, the limit is forgotten")
def forgets_limit(model, pattern, replacement, limit=100):
    gm, count = fx.symbolic_trace(model), 0
    while True:
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            return gm, count
        count += len(matches)


@mistake("fuse_addcmul", "the product is erased first")
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


@mistake("fuse_linear_relu", "targets with dots as names")
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
