"""Answers to `dead_nodes`."""

from __future__ import annotations

import copy

import networkx as nx
from torch import fx

from tests.exercises import right, wrong


def output_of(graph):
    """The output node."""
    return next(iter(reversed(graph.nodes)))


def alive_in(graph, reads=lambda node: node.all_input_nodes):
    """The nodes whose value reaches the output, if `reads` returns the inputs of a node."""
    alive, todo = set(), [output_of(graph)]
    while todo:
        node = todo.pop()
        if node not in alive:
            alive.add(node)
            todo += reads(node)
    return alive


def named(graph, alive):
    """The names of the dead nodes, as the exercise defines them."""
    return [n.name for n in graph.nodes if n not in alive and n.op != "placeholder"]


@right("backward, asking the users")
def _(model):
    graph = fx.symbolic_trace(model).graph
    alive = set()
    for node in reversed(graph.nodes):
        if node.op == "output" or any(user in alive for user in node.users):
            alive.add(node)
    return [n.name for n in graph.nodes if n not in alive and n.op != "placeholder"]


@right("from the output along what is read")
def _(model):
    graph = fx.symbolic_trace(model).graph
    return named(graph, alive_in(graph))


@right("recursion along the users", debrief=True)
def _(model):
    gm = fx.symbolic_trace(model)

    def reaches(node):
        return node.op == "output" or any(reaches(user) for user in node.users)

    calls = [n for n in gm.graph.nodes if n.op != "placeholder"]
    return [n.name for n in calls if not reaches(n)]


@right("peeling off nodes without readers until nothing changes")
def _(model):
    nodes = [n for n in fx.symbolic_trace(model).graph.nodes if n.op != "output"]
    dead = set()
    while True:
        more = {n for n in nodes if n not in dead and all(u in dead for u in n.users)}
        if not more:
            return [n.name for n in nodes if n in dead and n.op != "placeholder"]
        dead |= more


@right("erasing by hand on a fresh trace")
def _(model):
    graph = fx.symbolic_trace(model).graph
    before = [n.name for n in graph.nodes]
    for node in reversed(graph.nodes):
        if not node.users and node.op not in ("output", "placeholder"):
            graph.erase_node(node)
    left = {n.name for n in graph.nodes}
    return [name for name in before if name not in left]


@right("ancestors in networkx, map_arg for the edges")
def _(model):
    graph, links = fx.symbolic_trace(model).graph, nx.DiGraph()
    for node in graph.nodes:
        links.add_node(node.name)
        both = (node.args, node.kwargs)
        fx.node.map_arg(both, lambda n, to=node.name: links.add_edge(n.name, to))
    alive = nx.ancestors(links, "output") | {"output"}
    return [n.name for n in graph.nodes if n.name not in alive and n.op != "placeholder"]


@wrong("only nodes without readers", "missed-dead", clause="through-others")
def _(model):
    nodes = fx.symbolic_trace(model).graph.nodes
    return [n.name for n in nodes if not n.users and n.op not in ("placeholder", "output")]


@wrong(
    "one sweep forward, where readers have not been seen yet",
    "missed-dead",
    clause="through-others",
)
def _(model):
    dead, nodes = set(), fx.symbolic_trace(model).graph.nodes
    for node in nodes:
        if node.op != "output" and all(user in dead for user in node.users):
            dead.add(node)
    return [n.name for n in nodes if n in dead and n.op != "placeholder"]


@wrong("the output is listed", "lists-output", clause="never-reach")
def _(model):
    graph, dead = fx.symbolic_trace(model).graph, set()
    for node in reversed(graph.nodes):
        if not node.users or (node.op != "output" and all(u in dead for u in node.users)):
            dead.add(node)
    last = output_of(graph)
    return [*named(graph, alive_in(graph)), *([last.name] if last in dead else [])]


@wrong("placeholders that nothing reads are listed", "lists-placeholder", clause="placeholders")
def _(model):
    graph = fx.symbolic_trace(model).graph
    alive = alive_in(graph)
    return [n.name for n in graph.nodes if n not in alive]


@wrong("keyword arguments are not followed", "not-dead", clause="never-reach")
def _(model):
    graph = fx.symbolic_trace(model).graph

    def reads(node):
        found = []
        fx.node.map_arg(node.args, found.append)
        return found

    return named(graph, alive_in(graph, reads))


@wrong("methods are taken for side effects", "missed-dead", clause="no-effects")
def _(model):
    graph, alive = fx.symbolic_trace(model).graph, set()
    for node in reversed(graph.nodes):
        kept = node.op in ("output", "call_method")
        if kept or any(user in alive for user in node.users):
            alive.add(node)
    return named(graph, alive)


@wrong("in reverse order", "wrong-order", clause="order")
def _(model):
    graph = fx.symbolic_trace(model).graph
    return named(graph, alive_in(graph))[::-1]


@wrong("the nodes instead of their names", "wrong-kind", clause="names")
def _(model):
    graph = fx.symbolic_trace(model).graph
    alive = alive_in(graph)
    return [n for n in graph.nodes if n not in alive and n.op != "placeholder"]


@wrong("a graph module's own graph instead of a trace", "unknown-name", clause="common.fresh-trace")
def _(model):
    graph = model.graph if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model).graph
    return named(graph, alive_in(graph))


@wrong("the given graph module is cleaned up", "caller-changed", clause="common.caller-graph")
def _(model):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    names = [n.name for n in gm.graph.nodes]
    for node in reversed(gm.graph.nodes):
        if not node.users and node.op not in ("output", "placeholder"):
            gm.graph.erase_node(node)
    left = {n.name for n in gm.graph.nodes}
    return [name for name in names if name not in left]


@wrong("eliminate_dead_code and a comparison", "forbidden", clause="forbidden")
def _(model):
    gm = fx.symbolic_trace(model)
    before = [n.name for n in gm.graph.nodes]
    gm.graph.eliminate_dead_code()
    left = {n.name for n in gm.graph.nodes}
    return [name for name in before if name not in left]


@wrong("what the output reads must be a node", "crashed", clause="never-reach")
def _(model):
    graph, alive = fx.symbolic_trace(model).graph, set()
    todo = [output_of(graph).all_input_nodes[0]]
    while todo:
        node = todo.pop()
        alive.add(node)
        todo += [n for n in node.all_input_nodes if n not in alive]
    return [n.name for n in graph.nodes if n not in alive and n.op not in ("placeholder", "output")]


def swept(times):
    """A wrong answer that goes forward through the graph this many times."""

    def answer(model):
        graph, dead = fx.symbolic_trace(model).graph, set()
        for _ in range(times):
            dead |= {n for n in graph.nodes if n.op != "output" and dead.issuperset(n.users)}
        return [n.name for n in graph.nodes if n in dead and n.op != "placeholder"]

    return answer


wrong("eight sweeps forward", "missed-dead", clause="through-others")(swept(8))


@wrong(
    "names that end in an underscore are taken for side effects", "missed-dead", clause="no-effects"
)
def _(model):
    graph, alive = fx.symbolic_trace(model).graph, set()
    for node in reversed(graph.nodes):
        name = getattr(node.target, "__name__", str(node.target))
        if node.op == "output" or name.endswith("_") or alive.intersection(node.users):
            alive.add(node)
    return named(graph, alive)


@wrong("a copy in eval mode is traced", "not-dead", clause="trace")
def _(model):
    graph = fx.symbolic_trace(copy.deepcopy(model).eval()).graph
    return named(graph, alive_in(graph))


BEYOND = {
    "a copy in eval mode is traced": "random models are in eval mode",
}
