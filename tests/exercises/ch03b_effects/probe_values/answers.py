"""Answers for `probe_values`."""

from __future__ import annotations

import contextlib
import copy
import functools
import operator

import torch
from torch import fx, nn

from tests.exercises import right, wrong

CALLS = ("call_function", "call_method", "call_module")


def named(probe):
    def call_probe(name, value):
        return probe(name, value)

    return call_probe


def insert(model, probe, *, call=named, ops=CALLS, wanted=lambda n: True,
           name=lambda n: n.name, value=lambda n: n, last=lambda gm: None):  # fmt: skip
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in ops and wanted(node):
            with gm.graph.inserting_after(node):
                gm.graph.call_function(call(probe), (name(node), value(node)))
    last(gm)
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


@wrong("an AttributeError of the probe is swallowed", "probe-error-lost")
def swallowed_if_no_tensor(model, probe):
    def look(probe, name, value):
        with contextlib.suppress(AttributeError):
            probe(name, value)

    return insert(model, probe, call=around(look))


@wrong("what the probe raises becomes another error", "probe-error-lost")
def other_error(model, probe):
    def look(probe, name, value):
        try:
            probe(name, value)
        except Exception as error:
            raise RuntimeError(f"the probe failed at {name}") from error

    return insert(model, probe, call=around(look))


@wrong("the probe gets a detached value", "wrong-probe-value")
def detached(model, probe):
    def look(probe, name, value):
        probe(name, value.detach() if isinstance(value, torch.Tensor) else value)

    return insert(model, probe, call=around(look))


@wrong("the probe gets a clone", "wrong-probe-value", clause="value-itself")
def cloned(model, probe):
    def look(probe, name, value):
        probe(name, value.clone() if isinstance(value, torch.Tensor) else value)

    return insert(model, probe, call=around(look))


@wrong("the probe gets a deep copy", "wrong-probe-value")
def deep_copied(model, probe):
    def look(probe, name, value):
        probe(name, copy.deepcopy(value))

    return insert(model, probe, call=around(look))


LAST = {}


@wrong("the probe kept in a global", "missing-probe", clause="own-probe")
def kept_in_a_global(model, probe):
    LAST["probe"] = probe
    return insert(model, probe, call=around(lambda _, name, value: LAST["probe"](name, value)))


class Shared:
    probe = None

    def look(self, name, value):
        type(self).probe(name, value)


@wrong("the probe kept on a class", "missing-probe")
def kept_on_a_class(model, probe):
    Shared.probe = staticmethod(probe)
    return insert(model, probe, call=lambda probe: Shared().look)


@wrong("the first probe kept for good", "missing-probe")
def first_probe(model, probe):
    LAST.setdefault("first", probe)
    return insert(model, probe, call=around(lambda _, name, value: LAST["first"](name, value)))


@wrong("the probe itself as target", "crashed", clause="any-callable")
def probe_as_target(model, probe):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(probe, (node.name, node))
    gm.recompile()
    return gm


@wrong("a function around the probe only where it has no name", "crashed")
def named_as_target(model, probe):
    return insert(model, probe, call=lambda p: p if hasattr(p, "__name__") else named(p))


@wrong("a name given to the caller's probe", "crashed")
def renames_probe(model, probe):
    probe.__name__ = "probe"
    return probe_as_target(model, probe)


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


@wrong("the output reads the probe", "reader-rewired", clause="result")
def output_rewired(model, probe):
    def look(name, value):
        probe(name, value)
        return value

    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                new = gm.graph.call_function(look, (node.name, node))
            node.replace_all_uses_with(new, lambda user: user.op == "output")
    gm.recompile()
    return gm


@wrong("self-loop", "self-loop")
def self_loop(model, probe):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                new = gm.graph.call_function(named(probe), (node.name, node))
            node.replace_all_uses_with(new)
    gm.recompile()
    return gm


@wrong("methods forgotten", "missing-probe", clause="kinds")
def no_methods(model, probe):
    return insert(model, probe, ops=("call_function", "call_module"))


@wrong("modules forgotten", "missing-probe")
def no_modules(model, probe):
    return insert(model, probe, ops=("call_function", "call_method"))


@wrong("functions forgotten", "missing-probe")
def no_functions(model, probe):
    return insert(model, probe, ops=("call_module", "call_method"))


@wrong("values that nobody reads forgotten", "missing-probe")
def only_read(model, probe):
    return insert(model, probe, wanted=lambda node: len(node.users) > 0)


