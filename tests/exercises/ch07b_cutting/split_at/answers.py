"""Answers for `split_at`."""

from __future__ import annotations

import copy
import operator

import torch
from torch import fx
from torch.fx.node import map_arg

from tests.exercises import GRAPH, right, wrong


def place_of(nodes, name):
    for i, node in enumerate(nodes):
        if node.name == name and node.op not in ("placeholder", "output"):
            return i
    raise ValueError(f"cannot cut at {name}")


def crossing_of(first, rest):
    return [node for node in first if set(node.users) & set(rest)]


def placeholders(graph, nodes):
    return {node: graph.placeholder(node.name) for node in nodes}


def split(
    model,
    name,
    *,
    trace=fx.symbolic_trace,
    place=place_of,
    crossing=crossing_of,
    enter=placeholders,
    result=tuple,
    module=fx.GraphModule,
):
    gm = trace(model)
    nodes = list(gm.graph.nodes)
    cut = place(nodes, name) + 1
    first, rest = nodes[:cut], nodes[cut:]
    passed = crossing(first, rest)
    head, new = fx.Graph(), {}
    for node in first:
        new[node] = head.node_copy(node, new.__getitem__)
    head.output(result([new[node] for node in passed]))
    tail = fx.Graph()
    new = enter(tail, list(dict.fromkeys(passed)))
    for node in rest:
        new[node] = tail.node_copy(node, new.__getitem__)
    return module(gm, head), module(gm, tail)


# ------------------------------------------------------------------ right


@right("two new graphs")
def two_graphs(model, name):
    return split(model, name)


@right("the named value always crosses")
def always_crosses(model, name):
    return split(
        model,
        name,
        crossing=lambda first, rest: list(dict.fromkeys([*crossing_of(first, rest), first[-1]])),
    )


@right("in the opposite order, under other names")
def opposite(model, name):
    def enter(graph, nodes):
        return {node: graph.placeholder(f"value_{i}") for i, node in enumerate(nodes)}

    return split(
        model, name, enter=enter, crossing=lambda *args: list(reversed(crossing_of(*args)))
    )


@right("parameters are read again in the tail", debrief=True)
def read_again(model, name):
    gm = fx.symbolic_trace(model)
    nodes = list(gm.graph.nodes)
    cut = place_of(nodes, name) + 1
    first, rest = nodes[:cut], nodes[cut:]
    passed = [n for n in crossing_of(first, rest) if n.op != "get_attr"]
    head, new = fx.Graph(), {}
    for node in first:
        new[node] = head.node_copy(node, new.__getitem__)
    head.output(tuple(new[node] for node in passed))
    head.lint()
    tail = fx.Graph()
    new = placeholders(tail, passed)
    for node in first:
        if node.op == "get_attr" and set(node.users) & set(rest):
            new[node] = tail.get_attr(node.target)
    for node in rest:
        new[node] = tail.node_copy(node, new.__getitem__)
    return fx.GraphModule(gm, head), fx.GraphModule(gm, tail)


@right("two traces, each cut on one side")
def two_traces(model, name):
    head, tail = fx.symbolic_trace(model), fx.symbolic_trace(model)
    nodes = list(head.graph.nodes)
    cut = place_of(nodes, name) + 1
    passed = [node.name for node in crossing_of(nodes[:cut], nodes[cut:])]
    by_name = {node.name: node for node in nodes}
    for node in reversed(nodes[cut:]):
        head.graph.erase_node(node)
    head.graph.output(tuple(by_name[each] for each in passed))

    old = list(tail.graph.nodes)[:cut]
    with tail.graph.inserting_before(next(iter(tail.graph.nodes))):
        new = {each: tail.graph.placeholder(f"{each}_in") for each in passed}
    for node in old:
        if node.name in new:
            later = set(list(tail.graph.nodes)) - set(old)
            node.replace_all_uses_with(
                new[node.name], delete_user_cb=lambda user, later=later: user in later
            )
    for node in reversed(old):
        tail.graph.erase_node(node)
    for gm in (head, tail):
        gm.delete_all_unused_submodules()
        gm.graph.lint()
        gm.recompile()
    return head, tail


