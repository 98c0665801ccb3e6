"""Beginners' mistakes in chapter 00."""

from __future__ import annotations

from torch import fx

from tests.exercises.mistakes import UNSTICKS, mistake


@mistake(
    "node_names",
    "the model is not traced",
    UNSTICKS,
    says=["has no `graph`", "Is the model traced"],
)
def not_traced(model):
    return [node.name for node in model.graph.nodes]


@mistake("node_names", "targets in place of names", UNSTICKS)
def targets(model):
    return [node.target for node in fx.symbolic_trace(model).graph.nodes]


@mistake("node_names", "the nodes themselves", UNSTICKS)
def the_nodes(model):
    return list(fx.symbolic_trace(model).graph.nodes)


@mistake("node_names", "a set", UNSTICKS)
def a_set(model):
    return {node.name for node in fx.symbolic_trace(model).graph.nodes}


@mistake("node_names", "placeholders and output left out", UNSTICKS)
def calls_only(model):
    nodes = fx.symbolic_trace(model).graph.nodes
    return [node.name for node in nodes if node.op not in ("placeholder", "output")]


@mistake("node_names", "sorted by name", UNSTICKS)
def sorted_names(model):
    return sorted(node.name for node in fx.symbolic_trace(model).graph.nodes)


@mistake(
    "node_names",
    "prints in place of returning",
    UNSTICKS,
    says=["`print` shows something", "`return`"],
)
def prints(model):
    for node in fx.symbolic_trace(model).graph.nodes:
        print(node.name)


@mistake("node_names", "a generator", UNSTICKS)
def generator(model):
    return (node.name for node in fx.symbolic_trace(model).graph.nodes)


@mistake("node_names", "return inside of the loop", UNSTICKS)
def returns_early(model):
    names = []
    for node in fx.symbolic_trace(model).graph.nodes:
        names.append(node.name)
        return names


@mistake(
    "node_names",
    "a loop that never ends",
    UNSTICKS,
    says=["while len(names) != 100:", "a list of 4 items"],
)
def endless(model):
    names = []
    nodes = list(fx.symbolic_trace(model).graph.nodes)
    while len(names) != 100:
        names = [node.name for node in nodes]
    return names


@mistake("node_names", "names of modules", UNSTICKS)
def module_names(model):
    return [name for name, _ in model.named_modules()]


NAMES = []


@mistake(
    "node_names",
    "a list that is kept outside",
    UNSTICKS,
    says=["`NAMES` keeps what an earlier call"],
)
def kept_outside(model):
    for node in fx.symbolic_trace(model).graph.nodes:
        NAMES.append(node.name)
    return NAMES


@mistake("node_names", "a call of the property nodes", UNSTICKS)
def calls_nodes(model):
    return [node.name for node in fx.symbolic_trace(model).graph.nodes()]


@mistake("node_names", "graph of the trace is taken twice", UNSTICKS)
def graph_of_graph(model):
    return [node.name for node in fx.Tracer().trace(model).graph.nodes]


@mistake("node_names", "one string with commas", UNSTICKS)
def one_string(model):
    return ", ".join(node.name for node in fx.symbolic_trace(model).graph.nodes)
