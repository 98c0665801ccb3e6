"""Answers to `merge_parallel_linears`."""

from __future__ import annotations

import itertools
import operator
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from tests.exercises import right, wrong


def merged(layers):
    """One layer that computes the outputs of all."""
    weight = torch.cat([layer.weight.detach() for layer in layers])
    has_bias = any(layer.bias is not None for layer in layers)
    new = nn.Linear(
        weight.shape[1], weight.shape[0], has_bias, device=weight.device, dtype=weight.dtype
    )
    new.weight = nn.Parameter(weight)
    if has_bias:
        parts = [
            weight.new_zeros(layer.out_features) if layer.bias is None else layer.bias.detach()
            for layer in layers
        ]
        new.bias = nn.Parameter(torch.cat(parts))
    return new


def written(gm, node):
    """The value that a node writes into, or None."""
    in_place = node.kwargs.get("inplace")
    if node.op == "call_method":
        in_place = node.target.endswith("_") and not node.target.endswith("__")
    if node.op == "call_module":
        in_place = getattr(gm.get_submodule(node.target), "inplace", False)
    return node.all_input_nodes[0] if in_place else None


def groups(gm):
    calls = Counter(node.target for node in gm.graph.nodes if node.op == "call_module")
    writes, found = Counter(), defaultdict(list)
    for node in gm.graph.nodes:
        writes[written(gm, node)] += 1
        if node.op == "call_module" and calls[node.target] == 1:
            if isinstance(gm.get_submodule(node.target), nn.Linear):
                source = node.all_input_nodes[0]
                found[source, writes[source]].append(node)
    return [nodes for nodes in found.values() if len(nodes) > 1]


def layers_of(gm, nodes):
    return [gm.get_submodule(node.target) for node in nodes]


def free_name(gm):
    return next(n for i in itertools.count() if not hasattr(gm, n := f"_together{i}"))


@right("split and getitem")
def split(model):
    gm = fx.symbolic_trace(model)
    for nodes in groups(gm):
        layers, name = layers_of(gm, nodes), free_name(gm)
        gm.add_submodule(name, merged(layers))
        sizes = [layer.out_features for layer in layers]
        with gm.graph.inserting_before(nodes[0]):
            new = gm.graph.call_module(name, (nodes[0].all_input_nodes[0],))
            parts = gm.graph.call_method("split", (new, sizes), {"dim": -1})
            items = [
                gm.graph.call_function(operator.getitem, (parts, i)) for i in range(len(nodes))
            ]
        for node, item in zip(nodes, items, strict=True):
            node.replace_all_uses_with(item)
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("slices, from the last to the first", debrief=True)
def slices(model):
    gm = fx.symbolic_trace(model)
    for nodes in groups(gm):
        backwards = nodes[::-1]
        layers, name = layers_of(gm, backwards), free_name(gm)
        gm.add_submodule(name, merged(layers))
        # The first call becomes that of the new layer; its own readers get a slice, too.
        (source,) = nodes[0].all_input_nodes
        with gm.graph.inserting_before(nodes[0]):
            new = gm.graph.call_module(name, (source,))
        start = 0
        for node, layer in zip(backwards, layers, strict=True):
            stop = start + layer.out_features
            with gm.graph.inserting_after(new):
                part = gm.graph.call_function(operator.getitem, (new, (..., slice(start, stop))))
            node.replace_all_uses_with(part)
            gm.graph.erase_node(node)
            start = stop
    gm.graph.lint()
    gm.recompile()
    return gm


@right("tensor_split, in modules of a list")
def tensor_split(model):
    gm = fx.symbolic_trace(model)
    gm.add_module("_wide_layers", nn.ModuleList())
    for number, nodes in enumerate(groups(gm)):
        layers = layers_of(gm, nodes)
        gm._wide_layers.append(merged(layers))
        ends = list(itertools.accumulate(layer.out_features for layer in layers))[:-1]
        with gm.graph.inserting_before(nodes[0]):
            new = gm.graph.call_module(f"_wide_layers.{number}", nodes[0].args, nodes[0].kwargs)
            parts = gm.graph.call_function(torch.tensor_split, (new, ends, -1))
            for i, node in enumerate(nodes):
                part = gm.graph.call_function(operator.getitem, (parts, i))
                node.replace_all_uses_with(part)
        for node in nodes:
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@right("a new graph, with narrow")
def new_graph(model):
    gm = fx.symbolic_trace(model)
    first = {nodes[0]: nodes for nodes in groups(gm)}
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        if node in env:
            continue
        if node not in first:
            env[node] = graph.node_copy(node, env.__getitem__)
            continue
        layers, name = layers_of(gm, first[node]), free_name(gm)
        gm.add_submodule(name, merged(layers))
        (source,) = node.all_input_nodes
        new = graph.call_module(name, (env[source],))
        start = 0
        for other, layer in zip(first[node], layers, strict=True):
            env[other] = graph.call_method("narrow", (new, -1, start, layer.out_features))
            start += layer.out_features
    return fx.GraphModule(gm, graph)


# ------------------------------------------------------------------ wrong


