"""Answers for `remove_dropout`."""

from __future__ import annotations

import copy

import torch.nn.functional as F
from torch import fx, nn
from torch.nn.modules.dropout import _DropoutNd

from tests.exercises import right, wrong

MODULES = (
    nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout,
)  # fmt: skip
FUNCTIONS = (
    F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout,
)  # fmt: skip


def is_dropout(gm, node):
    if node.op == "call_module":
        return isinstance(gm.get_submodule(node.target), MODULES)
    return node.op == "call_function" and node.target in FUNCTIONS


def value_of(node):
    return node.args[0] if node.args else node.kwargs["input"]


def remove(model, *, wanted=is_dropout, value=value_of, sweep=True, order=list):
    gm = fx.symbolic_trace(model)
    for node in order(list(gm.graph.nodes)):
        if wanted(gm, node):
            node.replace_all_uses_with(value(node))
            gm.graph.erase_node(node)
    if sweep:
        gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("rewired and erased")
def erased(model):
    return remove(model)


@right("from back to front")
def backwards(model):
    return remove(model, order=reversed, value=lambda node: node.all_input_nodes[0])


@right("the private base class")
def base_class(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        module = gm.get_submodule(node.target) if node.op == "call_module" else None
        if node.target in FUNCTIONS or isinstance(module, _DropoutNd):
            node.replace_all_uses_with(value_of(node))
            gm.graph.erase_node(node)
    for name, module in list(gm.named_children()):
        if isinstance(module, _DropoutNd):
            gm.delete_submodule(name)
    gm.delete_all_unused_submodules()
    gm.graph.lint()
    gm.recompile()
    return gm


@right("a Transformer")
def transformer(model):
    class Without(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target in FUNCTIONS:
                return args[0] if args else kwargs["input"]
            return super().call_function(target, args, kwargs)

        def call_module(self, target, args, kwargs):
            if isinstance(self.submodules[target], MODULES):
                return args[0] if args else kwargs["input"]
            return super().call_module(target, args, kwargs)

    return Without(fx.symbolic_trace(model)).transform()


@right("a new graph", debrief=True)
def rebuilt(model):
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        if is_dropout(gm, node):
            env[node] = env[value_of(node)]
        else:
            env[node] = graph.node_copy(node, env.__getitem__)
    return fx.GraphModule(gm, graph)


@right("a Tracer for which dropouts do nothing")
def tracer(model):
    class Without(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            if isinstance(m, MODULES):
                return args[0] if args else kwargs["input"]
            return super().call_module(m, forward, args, kwargs)

        def create_proxy(self, kind, target, args, kwargs, *rest, **more):
            if kind == "call_function" and target in FUNCTIONS:
                return args[0]
            return super().create_proxy(kind, target, args, kwargs, *rest, **more)

    without = Without()
    graph = without.trace(model)
    return fx.GraphModule(without.root, graph)


@right("a chain followed to its end")
def followed(model):
    gm = fx.symbolic_trace(model)

    def real(node):
        while is_dropout(gm, node):
            node = value_of(node)
        return node

    for node in gm.graph.nodes:
        node.args = fx.node.map_arg(node.args, real)
        node.kwargs = fx.node.map_arg(node.kwargs, real)
    for node in reversed(list(gm.graph.nodes)):
        if is_dropout(gm, node):
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@wrong("an nn.Identity in place of each", "something-instead", clause="nothing-instead")
def identities(model):
    gm = fx.symbolic_trace(model)
    gm.add_submodule("nothing", nn.Identity())
    for node in gm.graph.nodes:
        if is_dropout(gm, node):
            value = value_of(node)
            node.op, node.target, node.args, node.kwargs = "call_module", "nothing", (value,), {}
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("identities of the model go, too: nobody forbids it")
def identities_too(model):
    return remove(
        model,
        wanted=lambda gm, n: (
            is_dropout(gm, n)
            or (n.op == "call_module" and isinstance(gm.get_submodule(n.target), nn.Identity))
        ),
    )


# ------------------------------------------------------------------ wrong


@wrong("the module that was called is deleted", "caller-changed", clause="leaf")
def target_deleted(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if is_dropout(gm, node):
            node.replace_all_uses_with(value_of(node))
            gm.graph.erase_node(node)
            if node.op == "call_module":
                gm.delete_submodule(node.target)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@wrong("only nn.Dropout", "missed-spelling", clause="modules")
def only_dropout(model):
    return remove(
        model,
        wanted=lambda gm, n: (
            n.op == "call_module" and isinstance(gm.get_submodule(n.target), nn.Dropout)
        ),
    )


@wrong("functions forgotten", "missed-spelling", clause="functions")
def no_functions(model):
    return remove(model, wanted=lambda gm, n: n.op == "call_module" and is_dropout(gm, n))


@wrong("siblings of F.dropout forgotten", "missed-spelling", clause="functions")
def no_siblings(model):
    return remove(
        model,
        wanted=lambda gm, n: is_dropout(gm, n) and (n.op == "call_module" or n.target is F.dropout),
    )


@wrong("only functions that listen to training", "missed-spelling", clause="always-active")
def only_listening(model):
    return remove(
        model,
        wanted=lambda gm, n: (
            is_dropout(gm, n) and (n.op == "call_module" or not n.kwargs.get("training"))
        ),
    )


@wrong("keyword calls skipped", "missed-spelling", clause="keyword")
def keywords_skipped(model):
    return remove(model, wanted=lambda gm, n: is_dropout(gm, n) and len(n.args) > 0)


@wrong("modules left behind", "unused-module", clause="unused")
def modules_left(model):
    return remove(model, sweep=False)


@wrong("inputs collected before the loop", "crashed", clause="chained")
def collected(model):
    gm = fx.symbolic_trace(model)
    pairs = [(node, value_of(node)) for node in gm.graph.nodes if is_dropout(gm, node)]
    for node, value in pairs:
        node.replace_all_uses_with(value)
        gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.graph.lint()
    gm.recompile()
    return gm


@wrong("dropouts as the output skipped", "missed-spelling", clause="output")
def outputs_skipped(model):
    return remove(
        model,
        wanted=lambda gm, n: is_dropout(gm, n) and all(u.op != "output" for u in n.users),
    )


@wrong("every module call that changes nothing in eval mode", "wrong-result", clause="value")
def too_much(model):
    def wanted(gm, node):
        return is_dropout(gm, node) or (
            node.op == "call_module" and "dropout" in node.target.lower()
        )

    return remove(model, wanted=wanted)


@wrong("p set to zero", "caller-changed", clause="common.caller-attributes")
def p_zero(model):
    gm = fx.symbolic_trace(model)
    for module in gm.modules():
        if isinstance(module, MODULES):
            module.p = 0.0
    return remove(gm)


@wrong("the result put into the model's mode", "caller-changed", clause="common.caller-modes")
def model_mode(model):
    return remove(model).train(model.training)


@wrong("a graph module edited in place", "caller-changed", clause="common.caller-graph")
def edits_the_caller(model):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if is_dropout(gm, node):
            node.replace_all_uses_with(value_of(node))
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if is_dropout(gm, node):
            node.replace_all_uses_with(value_of(node))
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    return gm


@wrong("leaves of a deep copy lose theirs, too", "leaf-changed", clause="leaf")
def leaves_of_a_copy(model):
    model = copy.deepcopy(model)
    calls = fx.symbolic_trace(model).graph.find_nodes(op="call_module")
    called = {model.get_submodule(node.target) for node in calls}
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            in_a_leaf = isinstance(module, nn.TransformerEncoderLayer) and child not in called
            if in_a_leaf and isinstance(child, MODULES):
                setattr(module, name, nn.Identity())
    return remove(model)
