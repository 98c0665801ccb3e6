"""Beginners' mistakes in chapter 02."""

from __future__ import annotations

import operator
from collections import Counter

import torch
from torch import fx, nn

from tests.exercises.mistakes import SHOWS_PLACE, UNSTICKS, mistake

# ------------------------------------------------------------------ count_ops


@mistake("count_ops", "a Counter without zeros", UNSTICKS)
def counter(model):
    return Counter(node.op for node in fx.symbolic_trace(model).graph.nodes)


@mistake("count_ops", "counted by target", UNSTICKS)
def by_target(model):
    counts = {}
    for node in fx.symbolic_trace(model).graph.nodes:
        counts[node.target] = counts.get(node.target, 0) + 1
    return counts


@mistake("count_ops", "starts at one", UNSTICKS)
def starts_at_one(model):
    ops = ["placeholder", "get_attr", "call_function", "call_method", "call_module", "output"]
    counts = dict.fromkeys(ops, 1)
    for node in fx.symbolic_trace(model).graph.nodes:
        counts[node.op] += 1
    return counts


@mistake("count_ops", "an opcode is misspelt", UNSTICKS)
def misspelt(model):
    ops = ["placeholder", "getattr", "call_function", "call_method", "call_module", "output"]
    counts = dict.fromkeys(ops, 0)
    for node in fx.symbolic_trace(model).graph.nodes:
        counts[node.op] += 1
    return counts


TOTALS = dict.fromkeys(
    ["placeholder", "get_attr", "call_function", "call_method", "call_module", "output"], 0
)


@mistake(
    "count_ops",
    "counts are kept between calls",
    UNSTICKS,
    says=["`TOTALS` keeps", "outside of your function"],
)
def kept(model):
    for node in fx.symbolic_trace(model).graph.nodes:
        TOTALS[node.op] += 1
    return TOTALS


@mistake("count_ops", "modules are counted in place of calls", UNSTICKS)
def modules(model):
    gm = fx.symbolic_trace(model)
    ops = ["placeholder", "get_attr", "call_function", "call_method", "call_module", "output"]
    counts = {op: sum(node.op == op for node in gm.graph.nodes) for op in ops}
    counts["call_module"] = len(list(gm.children()))
    return counts


# ------------------------------------------------------------------ inputs_of


@mistake("inputs_of", "only the top of args", UNSTICKS)
def top(node):
    return [a for a in node.args if isinstance(a, fx.Node)]


@mistake("inputs_of", "args and kwargs, nothing nested", UNSTICKS)
def not_nested(node):
    return [a for a in (*node.args, *node.kwargs.values()) if isinstance(a, fx.Node)]


@mistake("inputs_of", "a set", UNSTICKS)
def as_set(node):
    return {a for a in node.args if isinstance(a, fx.Node)}


@mistake(
    "inputs_of", "walks into strings", UNSTICKS, says=["An item of a string is a string again"]
)
def strings(node):
    found = []

    def visit(value):
        if isinstance(value, fx.Node):
            if value not in found:
                found.append(value)
        elif isinstance(value, dict):
            for item in value.values():
                visit(item)
        elif hasattr(value, "__iter__"):
            for item in value:
                visit(item)

    visit(node.args)
    visit(node.kwargs)
    return found


@mistake("inputs_of", "slices forgotten", UNSTICKS)
def no_slices(node):
    found = []

    def visit(value):
        if isinstance(value, fx.Node) and value not in found:
            found.append(value)
        elif isinstance(value, (tuple, list)):
            for item in value:
                visit(item)
        elif isinstance(value, dict):
            for item in value.values():
                visit(item)

    visit(node.args)
    visit(node.kwargs)
    return found


@mistake(
    "inputs_of", "a default list that grows", UNSTICKS, says=["the default value of a parameter"]
)
def grows(node, found=[]):  # noqa: B006
    fx.node.map_arg((node.args, node.kwargs), lambda n: found.append(n) or n)
    return found


@mistake("inputs_of", "names in place of nodes", UNSTICKS)
def names(node):
    found = []
    fx.node.map_arg((node.args, node.kwargs), lambda n: found.append(n.name) or n)
    return list(dict.fromkeys(found))


@mistake("inputs_of", "all_input_nodes", UNSTICKS)
def forbidden(node):
    return list(node.all_input_nodes)


@mistake("inputs_of", "the name of a node's argument", UNSTICKS)
def name_of_args(node):
    return [a for a in node.args if a.name]


# ------------------------------------------------------------------ build_by_hand


@mistake("build_by_hand", "no output", UNSTICKS, says=["is `graph.output(...)` never called?"])
def no_output(proj, shift):
    graph = fx.Graph()
    x = graph.placeholder("x")
    scale = graph.placeholder("scale", default_value=2.0)
    p = graph.call_module("proj", (x,))
    m = graph.call_function(operator.mul, (p, scale))
    a = graph.call_function(operator.add, (m, graph.get_attr("shift")))
    r = graph.call_function(torch.relu, (a,))
    graph.call_method("sum", (r,), {"dim": -1})
    return fx.GraphModule({"proj": proj, "shift": shift}, graph)


