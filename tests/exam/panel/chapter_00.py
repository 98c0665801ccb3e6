"""Beginners' mistakes in chapter 00."""

from __future__ import annotations

from torch import fx

from tests.exam.panel import mistake


@mistake("node_names", "the model is not traced")
def not_traced(model):
    return [node.name for node in model.graph.nodes]


@mistake("node_names", "targets in place of names")
def targets(model):
    return [node.target for node in fx.symbolic_trace(model).graph.nodes]


@mistake("node_names", "the nodes themselves")
def the_nodes(model):
    return list(fx.symbolic_trace(model).graph.nodes)


@mistake("node_names", "a set")
def a_set(model):
    return {node.name for node in fx.symbolic_trace(model).graph.nodes}


@mistake("node_names", "placeholders and output left out")
def calls_only(model):
    nodes = fx.symbolic_trace(model).graph.nodes
    return [node.name for node in nodes if node.op not in ("placeholder", "output")]


@mistake("node_names", "sorted by name")
def sorted_names(model):
    return sorted(node.name for node in fx.symbolic_trace(model).graph.nodes)


@mistake("node_names", "prints in place of returning")
def prints(model):
    for node in fx.symbolic_trace(model).graph.nodes:
        print(node.name)


@mistake("node_names", "a generator")
def generator(model):
    return (node.name for node in fx.symbolic_trace(model).graph.nodes)


@mistake("node_names", "return inside of the loop")
def returns_early(model):
    names = []
    for node in fx.symbolic_trace(model).graph.nodes:
        names.append(node.name)
        return names


@mistake("node_names", "a loop that never ends")
def endless(model):
    names = []
    nodes = list(fx.symbolic_trace(model).graph.nodes)
    while len(names) != 100:
        names = [node.name for node in nodes]
    return names


@mistake("node_names", "names of modules")
def module_names(model):
    return [name for name, _ in model.named_modules()]


NAMES = []


@mistake("node_names", "a list that is kept outside")
def kept_outside(model):
    for node in fx.symbolic_trace(model).graph.nodes:
        NAMES.append(node.name)
    return NAMES


@mistake("node_names", "a call of the property nodes")
def calls_nodes(model):
    return [node.name for node in fx.symbolic_trace(model).graph.nodes()]


@mistake("node_names", "graph of the trace is taken twice")
def graph_of_graph(model):
    return [node.name for node in fx.Tracer().trace(model).graph.nodes]


@mistake("node_names", "one string with commas")
def one_string(model):
    return ", ".join(node.name for node in fx.symbolic_trace(model).graph.nodes)
