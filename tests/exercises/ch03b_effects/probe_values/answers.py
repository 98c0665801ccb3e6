"""Answers for `probe_values`."""

from __future__ import annotations

import contextlib
import copy
import operator

import torch
from torch import fx, nn

from tests.exercises import right, wrong

CALLS = ("call_function", "call_method", "call_module")


def named(probe):
    def call_probe(name, value):
        return probe(name, value)

    return call_probe


def insert(model, probe, *, call=named, ops=CALLS, name=lambda n: n.name, value=lambda n: n):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in ops:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(call(probe), (name(node), value(node)))
    gm.recompile()
    return gm


@right("a function around the probe")
def function_around(model, probe):
    return insert(model, probe)


@right("from back to front, before the next node")
def backwards(model, probe):
    gm = fx.symbolic_trace(model)
    for node in reversed(list(gm.graph.nodes)):
        if node.op.startswith("call_"):
            with gm.graph.inserting_before(node.next):
                gm.graph.create_node("call_function", named(probe), (node.name, node), name="look")
    gm.graph.lint()
    gm.recompile()
    return gm


@right("a module around the probe")
def module_around(model, probe):
    class Probe(nn.Module):
        def forward(self, name, value):
            probe(name, value)

    gm = fx.symbolic_trace(model)
    gm.add_submodule("the_probe", Probe())
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_module("the_probe", (node.name, node))
    gm.recompile()
    return gm


@right("a method of an object of its own")
def method_of_object(model, probe):
    class Holder:
        def look(self, name, value):
            probe(name, value)

    holder = Holder()
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(holder.look, (), {"value": node, "name": node.name})
    gm.recompile()
    return gm


@right("a new graph")
def rebuilt(model, probe):
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    call_probe = named(probe)
    for node in gm.graph.nodes:
        env[node] = graph.node_copy(node, env.__getitem__)
        if node.op in CALLS:
            graph.call_function(call_probe, (node.name, env[node]))
    return fx.GraphModule(gm, graph)


@right("a Transformer that records", debrief=True)
def interpreter(model, probe):
    call_probe = named(probe)

    class Probing(fx.Transformer):
        def run_node(self, n):
            value = super().run_node(n)
            if n.op in CALLS:
                self.tracer.create_proxy("call_function", call_probe, (n.name, value), {})
            return value

    return Probing(fx.symbolic_trace(model)).transform()


@right("one function for each node")
def one_each(model, probe):
    def bound(name):
        def look(value):
            probe(name, value)

        return look

    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(bound(node.name), (node,))
    gm.recompile()
    return gm


@right("the probe kept on the module")
def kept_on_the_module(model, probe):
    gm = fx.symbolic_trace(model)
    gm.the_probe = probe
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_before(node.next):
                kept = gm.graph.get_attr("the_probe")
                gm.graph.call_function(operator.call, (kept, node.name, node))
    gm.recompile()
    return gm


# ------------------------------------------------------------------ wrong


def around(look):
    """A wrong way to call the probe: through another function."""

    def call(probe):
        def call_probe(name, value):
            return look(probe, name, value)

        return call_probe

    return call


@wrong("what the probe raises is swallowed", "probe-error-lost", clause="errors")
def swallowed(model, probe):
    def look(probe, name, value):
        with contextlib.suppress(Exception):
            probe(name, value)

    return insert(model, probe, call=around(look))


@wrong("the probe gets a clone", "wrong-probe-value", clause="value-itself")
def cloned(model, probe):
    def look(probe, name, value):
        probe(name, value.clone() if isinstance(value, torch.Tensor) else value)

    return insert(model, probe, call=around(look))


LAST = {}


@wrong("the probe kept in a global", "missing-probe", clause="own-probe")
def kept_in_a_global(model, probe):
    LAST["probe"] = probe
    return insert(model, probe, call=around(lambda _, name, value: LAST["probe"](name, value)))


@wrong("the probe itself as target", "crashed", clause="any-callable")
def probe_as_target(model, probe):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(probe, (node.name, node))
    gm.recompile()
    return gm


@wrong("readers read the probe", "reader-rewired", clause="readers")
def readers_rewired(model, probe):
    def look(name, value):
        probe(name, value)
        return value

    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                new = gm.graph.call_function(look)
            node.replace_all_uses_with(new)
            new.args = (node.name, node)
    gm.recompile()
    return gm


