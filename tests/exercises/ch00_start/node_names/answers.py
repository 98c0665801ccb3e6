"""Answers to `node_names`."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout

from torch import fx, nn

from tests.exercises import right, wrong


@right("a comprehension")
def comprehension(model):
    return [node.name for node in fx.symbolic_trace(model).graph.nodes]


@right("a tracer, and the text of each node", debrief=True)
def tracer_and_text(model):
    names = []
    for node in fx.Tracer().trace(model).nodes:
        names.append(str(node))
    return names


@right("walking the linked list")
def linked_list(model):
    graph = fx.symbolic_trace(model).graph
    root = graph._root
    names, node = [], root.next
    while node is not root:
        names.append(node.name)
        node = node.next
    return names


@right("backwards, then reversed")
def backwards(model):
    names = [node.name for node in reversed(fx.symbolic_trace(model).graph.nodes)]
    return names[::-1]


@right("a dict, ordered")
def through_a_dict(model):
    return list({node.name: node for node in fx.symbolic_trace(model).graph.nodes})


@right("parsing the printed table")
def from_the_table(model):
    with redirect_stdout(io.StringIO()) as text:
        fx.symbolic_trace(model).graph.print_tabular()
    lines = text.getvalue().splitlines()
    start = len(re.match(r"-+\s+", lines[1]).group())
    return [line[start:].split()[0] for line in lines[2:]]


@right("a callable object")
class Names:
    def __init__(self, model):
        self.names = []

    def __new__(cls, model):
        return [*map(repr, fx.Tracer().trace(model).nodes)]


# ------------------------------------------------------------------ wrong


@wrong("the stub", "not-attempted", clause="common.stub")
def stub(model: nn.Module) -> list[str]:
    raise NotImplementedError()


@wrong("kinds", "wrong-value", clause="names")
def kinds(model):
    return [node.op for node in fx.symbolic_trace(model).graph.nodes]


@wrong("targets", "wrong-value", clause="names")
def targets(model):
    return [str(node.target) for node in fx.symbolic_trace(model).graph.nodes]


@wrong("no output", "wrong-value", clause="all-nodes")
def no_output(model):
    return [n.name for n in fx.symbolic_trace(model).graph.nodes if n.op != "output"]


@wrong("the output always called output", "wrong-value", clause="names")
def always_output(model):
    return [*no_output(model), "output"]


@wrong("sorted", "wrong-value", clause="order")
def in_alphabetical_order(model):
    return sorted(n.name for n in fx.symbolic_trace(model).graph.nodes)


@wrong("dead code eliminated", "wrong-value", clause="all-nodes")
def without_dead_code(model):
    gm = fx.symbolic_trace(model)
    gm.graph.eliminate_dead_code()
    return [n.name for n in gm.graph.nodes]


@wrong("the given graph, untraced", "crashed", clause="trace")
def given_graph(model):
    return [n.name for n in model.graph.nodes]


@wrong("a graph module's own graph", "wrong-value", clause="common.fresh-trace")
def own_graph(model):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    return [n.name for n in gm.graph.nodes]


@wrong("no leaves", "wrong-value", clause="trace")
def no_leaves(model):
    class Deep(fx.Tracer):
        def is_leaf_module(self, m, qualname):
            return False

    return [n.name for n in Deep().trace(model).nodes]


@wrong("graph modules within are leaves", "wrong-value", clause="trace")
def graph_modules_are_leaves(model):
    class Closed(fx.Tracer):
        def is_leaf_module(self, m, qualname):
            return isinstance(m, fx.GraphModule) or super().is_leaf_module(m, qualname)

    return [n.name for n in Closed().trace(model).nodes]


@wrong("in eval mode", "caller-changed", clause="common.caller-modes")
def in_eval_mode(model):
    return [n.name for n in fx.symbolic_trace(model.eval()).graph.nodes]


@wrong("a tuple", "wrong-kind", clause="list")
def as_tuple(model):
    return tuple(n.name for n in fx.symbolic_trace(model).graph.nodes)


@wrong("noted on the model", "caller-changed", clause="common.caller-attributes")
def noted_on_the_model(model):
    model.node_names = [n.name for n in fx.symbolic_trace(model).graph.nodes]
    return list(model.node_names)