@wrong("getitem forgotten", "missing-probe")
def no_getitem(model, probe):
    return insert(model, probe, wanted=lambda node: node.target is not operator.getitem)


@wrong("None is not shown", "missing-probe")
def no_none(model, probe):
    def call(probe):
        def call_probe(name, value):
            return None if value is None else probe(name, value)

        return call_probe

    return insert(model, probe, call=call)


@wrong("a copy in eval mode is traced", "node-missing")
def eval_copy(model, probe):
    return insert(copy.deepcopy(model).eval(), probe)


@wrong("the result put into the model's mode", "caller-changed")
def model_mode(model, probe):
    return insert(model, probe).train(model.training)


@wrong("only tensors", "missing-probe")
def only_tensors(model, probe):
    def tensors(name, value):
        if isinstance(value, torch.Tensor):
            probe(name, value)

    return insert(model, tensors)


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


@wrong("parameters too", "extra-probe")
def parameters_too(model, probe):
    return insert(model, probe, ops=(*CALLS, "get_attr"))


@wrong("the target as name", "wrong-name", clause="name")
def target_as_name(model, probe):
    return insert(model, probe, name=lambda node: getattr(node.target, "__name__", node.target))


@wrong("the loop's last name for all", "wrong-name")
def last_name(model, probe):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:

            def look(value):
                probe(node.name, value)  # noqa: B023

            with gm.graph.inserting_after(node):
                gm.graph.call_function(look, (node,))
    gm.recompile()
    return gm


@wrong("the node as name", "wrong-name", clause="name-string")
def node_as_name(model, probe):
    return insert(model, probe, name=lambda node: node)


@wrong("the name with a sigil", "wrong-name")
def printed_name(model, probe):
    return insert(model, probe, name=lambda node: f"%{node}")


@wrong("the input in place of the value", "wrong-probe-value", clause="value")
def input_as_value(model, probe):
    return insert(model, probe, value=lambda node: node.all_input_nodes[0])


@wrong("only the shape", "wrong-probe-value")
def shape_only(model, probe):
    return insert(model, lambda name, value: probe(name, getattr(value, "shape", value)))


@wrong("all probes at the end", "wrong-probe-value", clause="right-after")
def at_the_end(model, probe):
    gm = fx.symbolic_trace(model)
    nodes = [node for node in gm.graph.nodes if node.op in CALLS]
    with gm.graph.inserting_before(next(iter(reversed(gm.graph.nodes)))):
        for node in nodes:
            gm.graph.call_function(named(probe), (node.name, node))
    gm.recompile()
    return gm


@wrong("probes after the output", "output-not-last")
def after_the_output(model, probe):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
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


@wrong("inserted before the node", "use-before-definition")
def before_the_node(model, probe):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_before(node):
                gm.graph.call_function(named(probe), (node.name, node))
    gm.recompile()
    return gm


@wrong("probes that are probed", "out-of-time")
def live_loop(model, probe):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(named(probe), (node.name, node))
    gm.recompile()
    return gm


@wrong("called in the pass", "probed-too-early")
def called_in_the_pass(model, probe):
    gm = insert(model, probe)
    probe("start", None)
    return gm


@wrong("each value probed twice", "extra-probe")
def twice(model, probe):
    def look(name, value):
        probe(name, value)
        probe(name, value)

    return insert(model, look)


@wrong("only in the first run", "missing-probe")
def first_run(model, probe):
    seen = set()

    def look(name, value):
        if name not in seen:
            seen.add(name)
            probe(name, value)

    return insert(model, look)


@wrong("dead code eliminated", "node-missing")
def with_dce(model, probe):
    gm = fx.symbolic_trace(model)
    gm.graph.eliminate_dead_code()
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(named(probe), (node.name, node))
    gm.recompile()
    return gm


@wrong("probes eliminated as dead code", "missing-probe")
def probes_eliminated(model, probe):
    return insert(model, probe, last=lambda gm: gm.graph.eliminate_dead_code())


@wrong("recompile forgotten", "stale-code")
def stale(model, probe):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(named(probe), (node.name, node))
    return gm


@wrong("a copy of the probe", "missing-probe")
def copied_probe(model, probe):
    return insert(model, copy.deepcopy(probe))


@wrong("a shallow copy of the probe", "missing-probe")
def shallow(model, probe):
    return insert(model, copy.copy(probe))


@wrong("collections become plain tuples", "wrong-probe-value")
def tuples(model, probe):
    def look(name, value):
        return probe(name, tuple(value) if isinstance(value, (tuple, list)) else value)

    return insert(model, look)