@wrong("methods forgotten", "missing-probe", clause="kinds")
def no_methods(model, probe):
    return insert(model, probe, ops=("call_function", "call_module"))


@wrong("inputs too", "extra-probe", clause="calls-only")
def inputs_too(model, probe):
    gm = fx.symbolic_trace(model)
    last_input = [n for n in gm.graph.nodes if n.op == "placeholder"][-1]
    for node in list(gm.graph.nodes):
        if node.op in (*CALLS, "placeholder"):
            after = last_input if node.op == "placeholder" else node
            with gm.graph.inserting_after(after):
                gm.graph.call_function(named(probe), (node.name, node))
    gm.recompile()
    return gm


@wrong("the target as name", "wrong-name", clause="name")
def target_as_name(model, probe):
    return insert(model, probe, name=lambda node: getattr(node.target, "__name__", node.target))


@wrong("the node as name", "wrong-name", clause="name-string")
def node_as_name(model, probe):
    return insert(model, probe, name=lambda node: node)


@wrong("the input in place of the value", "wrong-probe-value", clause="value")
def input_as_value(model, probe):
    return insert(model, probe, value=lambda node: node.all_input_nodes[0])


@wrong("all probes at the end", "wrong-probe-value", clause="right-after")
def at_the_end(model, probe):
    gm = fx.symbolic_trace(model)
    nodes = [node for node in gm.graph.nodes if node.op in CALLS]
    with gm.graph.inserting_before(next(iter(reversed(gm.graph.nodes)))):
        for node in nodes:
            gm.graph.call_function(named(probe), (node.name, node))
    gm.recompile()
    return gm


@wrong("in reverse order", "wrong-order", clause="order")
def reverse_order(model, probe):
    gm = fx.symbolic_trace(model)
    nodes = [node for node in gm.graph.nodes if node.op in CALLS]
    with gm.graph.inserting_after(nodes[-1]):
        for node in nodes:
            gm.graph.call_function(named(probe), (node.name, node))
    gm.recompile()
    return gm


@wrong("called in the pass", "probed-too-early", clause="not-in-pass")
def called_in_the_pass(model, probe):
    gm = insert(model, probe)
    probe("start", None)
    return gm


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(model, probe):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(named(probe), (node.name, node))
    return gm


@wrong("a graph module edited in place", "caller-changed", clause="common.fresh-trace")
def edits_the_caller(model, probe):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(named(probe), (node.name, node))
    gm.recompile()
    return gm


@wrong("an attribute under a name that is taken", "result-raises", clause="result")
def name_taken(model, probe):
    class Probe(nn.Module):
        def forward(self, name, value):
            probe(name, value)

    gm = fx.symbolic_trace(model)
    gm.add_module("probe", Probe())
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_module("probe", (node.name, node))
    gm.recompile()
    return gm


@wrong("what the probe raises becomes another error", "probe-error-lost", clause="errors")
def other_error(model, probe):
    def look(probe, name, value):
        try:
            probe(name, value)
        except Exception as error:
            raise RuntimeError(f"the probe failed at {name}") from error

    return insert(model, probe, call=around(look))


@wrong("one call at the end that runs all again and probes", "missing-probe", clause="right-after")
def one_call(model, probe):
    gm = fx.symbolic_trace(model)
    before = copy.deepcopy(gm)
    places = [n for n in gm.graph.nodes if n.op == "placeholder"]

    class Probing(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            if n.op in CALLS:
                probe(n.name, value)
            return value

    def probe_all(*given):
        Probing(before).run(*copy.deepcopy(given))

    with gm.graph.inserting_before(gm.graph.output_node()):
        gm.graph.call_function(probe_all, tuple(places))
    gm.recompile()
    return gm


BEYOND = {
    "what the probe raises is swallowed": "no random probe raises",
    "the probe kept in a global": (
        "each random model has its result run before the next one is probed"
    ),
    "an attribute under a name that is taken": "no model that is drawn has an attribute `probe`",
}


DECIDES_NOTHING = [
    (r"runs\[\]\.(copy)\.log.*", "a copy of the result may have a copy of its probe"),
    (
        r"value\.graph_module\.nodes\[\]\.args\.tuple.*",
        "what a call of the notebook's own code is given is seen in the log",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
