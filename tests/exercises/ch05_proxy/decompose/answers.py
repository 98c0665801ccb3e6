"""Answers for `decompose`."""

from __future__ import annotations

import copy
import dataclasses

import torch
from torch import fx
from torch.fx.node import map_aggregate, map_arg
from torch.fx.proxy import GraphAppendingTracer, Proxy

from autograder.exercises.ch05_proxy.decompose.models import with_rules
from tests.exercises import right, wrong


def is_ruled(node, rules):
    return node.op == "call_function" and node.target in rules


def node_of(value):
    return value.node if isinstance(value, fx.Proxy) else value


def copied(graph, node, env):
    return graph.node_copy(node, lambda n: env[n])


@right("a new graph, map_arg")
def new_graph(model, rules, *, copy=copied):
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    env = {}

    def load(node):
        value = env[node]
        return Proxy(value, tracer) if isinstance(value, fx.Node) else value

    for node in gm.graph.nodes:
        if is_ruled(node, rules):
            args, kwargs = map_arg(node.args, load), map_arg(node.kwargs, load)
            env[node] = node_of(rules[node.target](*args, **kwargs))
        else:
            env[node] = copy(graph, node, env)
    return fx.GraphModule(gm, graph)


@right("Proxies kept by name")
def proxies_by_name(model, rules):
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    env = {}
    for node in gm.graph.nodes:
        if is_ruled(node, rules):
            args = map_arg(node.args, lambda n: env[n.name])
            kwargs = map_arg(node.kwargs, lambda n: env[n.name])
            env[node.name] = rules[node.target](*args, **kwargs)
        else:
            copied = graph.node_copy(node, lambda n: node_of(env[n.name]))
            env[node.name] = Proxy(copied, tracer)
    graph.lint()
    return fx.GraphModule(model, graph)


@right("inserted into the trace, old nodes erased")
def in_the_trace(model, rules):
    gm = fx.symbolic_trace(model)
    tracer = GraphAppendingTracer(gm.graph)
    constants = {}
    for node in list(gm.graph.nodes):
        if not is_ruled(node, rules):
            continue
        with gm.graph.inserting_before(node):
            args = map_arg(node.args, lambda n: Proxy(n, tracer))
            kwargs = map_arg(node.kwargs, lambda n: Proxy(n, tracer))
            result = rules[node.target](*args, **kwargs)
        if isinstance(result, fx.Proxy):
            node.replace_all_uses_with(result.node)
        else:
            constants[node] = result
            for user in list(node.users):
                swap = {node: result}
                user.args = map_arg(user.args, lambda n, swap=swap: swap.get(n, n))
                user.kwargs = map_arg(user.kwargs, lambda n, swap=swap: swap.get(n, n))
        gm.graph.erase_node(node)
    gm.recompile()
    return gm


