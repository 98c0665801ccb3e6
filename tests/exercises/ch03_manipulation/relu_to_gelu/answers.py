"""Answers for `relu_to_gelu`."""

from __future__ import annotations

import copy

import torch
import torch.nn.functional as F
from torch import fx, nn

from tests.exercises import GRAPH, right, wrong

FUNCTIONS = (torch.relu, F.relu)
LAYERS = (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)


def is_relu(gm, node):
    if node.op == "call_module":
        return isinstance(gm.get_submodule(node.target), nn.ReLU)
    if node.op == "call_method":
        return node.target == "relu"
    return node.op == "call_function" and node.target in FUNCTIONS


def value_of(node):
    return node.args[0] if node.args else node.kwargs["input"]


def swap(model, *, wanted=is_relu, value=value_of, sweep=True, kwargs=None):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if wanted(gm, node):
            with gm.graph.inserting_before(node):
                new = gm.graph.call_function(F.gelu, (value(node),), kwargs or {})
            node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    if sweep:
        gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("new calls of F.gelu")
def functions(model):
    return swap(model)


@right("nodes edited in place")
def in_place(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_relu(gm, node):
            value = value_of(node)
            node.op, node.target, node.args, node.kwargs = "call_function", F.gelu, (value,), {}
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("one nn.GELU for all")
def one_module(model):
    gm = fx.symbolic_trace(model)
    gm.add_submodule("the.gelu", nn.GELU())
    for node in list(gm.graph.nodes):
        if is_relu(gm, node):
            with gm.graph.inserting_after(node):
                new = gm.graph.call_module("the.gelu", (value_of(node),))
            node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("modules replaced in containers of its own")
def modules_replaced(model):
    gm = fx.symbolic_trace(model)
    own_containers = (nn.Module, type(gm))
    for node in list(gm.graph.nodes):
        if not is_relu(gm, node):
            continue
        parent, _, name = str(node.target).rpartition(".")
        if node.op == "call_module" and type(gm.get_submodule(parent)) in own_containers:
            setattr(gm.get_submodule(parent), name, nn.GELU())
            continue
        with gm.graph.inserting_before(node):
            new = gm.graph.call_function(F.gelu, (value_of(node),))
        node.replace_all_uses_with(new)
        gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("modules replaced in a deep copy")
def deep_copy(model):
    model = copy.deepcopy(model)
    for module in list(model.modules()):
        if isinstance(module, LAYERS):
            continue
        for name, child in list(module.named_children()):
            if isinstance(child, nn.ReLU):
                setattr(module, name, nn.GELU())
    # A module with two names is now two modules, and FX calls each by its own name.
    return swap(model)


@right("a Transformer", debrief=True)
def transformer(model):
    class Gelus(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target in FUNCTIONS:
                return F.gelu(args[0] if args else kwargs["input"])
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            if target == "relu":
                return F.gelu(args[0])
            return super().call_method(target, args, kwargs)

        def call_module(self, target, args, kwargs):
            if isinstance(self.submodules[target], nn.ReLU):
                return F.gelu(args[0] if args else kwargs["input"])
            return super().call_module(target, args, kwargs)

    return Gelus(fx.symbolic_trace(model)).transform()


@right("a Tracer that opens nn.ReLU")
def opened(model):
    class Open(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return not isinstance(m, nn.ReLU) and super().is_leaf_module(m, module_qualified_name)

        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            call = (kind == "call_function" and target in FUNCTIONS) or (
                kind == "call_method" and target == "relu"
            )
            if call:
                args, kwargs = (args[0] if args else kwargs["input"],), {"approximate": "none"}
                kind, target = "call_function", F.gelu
            return super().create_node(kind, target, args, kwargs, name, type_expr)

    tracer = Open()
    graph = tracer.trace(model)
    return fx.GraphModule(tracer.root, graph)


@right("replace_pattern")
def patterns(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and is_relu(gm, node):
            with gm.graph.inserting_before(node):
                new = gm.graph.call_function(torch.relu, (value_of(node),))
            node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    for pattern in (
        lambda x: torch.relu(x),
        lambda x: torch.relu(input=x),
        lambda x: F.relu(x),
        lambda x: F.relu(x, inplace=True),
        lambda x: x.relu(),
    ):
        fx.replace_pattern(gm, pattern, lambda x: F.gelu(x))
    return gm


# ------------------------------------------------------------------ wrong


@wrong("modules replaced in a deep copy, inside leaves too", "leaf-changed", clause="leaf")
def deep_copy_of_leaves(model):
    model = copy.deepcopy(model)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.ReLU):
                setattr(module, name, nn.GELU())
    return swap(model)


@wrong("leaves that hold one are left alone altogether", "missed-spelling", clause="leaf-called")
def shared_left_alone(model):
    held = {
        id(child)
        for module in model.modules()
        if isinstance(module, nn.TransformerDecoderLayer)
        for child in module.modules()
    }
    return swap(
        model,
        wanted=lambda gm, n: (
            is_relu(gm, n)
            and not (n.op == "call_module" and id(gm.get_submodule(n.target)) in held)
        ),
    )


@wrong("F.relu forgotten", "missed-spelling", clause="functional")
def no_functional(model):
    return swap(model, wanted=lambda gm, n: is_relu(gm, n) and n.target is not F.relu)


@wrong("methods forgotten", "missed-spelling", clause="method")
def no_methods(model):
    return swap(model, wanted=lambda gm, n: is_relu(gm, n) and n.op != "call_method")


@wrong("F.relu in place forgotten", "missed-spelling", clause="inplace")
def not_in_place(model):
    return swap(model, wanted=lambda gm, n: is_relu(gm, n) and not n.kwargs.get("inplace"))


@wrong("modules in place forgotten", "missed-spelling", clause="module")
def no_in_place_modules(model):
    def wanted(gm, node):
        inplace = node.op == "call_module" and getattr(
            gm.get_submodule(node.target), "inplace", False
        )
        return is_relu(gm, node) and not inplace

    return swap(model, wanted=wanted)


@wrong("only the first call of a module", "missed-spelling", clause="common.called-twice")
def first_call(model):
    seen = set()

    def wanted(gm, node):
        if node.op != "call_module" or not is_relu(gm, node):
            return is_relu(gm, node)
        new = node.target not in seen
        seen.add(node.target)
        return new

    return swap(model, wanted=wanted)


@wrong("the input taken from args", "crashed", clause="common.keyword-calls")
def input_from_args(model):
    return swap(model, value=lambda node: node.args[0])


@wrong("gelu approximated", "not-exact", clause="exact")
def approximated(model):
    return swap(model, kwargs={"approximate": "tanh"})


@wrong("modules left behind", "unused-module", clause="gone")
def modules_left(model):
    return swap(model, sweep=False)


@wrong("found by the name of the class", "wrong-result", clause="others")
def by_class_name(model):
    def wanted(gm, node):
        if node.op == "call_module":
            return "ReLU" in type(gm.get_submodule(node.target)).__name__
        return is_relu(gm, node)

    return swap(model, wanted=wanted)


@wrong("modules of the caller replaced", "caller-changed", clause="common.caller-submodules")
def caller_replaced(model):
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.ReLU):
                setattr(module, name, nn.GELU())
    return swap(model)


@wrong("setattr with a dotted name", "dotted-name", clause="common.no-dotted-key")
def dotted(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op == "call_module" and is_relu(gm, node):
            setattr(gm, node.target, nn.GELU())
    gm.recompile()
    return gm


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if is_relu(gm, node):
            with gm.graph.inserting_before(node):
                new = gm.graph.call_function(F.gelu, (value_of(node),))
            node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    return gm


@wrong("the result put into the model's mode", "caller-changed", clause="common.caller-modes")
def model_mode(model):
    return swap(model).train(model.training)


DECIDES_NOTHING = [
    (r"value\.graph_module\.nodes\[\]\.kwargs\.dict.*", "a keyword may say its default"),
    (
        GRAPH + r"modules\[\]\.buffers\.num_batches_tracked",
        "a BatchNorm with a momentum computes nothing with the number of its batches",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
