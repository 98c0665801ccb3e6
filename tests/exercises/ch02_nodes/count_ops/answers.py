"""Answers to `count_ops`."""

from __future__ import annotations

import copy
import inspect
from collections import Counter, defaultdict

from torch import fx

from tests.exercises import right, wrong

OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")


@right("a loop over a dictionary of zeros")
def _(model):
    counts = dict.fromkeys(OPS, 0)
    for node in fx.symbolic_trace(model).graph.nodes:
        counts[node.op] += 1
    return counts


@right("a Counter with every key")
def _(model):
    counts = Counter({op: 0 for op in OPS})
    counts.update(node.op for node in fx.symbolic_trace(model).graph.nodes)
    return counts


@right("a comprehension that counts a list", debrief=True)
def counted(model):
    found = [node.op for node in fx.Tracer().trace(model).nodes]
    return {op: found.count(op) for op in OPS}


@right("find_nodes for each opcode, functions by a loop")
def _(model):
    graph = fx.symbolic_trace(model).graph
    result = {}
    for op in reversed(OPS):
        if op == "call_function":
            result[op] = sum(1 for node in graph.nodes if node.op == op)
        else:
            result[op] = len(graph.find_nodes(op=op))
    return result


@right("an Interpreter that never computes")
def _(model):
    counts = defaultdict(int, {op: 0 for op in OPS})

    class Count(fx.Interpreter):
        def run_node(self, n):
            counts[n.op] += 1

    Count(fx.symbolic_trace(model)).run()
    return counts


@wrong("only the opcodes that occur", "missing-opcode", clause="six-keys")
def _(model):
    return dict(Counter(node.op for node in fx.symbolic_trace(model).graph.nodes))


@wrong("a graph module is not traced", "wrong-count", clause="common.fresh-trace")
def _(model):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    return {op: sum(node.op == op for node in gm.graph.nodes) for op in OPS}


@wrong("the output is not counted", "wrong-count", clause="every-node")
def _(model):
    counts = dict.fromkeys(OPS, 0)
    for node in list(fx.symbolic_trace(model).graph.nodes)[:-1]:
        counts[node.op] += 1
    return counts


@wrong("no key for the output", "missing-opcode", clause="six-keys")
def _(model):
    nodes = list(fx.symbolic_trace(model).graph.nodes)
    return {op: sum(node.op == op for node in nodes) for op in OPS[:-1]}


@wrong("optional arguments keep their defaults", "wrong-count", clause="every-node")
def _(model):
    parameters = inspect.signature(model.forward).parameters.values()
    defaults = {p.name: None for p in parameters if p.default is None}
    found = [n.op for n in fx.symbolic_trace(model, concrete_args=defaults).graph.nodes]
    return {op: found.count(op) for op in OPS}


@wrong("only parameters and buffers are attributes", "wrong-count", clause="every-node")
def _(model):
    own = {*dict(model.named_parameters()), *dict(model.named_buffers())}
    nodes = fx.symbolic_trace(model).graph.nodes
    found = [n.op for n in nodes if n.op != "get_attr" or n.target in own]
    return {op: found.count(op) for op in OPS}


@wrong("distinct targets instead of nodes", "wrong-count", clause="how-many")
def _(model):
    seen = {(node.op, str(node.target)) for node in fx.symbolic_trace(model).graph.nodes}
    return {op: sum(o == op for o, _ in seen) for op in OPS}


@wrong("submodules of the model instead of calls", "wrong-count", clause="how-many")
def _(model):
    counts = dict.fromkeys(OPS, 0)
    for node in fx.symbolic_trace(model).graph.nodes:
        counts[node.op] += 1
    counts["call_module"] = sum(not list(m.children()) for m in model.modules() if m is not model)
    return counts


@wrong("dead code is removed before counting", "wrong-count", clause="every-node")
def _(model):
    gm = fx.symbolic_trace(model)
    gm.graph.eliminate_dead_code()
    counts = dict.fromkeys(OPS, 0)
    for node in gm.graph.nodes:
        counts[node.op] += 1
    return counts


@wrong("every module is traced through", "wrong-count", clause="every-node")
def _(model):
    class Through(fx.Tracer):
        def is_leaf_module(self, module, name):
            return False

    found = [node.op for node in Through().trace(model).nodes]
    return {op: found.count(op) for op in OPS}


@wrong("counts go on from the last call", "wrong-count", clause="common.own-result")
def _(model, counts={op: 0 for op in OPS}):  # noqa: B006
    for node in fx.symbolic_trace(model).graph.nodes:
        counts[node.op] += 1
    return dict(counts)


ONE = {}


@wrong("the same dictionary for every model", "wrong-count", clause="common.own-result")
def one_dictionary(model):
    ONE.update(counted(model))
    return ONE


@wrong("a total besides", "extra-key", clause="six-keys")
def _(model):
    found = [node.op for node in fx.symbolic_trace(model).graph.nodes]
    return {op: found.count(op) for op in OPS} | {"total": len(found)}


@wrong("the model is put into eval mode", "caller-changed", clause="common.caller-modes")
def _(model):
    found = [node.op for node in fx.symbolic_trace(model.eval()).graph.nodes]
    return {op: found.count(op) for op in OPS}


@wrong("a copy in eval mode is traced", "wrong-count", clause="every-node")
def _(model):
    return counted(copy.deepcopy(model).eval())


BEYOND = {
    "a graph module is not traced": (
        "graph modules among random models are traces already, so that a new trace is the same"
    ),
}