@wrong("hooks on the caller's modules", "caller-changed")
def hooks(model, probe):
    gm = insert(model, probe)
    for name, module in model.named_children():
        module.register_forward_hook(lambda m, a, value, name=name: probe(name, value))
    return gm


@wrong("a graph module edited in place", "caller-changed")
def edits_the_caller(model, probe):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_function(named(probe), (node.name, node))
    gm.recompile()
    return gm


@wrong("an attribute under a name that is taken", "result-raises")
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


@wrong("the name of the copy in a new graph", "wrong-name", clause="name")
def name_of_the_copy(model, probe):
    """The call has the probe's name, which may be taken in a copy of the graph."""
    call_probe = named(probe)
    call_probe.__name__ = getattr(probe, "__name__", "probe")
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        made = env[node] = graph.node_copy(node, env.__getitem__)
        if node.op in CALLS:
            graph.call_function(call_probe, (made.name, made))
    return fx.GraphModule(gm, graph)


@wrong("calls of the probe take the names of nodes", "wrong-name", clause="name")
def named_like_the_node(model, probe):
    call_probe = named(probe)
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        made = env[node] = graph.node_copy(node, env.__getitem__)
        if node.op in CALLS:
            graph.create_node("call_function", call_probe, (made.name, made), name=made.name)
    return fx.GraphModule(gm, graph)


@wrong("functions kept by the probe that they call", "crashed", clause="any-callable")
def kept_by_probe(model, probe):
    return insert(model, probe, call=functools.cache(named))


@wrong("the probe called by keyword", "result-raises")
def by_keyword(model, probe):
    def call(probe):
        def around(name, value):
            probe(name=name, value=value)

        return around

    return insert(model, probe, call=call)


@wrong("a name given to the probe itself", "crashed")
def names_the_probe(model, probe):
    if not hasattr(probe, "__name__"):
        probe.__name__ = "probe"
    return insert(model, probe, call=lambda probe: probe)


@wrong("untouched", "not-attempted")
def untouched(model, probe):
    raise NotImplementedError


BY_NAME = {}


@wrong("the probes kept in a global, by their names", "missing-probe")
def kept_by_name(model, probe):
    key = getattr(probe, "__name__", "probe")
    BY_NAME[key] = probe
    return insert(model, probe, call=around(lambda _, name, value: BY_NAME[key](name, value)))


@wrong("a probe that is false is left out", "missing-probe")
def only_true_probes(model, probe):
    return insert(model, probe, wanted=lambda n: bool(probe))


@wrong("a name that no module has", "crashed")
def free_among_modules(model, probe):
    class Probe(nn.Module):
        def forward(self, name, value):
            probe(name, value)

    gm = fx.symbolic_trace(model)
    key = next(k for i in range(9) if (k := f"probe_{i}") not in gm._modules)
    gm.add_module(key, Probe())
    for node in list(gm.graph.nodes):
        if node.op in CALLS:
            with gm.graph.inserting_after(node):
                gm.graph.call_module(key, (node.name, node))
    gm.recompile()
    return gm


BEYOND = {
    **dict.fromkeys(
        (
            "what the probe raises is swallowed",
            "an AttributeError of the probe is swallowed",
            "what the probe raises becomes another error",
        ),
        "no random probe raises",
    ),
    **dict.fromkeys(
        (
            "the probe kept in a global",
            "the probe kept on a class",
            "the probes kept in a global, by their names",
        ),
        "each random model has its result run before the next one is probed",
    ),
    "the name of the copy in a new graph": "no random probe has the name of a node",
    "functions kept by the probe that they call": "each random probe has a hash",
    "an attribute under a name that is taken": ("no model that is drawn has an attribute `probe`"),
}


@wrong("one call at the end that runs all again and probes", "missing-probe")
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


@wrong("one call for two values", "several-values")
def two_at_once(model, probe):
    gm = insert(model, probe)
    own = [n for n in gm.graph.nodes if getattr(n.target, "__name__", "") == "call_probe"]
    for first, second in zip(own, own[1:], strict=False):
        second.args = (*second.args, first.args[1])
        second.target = lambda name, value, other: probe(name, value)
    gm.recompile()
    return gm


TAKES_LONG = {"probes that are probed": "grading it takes as long as the rest of a class"}


DECIDES_NOTHING = [
    (r"runs\[\]\.(copy)\.log.*", "a copy of the result may have a copy of its probe"),
    (
        r"value\.graph_module\.nodes\[\]\.args\.tuple.*",
        "what a call of the notebook's own code is given is seen in the log",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