@right("one parameter that collects all, taken apart")
def star(model, name):
    def enter(graph, nodes):
        values = graph.placeholder("*values")
        return {
            node: graph.call_function(operator.getitem, (values, i)) for i, node in enumerate(nodes)
        }

    return split(model, name, enter=enter)


@right("graph_copy for the head, a table of modules for the tail")
def tables(model, name):
    gm = fx.symbolic_trace(model)
    nodes = list(gm.graph.nodes)
    cut = place_of(nodes, name) + 1
    passed = crossing_of(nodes[:cut], nodes[cut:])
    head, new = fx.Graph(), {}
    head.graph_copy(gm.graph, new)
    for node in reversed(nodes[cut:-1]):
        head.erase_node(new[node])
    head.output(tuple(new[node] for node in passed))
    tail = fx.Graph()
    new = placeholders(tail, passed)
    for node in nodes[cut:-1]:
        args, kwargs = map_arg((node.args, node.kwargs), new.__getitem__)
        new[node] = tail.create_node(node.op, node.target, args, kwargs)
    tail.output(map_arg(nodes[-1].args[0], new.__getitem__))
    used = {n.target for n in tail.nodes if n.op in ("call_module", "get_attr")}
    return fx.GraphModule(gm, head), fx.GraphModule(
        {target: operator.attrgetter(target)(gm) for target in used}, tail
    )


@right("the whole module tree in both parts")
def whole_tree(model, name):
    def module(gm, graph):
        part = fx.GraphModule(gm, graph)
        for path, child in gm.named_modules():
            if path and not list(child.children()):
                part.add_submodule(path, child)
        return part

    return split(model, name, module=module)


# ------------------------------------------------------------------ wrong: crossing values


@wrong("only the named value crosses", "crashed", clause="earlier-values")
def only_named(model, name):
    return split(model, name, crossing=lambda first, rest: [first[-1]])


@wrong("only values of calls cross", "crashed", clause="inputs")
def no_inputs(model, name):
    return split(
        model,
        name,
        crossing=lambda *args: [n for n in crossing_of(*args) if n.op != "placeholder"],
    )


@wrong("every value crosses", "crosses-too-much", clause="nothing-else")
def everything(model, name):
    return split(model, name, crossing=lambda first, rest: list(first))


@wrong("once for each reader", "crosses-twice", clause="each-once")
def each_reader(model, name):
    gm = fx.symbolic_trace(model)
    nodes = list(gm.graph.nodes)
    cut = place_of(nodes, name) + 1
    first, rest = nodes[:cut], nodes[cut:]
    head, new = fx.Graph(), {}
    for node in first:
        new[node] = head.node_copy(node, new.__getitem__)
    passed, tail, old = [], fx.Graph(), {}
    for node in rest:
        for read in node.all_input_nodes:
            if read in first:
                passed.append(read)
                old[node, read] = tail.placeholder(f"value_{len(passed)}")
    for node in rest:
        mine = {read: old.get((node, read), old.get(read)) for read in node.all_input_nodes}
        old[node] = tail.node_copy(node, mine.__getitem__)
    head.output(tuple(new[node] for node in passed))
    return fx.GraphModule(gm, head), fx.GraphModule(gm, tail)


@wrong("a lone value without a tuple", "not-a-tuple", clause="tuple")
def lone(model, name):
    return split(
        model, name, result=lambda values: values[0] if len(values) == 1 else tuple(values)
    )


@wrong("the two in another order", "wrong-result", clause="result")
def other_order(model, name):
    def enter(graph, nodes):
        return placeholders(graph, sorted(nodes, key=lambda node: node.name))

    return split(model, name, enter=enter)