@dataclass
class Merge:
    """A right pass; each argument makes it wrong in one way."""

    writes: Callable[[Any, Any], Any] = written
    epochs: bool = True
    called_once: bool = True
    least: int = 2
    most: int = 99
    wanted: Callable[[Any, Any], bool] = lambda gm, node: True
    same_bias: bool = False
    key: Callable[[Any], Any] = lambda node: node.all_input_nodes[0]
    merge: Callable[[Any], nn.Module] = merged
    name: Callable[[Any], str] = free_name
    dim: int = -1
    equal: bool = False
    at: int = 0
    recompile: bool = True

    def groups(self, gm):
        calls = Counter(n.target for n in gm.graph.nodes if n.op == "call_module")
        writes, found = Counter(), {}
        for node in gm.graph.nodes:
            writes[self.writes(gm, node)] += 1
            if node.op != "call_module" or (self.called_once and calls[node.target] > 1):
                continue
            layer = gm.get_submodule(node.target)
            if isinstance(layer, nn.Linear) and self.wanted(gm, node):
                (source,) = node.all_input_nodes
                key = (self.key(node), writes[source] if self.epochs else 0)
                key += (layer.bias is None,) if self.same_bias else ()
                found.setdefault(key, []).append(node)
        return [nodes[: self.most] for nodes in found.values() if len(nodes) >= self.least]

    def __call__(self, model):
        gm = fx.symbolic_trace(model)
        for nodes in self.groups(gm):
            layers, name = layers_of(gm, nodes), self.name(gm)
            gm.add_submodule(name, self.merge(layers))
            sizes = [layer.out_features for layer in layers]
            with gm.graph.inserting_before(nodes[self.at]):
                new = gm.graph.call_module(name, (nodes[0].all_input_nodes[0],))
                if self.equal:
                    parts = gm.graph.call_method("chunk", (new, len(sizes), self.dim))
                else:
                    parts = gm.graph.call_method("split", (new, sizes), {"dim": self.dim})
                items = [
                    gm.graph.call_function(operator.getitem, (parts, i)) for i in range(len(nodes))
                ]
            for node, item in zip(nodes, items, strict=True):
                node.replace_all_uses_with(item)
                gm.graph.erase_node(node)
        if self.recompile:
            gm.recompile()
        return gm


@wrong("pairs only", "missed-place", clause="all")
def pairs_only(model):
    return Merge(most=2)(model)


@wrong("parts go to the wrong readers", "wrong-result", clause="value")
def wrong_readers(model):
    gm = Merge()(model)
    for node in gm.graph.nodes:
        if node.target is operator.getitem and isinstance(node.args[1], int):
            count = len(node.args[0].users)
            node.args = (node.args[0], (node.args[1] + 1) % count)
    gm.recompile()
    return gm


@wrong("equal parts", "wrong-shape", clause="widths")
def equal_parts(model):
    return Merge(equal=True)(model)


@wrong("split along the second dimension", "result-raises", clause="any-shape")
def second_dimension(model):
    return Merge(dim=1)(model)


@wrong("a bias is needed", "crashed", clause="no-bias")
def needs_a_bias(model):
    def merge(layers):
        for layer in layers:
            layer.bias.numel()
        return merged(layers)

    return Merge(merge=merge)(model)


@wrong("biases are lost", "wrong-result", clause="bias")
def biases_lost(model):
    def merge(layers):
        new = merged(layers)
        new.bias = None
        return new

    return Merge(merge=merge)(model)


@wrong("those with a bias and those without are kept apart", "missed-place", clause="mixed-bias")
def kept_apart(model):
    return Merge(same_bias=True)(model)


@wrong("whoever has the same width", "changed-too-much", clause="other-value")
def any_value(model):
    return Merge(key=lambda node: node.graph.owning_module.get_submodule(node.target).in_features)(
        model
    )


@wrong("a layer that is called twice, too", "changed-too-much", clause="called-twice")
def called_twice(model):
    return Merge(called_once=False)(model)


@wrong("a lone one becomes another linear layer", "changed-too-much", clause="lone")
def lone_is_new(model):
    return Merge(least=1)(model)


@wrong("writes do not matter", "changed-too-much", clause="writes")
def no_writes(model):
    return Merge(epochs=False)(model)


@wrong("modules do not write", "changed-too-much", clause="writes")
def modules_do_not(model):
    def writes(gm, node):
        return written(gm, node) if node.op != "call_module" else None

    return Merge(writes=writes)(model)


@wrong("a value that is written is left alone", "missed-place", clause="both-sides")
def written_are_left(model):
    gm = fx.symbolic_trace(model)
    hit = {w.name for n in gm.graph.nodes if (w := written(gm, n)) is not None}
    return Merge(wanted=lambda gm, node: node.all_input_nodes[0].name not in hit)(model)


@wrong("at the place of the last", "crashed", clause="order")
def at_the_last(model):
    gm = Merge(at=-1)(model)
    gm.graph.lint()
    return gm


@wrong("only direct children", "missed-place", clause="nested")
def children_only(model):
    return Merge(wanted=lambda gm, node: "." not in node.target)(model)


@wrong("keyword calls are left", "missed-place", clause="keywords")
def keywords_left(model):
    return Merge(wanted=lambda gm, node: not node.kwargs)(model)


@wrong("names without a look at those that exist", "missed-place", clause="free-names")
def taken_names(model):
    numbers = itertools.count()
    return Merge(name=lambda gm: f"merged_{next(numbers)}")(model)


@wrong("recompile is missing", "stale-code", clause="common.recompiled")
def stale(model):
    return Merge(recompile=False)(model)


@wrong("the first layer grows", "caller-changed", clause="model-unchanged")
def first_grows(model):
    def merge(layers):
        new, first = merged(layers), layers[0]
        first.weight, first.bias, first.out_features = new.weight, new.bias, new.out_features
        return first

    gm = fx.symbolic_trace(model)
    for nodes in groups(gm):
        merge(layers_of(gm, nodes))
    return gm
