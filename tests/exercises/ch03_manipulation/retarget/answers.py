"""Answers for `retarget`."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import inspect
import operator

from torch import fx

from tests.exercises import right, wrong


def is_call(node, old):
    return node.op == "call_function" and node.target is old


@right("targets edited in place")
def in_place(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_call(node, old):
            node.target = new
    gm.recompile()
    return gm


@right("new nodes, then erased")
def new_nodes(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if is_call(node, old):
            with gm.graph.inserting_after(node):
                twin = gm.graph.call_function(new)
            node.replace_all_uses_with(twin)
            twin.args, twin.kwargs = node.args, node.kwargs
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@right("found by find_nodes")
def find_nodes(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.find_nodes(op="call_function", target=old)):
        node.target = new
    gm.graph.lint()
    gm.recompile()
    return gm


@right("graph rebuilt node by node")
def rebuilt(model, old, new):
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        env[node] = graph.node_copy(node, env.__getitem__)
    for node in graph.nodes:
        if is_call(node, old):
            node.target = new
    return fx.GraphModule(gm, graph)


@right("Tracer and a GraphModule subclass")
def tracer_and_subclass(model, old, new):
    class Retargeted(fx.GraphModule):
        """A GraphModule with a name of its own."""

    tracer = fx.Tracer()
    graph = tracer.trace(model)
    for node in graph.nodes:
        if is_call(node, old):
            node.target = new
    return Retargeted(tracer.root, graph)


@right("retargeted while tracing", debrief=True)
def while_tracing(model, old, new):
    class Swap(fx.Tracer):
        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            if kind == "call_function" and target is old:
                name = name or self.graph._target_to_str(old)
                target = new
            return super().create_node(kind, target, args, kwargs, name, type_expr)

    tracer = Swap()
    graph = tracer.trace(model)
    return fx.GraphModule(tracer.root, graph)


@right("a Transformer that keeps names")
def named_transformer(model, old, new):
    class Swap(fx.Transformer):
        def run_node(self, n):
            if is_call(n, old):
                args, kwargs = self.fetch_args_kwargs_from_env(n)
                return self.tracer.create_proxy("call_function", new, args, kwargs, name=n.name)
            result = super().run_node(n)
            if n.op != "output" and result.node.name != n.name:
                result.node._rename(n.name)
            return result

    return Swap(fx.symbolic_trace(model)).transform()


@right("on a deep copy of the trace")
def deep_copy(model, old, new):
    gm = copy.deepcopy(fx.symbolic_trace(model))
    nodes = iter(gm.graph.nodes)
    while (node := next(nodes, None)) is not None:
        node.target = new if is_call(node, old) else node.target
    gm.recompile()
    return gm


# ------------------------------------------------------------------ wrong


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_call(node, old):
            node.target = new
    return gm


@wrong("only the first call", "missed-call", clause="every-call")
def only_first(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_call(node, old):
            node.target = new
            break
    gm.recompile()
    return gm


@wrong("calls that nobody reads are skipped", "missed-call", clause="every-call")
def only_read(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_call(node, old) and node.users:
            node.target = new
    gm.recompile()
    return gm


@wrong("functions compared by __name__", "other-nodes-changed", clause="by-identity")
def by_name(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target.__name__ == old.__name__:
            node.target = new
    gm.recompile()
    return gm


@wrong("methods of that name too", "other-nodes-changed", clause="functions-only")
def methods_too(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_call(node, old):
            node.target = new
        elif node.op == "call_method" and node.target == old.__name__:
            node.target = new.__name__
    gm.recompile()
    return gm


@wrong("keyword arguments dropped", "wrong-arguments", clause="arguments")
def no_keywords(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_call(node, old):
            node.target, node.kwargs = new, {}
    gm.recompile()
    return gm


@wrong("dead code eliminated", "other-nodes-changed", clause="others")
def with_dce(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_call(node, old):
            node.target = new
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


@wrong("a graph module edited in place", "caller-changed", clause="common.caller-graph")
def edits_the_caller(model, old, new):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_call(node, old):
            node.target = new
    gm.recompile()
    return gm


@wrong("a Transformer that renames", "other-nodes-changed", clause="others")
def renaming_transformer(model, old, new):
    class Swap(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(new if target is old else target, args, kwargs)

    return Swap(fx.symbolic_trace(model)).transform()


@wrong("placeholders copied by name", "lost-signature", clause="common.signature")
def lost_defaults(model, old, new):
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            env[node] = graph.placeholder(node.name)
            continue
        env[node] = graph.node_copy(node, env.__getitem__)
        if is_call(node, old):
            env[node].target = new
    return fx.GraphModule(gm, graph)


@wrong("arguments not mapped to the new graph", "foreign-node", clause="common.no-foreign-node")
def not_mapped(model, old, new):
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        if is_call(node, old):
            env[node] = graph.call_function(new, node.args, node.kwargs)
        else:
            env[node] = graph.node_copy(node, env.__getitem__)
    return fx.GraphModule(gm, graph)


@wrong("each argument counted once", "missed-call", clause="every-call")
def once_per_arguments(model, old, new):
    gm, seen = fx.symbolic_trace(model), set()
    for node in gm.graph.nodes:
        if is_call(node, old) and str((node.args, node.kwargs)) not in seen:
            seen.add(str((node.args, node.kwargs)))
            node.target = new
    gm.recompile()
    return gm


@wrong("every part gets the model's mode", "caller-changed", clause="common.caller-modes")
def one_mode(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_call(node, old):
            node.target = new
    gm.recompile()
    return gm.train(model.training)


@wrong(
    "only keywords that the signature of the new function names",
    "wrong-arguments",
    clause="arguments",
)
def known_keywords(model, old, new):
    gm = in_place(model, old, new)
    for node in gm.graph.find_nodes(op="call_function", target=new):
        with contextlib.suppress(TypeError, ValueError):
            known = inspect.signature(new).parameters
            node.kwargs = {key: value for key, value in node.kwargs.items() if key in known}
    gm.recompile()
    return gm


@wrong("only what is computed from an input", "missed-call", clause="every-call")
def from_inputs(model, old, new):
    gm, reached = fx.symbolic_trace(model), set()
    for node in gm.graph.nodes:
        if node.op == "placeholder" or reached.intersection(node.all_input_nodes):
            reached.add(node)
        if is_call(node, old) and node in reached:
            node.target = new
    gm.recompile()
    return gm


def complete_on_network(trial, choice):
    """Replace sums by differences."""
    return dataclasses.replace(trial, args=(*trial.args, operator.add, operator.sub))