@mistake("build_by_hand", "the module itself as target", UNSTICKS)
def module_as_target(proj, shift):
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module(proj, (x,)))
    return fx.GraphModule({"proj": proj, "shift": shift}, graph)


@mistake("build_by_hand", "an empty root", UNSTICKS)
def empty_root(proj, shift):
    graph = fx.Graph()
    x = graph.placeholder("x")
    scale = graph.placeholder("scale", default_value=2.0)
    p = graph.call_module("proj", (x,))
    m = graph.call_function(operator.mul, (p, scale))
    a = graph.call_function(operator.add, (m, graph.get_attr("shift")))
    r = graph.call_function(torch.relu, (a,))
    graph.output(graph.call_method("sum", (r,), {"dim": -1}))
    return fx.GraphModule(nn.Module(), graph)


@mistake("build_by_hand", "the tensor as an argument", UNSTICKS)
def raw_tensor(proj, shift):
    graph = fx.Graph()
    x = graph.placeholder("x")
    scale = graph.placeholder("scale", default_value=2.0)
    p = graph.call_module("proj", (x,))
    m = graph.call_function(operator.mul, (p, scale))
    a = graph.call_function(operator.add, (m, shift))
    r = graph.call_function(torch.relu, (a,))
    graph.output(graph.call_method("sum", (r,), {"dim": -1}))
    return fx.GraphModule({"proj": proj, "shift": shift}, graph)


@mistake("build_by_hand", "no default for scale", UNSTICKS)
def no_default(proj, shift):
    graph = fx.Graph()
    x, scale = graph.placeholder("x"), graph.placeholder("scale")
    p = graph.call_module("proj", (x,))
    m = graph.call_function(operator.mul, (p, scale))
    a = graph.call_function(operator.add, (m, graph.get_attr("shift")))
    r = graph.call_function(torch.relu, (a,))
    graph.output(graph.call_method("sum", (r,), {"dim": -1}))
    return fx.GraphModule({"proj": proj, "shift": shift}, graph)


@mistake("build_by_hand", "sum over all entries", UNSTICKS)
def sums_all(proj, shift):
    graph = fx.Graph()
    x = graph.placeholder("x")
    scale = graph.placeholder("scale", default_value=2.0)
    p = graph.call_module("proj", (x,))
    m = graph.call_function(operator.mul, (p, scale))
    a = graph.call_function(operator.add, (m, graph.get_attr("shift")))
    r = graph.call_function(torch.relu, (a,))
    graph.output(graph.call_method("sum", (r,)))
    return fx.GraphModule({"proj": proj, "shift": shift}, graph)


@mistake("build_by_hand", "arguments without a tuple", UNSTICKS)
def no_tuple(proj, shift):
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module("proj", x))
    return fx.GraphModule({"proj": proj, "shift": shift}, graph)


@mistake("build_by_hand", "returns the graph", UNSTICKS)
def returns_graph(proj, shift):
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module("proj", (x,)))
    return graph


# ------------------------------------------------------------------ dead_nodes


@mistake("dead_nodes", "nodes that nobody reads", UNSTICKS)
def no_users(model):
    nodes = fx.symbolic_trace(model).graph.nodes
    return [n.name for n in nodes if not n.users and n.op not in ("placeholder", "output")]


@mistake("dead_nodes", "the output and inputs are listed", UNSTICKS)
def all_without_users(model):
    return [n.name for n in fx.symbolic_trace(model).graph.nodes if not n.users]


@mistake("dead_nodes", "in backward order", UNSTICKS)
def backward(model):
    alive, dead = set(), []
    for n in reversed(fx.symbolic_trace(model).graph.nodes):
        if n.op == "output" or any(u in alive for u in n.users):
            alive.add(n)
        elif n.op != "placeholder":
            dead.append(n.name)
    return dead


@mistake("dead_nodes", "nodes in place of names", UNSTICKS)
def dead_as_nodes(model):
    alive, dead = set(), []
    for n in reversed(fx.symbolic_trace(model).graph.nodes):
        if n.op == "output" or any(u in alive for u in n.users):
            alive.add(n)
        elif n.op != "placeholder":
            dead.append(n)
    return dead[::-1]


@mistake(
    "dead_nodes",
    "a name of the trace erased",
    SHOWS_PLACE,
    but="names the dead node, but not that the loop runs forward",
)
def erases_while_reading(model):
    gm = fx.symbolic_trace(model)
    dead = []
    for n in gm.graph.nodes:
        if not n.users and n.op not in ("placeholder", "output"):
            dead.append(n.name)
            gm.graph.erase_node(n)
    return dead


@mistake("dead_nodes", "users compared with zero", UNSTICKS)
def users_is_zero(model):
    return [n.name for n in fx.symbolic_trace(model).graph.nodes if n.users == 0]