# ------------------------------------------------------------------ wrong: sides of nodes


@wrong("the named node is in the tail", "wrong-side", clause="head")
def before_it(model, name):
    return split(model, name, place=lambda nodes, name: place_of(nodes, name) - 1)


@wrong("dead nodes are eliminated", "node-missing", clause="dead-too")
def eliminated(model, name):
    parts = split(model, name)
    for part in parts:
        part.graph.eliminate_dead_code()
        part.recompile()
    return parts


# ------------------------------------------------------------------ wrong: signature, sharing


@wrong("the head's defaults are lost", "lost-signature", clause="common.signature")
def no_defaults(model, name):
    head, tail = split(model, name)
    for node in head.graph.nodes:
        if node.op == "placeholder":
            node.args = ()
    head.recompile()
    return head, tail


@wrong("copies of the layers", "not-shared", clause="shared")
def copied_layers(model, name):
    return split(copy.deepcopy(model), name)


# ------------------------------------------------------------------ wrong: errors and form


@wrong("KeyError for an unknown name", "wrong-exception", clause="unknown")
def key_error(model, name):
    def place(nodes, name):
        i = {node.name: i for i, node in enumerate(nodes)}[name]
        if nodes[i].op in ("placeholder", "output"):
            raise ValueError(name)
        return i

    return split(model, name, place=place)


@wrong("cuts at an input", "should-raise", clause="placeholder")
def at_input(model, name):
    def place(nodes, name):
        names = [node.name for node in nodes if node.op != "output"]
        return names.index(name)

    return split(model, name, place=place)


@wrong("cuts at the output", "should-raise", clause="output")
def at_output(model, name):
    return split(model, "second" if name == "output" else name)


@wrong("the nodes of one graph in two", "foreign-node", clause="common.no-foreign-node")
def foreign(model, name):
    gm = fx.symbolic_trace(model)
    nodes = list(gm.graph.nodes)
    cut = place_of(nodes, name) + 1
    passed = crossing_of(nodes[:cut], nodes[cut:])
    head, tail = fx.Graph(), fx.Graph()
    new = {}
    for node in nodes[:cut]:
        new[node] = head.node_copy(node, new.__getitem__)
    head.output(tuple(new[node] for node in passed))
    for node in nodes[cut:]:
        new[node] = tail.node_copy(node, new.__getitem__)
    return fx.GraphModule(gm, head), fx.GraphModule(gm, tail)


@wrong("the tail is stale", "stale-code", clause="common.all-results")
def stale(model, name):
    head, tail = split(model, name)
    with tail.graph.inserting_before(next(reversed(tail.graph.nodes))):
        tail.graph.call_function(torch.ones, (1,))
    return head, tail


@wrong("a copy of a graph module is not traced again", "wrong-side", clause="common.fresh-trace")
def not_traced(model, name):
    def trace(model):
        if isinstance(model, fx.GraphModule):
            return copy.deepcopy(model)
        return fx.symbolic_trace(model)

    return split(model, name, trace=trace)


@wrong("always in eval mode", "caller-changed", clause="common.caller-modes")
def to_eval(model, name):
    head, tail = split(model, name)
    return head.eval(), tail.eval()


@wrong("the result's lists become tuples", "wrong-structure", clause="result")
def tuples(model, name):
    head, tail = split(model, name)
    output = next(reversed(tail.graph.nodes))
    if isinstance(output.args[0], tuple):
        output.args = (tuple(tuple(v) if isinstance(v, list) else v for v in output.args[0]),)
    tail.recompile()
    return head, tail


BEYOND = {
    "cuts at the output": "random models are cut at nodes where they can be",
}


DECIDES_NOTHING = [
    (
        GRAPH + r"modules\[\]\.origin",
        "parameters are asked for, and modules inside the target of `inline`",
    ),
]
"""Places in an outcome that decide no points, with the reason."""


ASKS_FOR_ORIGINS = "parts of the result must be the very parts of what was given"