@right("a Transformer")
def transformer(model, rules):
    class Decomposer(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target in rules:
                return rules[target](*args, **kwargs)
            return super().call_function(target, args, kwargs)

    return Decomposer(fx.symbolic_trace(model)).transform()


@right("a Tracer that looks every call up", debrief=True)
def while_tracing(model, rules):
    class Decomposer(fx.Tracer):
        inside = False

        def create_proxy(self, kind, target, args, kwargs, *rest, **more):
            if kind != "call_function" or target not in rules or self.inside:
                return super().create_proxy(kind, target, args, kwargs, *rest, **more)
            self.inside = True
            try:
                return rules[target](*args, **kwargs)
            finally:
                self.inside = False

    tracer = Decomposer()
    graph = tracer.trace(fx.symbolic_trace(model))
    return fx.GraphModule(tracer.root, graph)


@right("an Interpreter on Proxies")
def interpreter(model, rules):
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)

    class Retrace(fx.Interpreter):
        def run_node(self, n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            if is_ruled(n, rules):
                return rules[n.target](*args, **kwargs)
            if n.op == "output":
                graph.output(map_aggregate(args[0], node_of))
                return args[0]
            if n.op == "placeholder":
                return Proxy(graph.node_copy(n), tracer)
            return tracer.create_proxy(n.op, n.target, args, kwargs, type_expr=n.type)

    Retrace(gm, garbage_collect_values=False).run(*[None] * 9, enable_io_processing=False)
    return fx.GraphModule(gm, graph)


@right("its own walk through arguments")
def own_walk(model, rules):
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    env = {}

    def proxied(value):
        if isinstance(value, fx.Node):
            found = env[value]
            return Proxy(found, tracer) if isinstance(found, fx.Node) else found
        if isinstance(value, (list, tuple)):
            return type(value)(proxied(item) for item in value)
        if isinstance(value, dict):
            return {key: proxied(item) for key, item in value.items()}
        if isinstance(value, slice):
            return slice(*map(proxied, (value.start, value.stop, value.step)))
        return value

    for node in gm.graph.nodes:
        if is_ruled(node, rules):
            args = [proxied(arg) for arg in node.args]
            kwargs = {key: proxied(value) for key, value in node.kwargs.items()}
            env[node] = node_of(rules[node.target](*args, **kwargs))
            continue
        env[node] = graph.node_copy(node, env.__getitem__)
    result = fx.GraphModule(gm, graph)
    result.recompile()
    return result


@right("a subgraph for each call, copied in")
def subgraphs(model, rules, *, tidy=lambda small: None):
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    env = {}
    for node in gm.graph.nodes:
        if not is_ruled(node, rules):
            env[node] = graph.node_copy(node, env.__getitem__)
            continue
        small = fx.Graph()
        tracer = GraphAppendingTracer(small)
        places = {}

        def outer(n, small=small, tracer=tracer, places=places):
            if not isinstance(env[n], fx.Node):
                return env[n]
            if n not in places:
                places[n] = Proxy(small.placeholder("arg"), tracer)
            return places[n]

        args, kwargs = map_arg(node.args, outer), map_arg(node.kwargs, outer)
        small.output(node_of(rules[node.target](*args, **kwargs)))
        tidy(small)
        env[node] = graph.graph_copy(small, {p.node: env[n] for n, p in places.items()})
    return fx.GraphModule(gm, graph)


@right("on a deep copy of the trace, types of arguments kept")
def copied_trace(model, rules):
    gm = copy.deepcopy(fx.symbolic_trace(model))
    return new_graph(gm, rules)


# ------------------------------------------------------------------ wrong


def retraced(model, rules, *, graph_of_tracer="new", args_of=None):
    """A right answer; each argument replaces one part."""
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph if graph_of_tracer == "new" else gm.graph)
    env = {}

    def load(node):
        value = env[node.name]
        return Proxy(value, tracer) if isinstance(value, fx.Node) else value

    for node in gm.graph.nodes:
        if is_ruled(node, rules):
            if args_of is None:
                args, kwargs = map_arg(node.args, load), map_arg(node.kwargs, load)
            else:
                args, kwargs = args_of(node, load)
            env[node.name] = node_of(rules[node.target](*args, **kwargs))
        else:
            env[node.name] = graph.node_copy(node, lambda n: env[n.name])
    return fx.GraphModule(gm, graph)


@wrong("the tracer of the old graph", "foreign-node", clause="common.no-foreign-node")
def old_tracer(model, rules):
    return retraced(model, rules, graph_of_tracer="old")


@wrong("keyword arguments dropped", "crashed", clause="keywords")
def no_keywords(model, rules):
    return retraced(model, rules, args_of=lambda node, load: (map_arg(node.args, load), {}))


@wrong("lists are not looked into", "crashed", clause="lists")
def no_lists(model, rules):
    def args_of(node, load):
        args = [load(a) if isinstance(a, fx.Node) else a for a in node.args]
        kwargs = {k: load(a) if isinstance(a, fx.Node) else a for k, a in node.kwargs.items()}
        return args, kwargs

    return retraced(model, rules, args_of=args_of)


@wrong("only the first argument", "crashed", clause="several-arguments")
def first_only(model, rules):
    return retraced(
        model, rules,
        args_of=lambda node, load: (map_arg(node.args[:1], load), map_arg(node.kwargs, load)),
    )  # fmt: skip


@wrong("each input node once", "crashed", clause="same-input-twice")
def input_nodes(model, rules):
    return retraced(
        model, rules, args_of=lambda node, load: (list(map(load, node.all_input_nodes)), {})
    )


@wrong("a result must be a Proxy", "crashed", clause="constants")
def always_node(model, rules):
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    tracer = GraphAppendingTracer(graph)
    for node in gm.graph.nodes:
        if is_ruled(node, rules):
            args = map_arg(node.args, lambda n: Proxy(env[n], tracer))
            kwargs = map_arg(node.kwargs, lambda n: Proxy(env[n], tracer))
            env[node] = rules[node.target](*args, **kwargs).node
        else:
            env[node] = graph.node_copy(node, lambda n: env[n])
    return fx.GraphModule(gm, graph)


@wrong("rules applied until nothing is left", "applied-twice", clause="once")
def until_done(model, rules):
    gm = new_graph(model, rules)
    for _ in range(3):
        if any(is_ruled(node, rules) for node in gm.graph.nodes):
            gm = new_graph(gm, rules)
    return gm


@wrong("methods of that name too", "other-nodes-changed", clause="functions-only")
def methods_too(model, rules):
    by_names = {function.__name__: function for function in rules}
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op == "call_method" and node.target in by_names:
            node.op, node.target = "call_function", by_names[node.target]
    gm.recompile()
    return new_graph(gm, rules)


@wrong("only the first call of each function", "missed-call", clause="each-call")
def only_first(model, rules):
    gm = fx.symbolic_trace(model)
    left = dict(rules)
    graph, env = fx.Graph(), {}
    tracer = GraphAppendingTracer(graph)

    def load(node):
        return Proxy(env[node], tracer) if isinstance(env[node], fx.Node) else env[node]

    for node in gm.graph.nodes:
        if is_ruled(node, left):
            args, kwargs = map_arg(node.args, load), map_arg(node.kwargs, load)
            env[node] = node_of(left.pop(node.target)(*args, **kwargs))
        else:
            env[node] = graph.node_copy(node, lambda n: env[n])
    return fx.GraphModule(gm, graph)


@wrong("dead code eliminated", "other-nodes-changed", clause="rest-copied")
def with_dce(model, rules):
    gm = new_graph(model, rules)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


@wrong("placeholders without defaults", "lost-signature", clause="common.signature")
def lost_defaults(model, rules):
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    tracer = GraphAppendingTracer(graph)

    def load(node):
        return Proxy(env[node], tracer) if isinstance(env[node], fx.Node) else env[node]

    for node in gm.graph.nodes:
        if node.op == "placeholder":
            env[node] = graph.placeholder(node.target)
        elif is_ruled(node, rules):
            args, kwargs = map_arg(node.args, load), map_arg(node.kwargs, load)
            env[node] = node_of(rules[node.target](*args, **kwargs))
        else:
            env[node] = graph.node_copy(node, lambda n: env[n])
    return fx.GraphModule(gm, graph)


@wrong("the output is always one node", "crashed", clause="output")
def one_output(model, rules):
    def copy(graph, node, env):
        if node.op == "output":
            return graph.output(env[node.args[0]])
        return copied(graph, node, env)

    return new_graph(model, rules, copy=copy)


@wrong("the new graph has no output", "no-output", clause="common.one-output")
def no_output(model, rules):
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    tracer = GraphAppendingTracer(graph)

    def load(node):
        return Proxy(env[node], tracer) if isinstance(env[node], fx.Node) else env[node]

    for node in gm.graph.nodes:
        if node.op == "output":
            continue
        if is_ruled(node, rules):
            args, kwargs = map_arg(node.args, load), map_arg(node.kwargs, load)
            env[node] = node_of(rules[node.target](*args, **kwargs))
        else:
            env[node] = graph.node_copy(node, lambda n: env[n])
    return fx.GraphModule(gm, graph)


@wrong("inserted into the trace, not recompiled", "stale-code", clause="common.recompiled")
def not_recompiled(model, rules):
    gm = in_the_trace(model, rules)
    for node in gm.graph.nodes:
        if node.op == "output":
            with gm.graph.inserting_before(node):
                gm.graph.call_function(torch.neg, (node.prev,))
    return gm


@wrong("a graph module edited in place", "caller-changed", clause="common.caller-graph")
def edits_the_caller(model, rules):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    result = new_graph(gm, rules)
    gm.graph = copy.deepcopy(result.graph)
    gm.recompile()
    return gm


@wrong("the model put into eval mode", "caller-changed", clause="common.caller-modes")
def calls_eval(model, rules):
    return new_graph(model.eval(), rules)


@wrong("of what a rule records, only what its result reads", "wrong-result", clause="all-recorded")
def only_what_is_read(model, rules):
    def tidy(small):
        for node in reversed(small.nodes):
            if node.op.startswith("call_") and not node.users:
                small.erase_node(node)

    return subgraphs(model, rules, tidy=tidy)


def is_outside_the_task(network):
    """Whether `torch.div` gets a number, because the rules of random models need tensors."""
    nodes = fx.symbolic_trace(network).graph.nodes
    calls = (node for node in nodes if node.target is torch.div and len(node.args) > 1)
    return any(not isinstance(node.args[1], fx.Node) for node in calls)


def complete_on_network(trial, choice):
    """Add rules for the operations in the network's trace."""
    traced = fx.symbolic_trace(trial.model)
    return with_rules(dataclasses.replace(trial, args=(traced,), model=traced), choice)
