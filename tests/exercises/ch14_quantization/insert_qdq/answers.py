"""Answers to `insert_qdq`."""

from __future__ import annotations

import copy
import dataclasses

from torch import fx

from autograder.exercises import EXERCISES
from autograder.given import dequantize, quantize
from tests.exercises import right, wrong


def known(graph):
    return {node.name: node for node in graph.nodes if node.op != "output"}


def refuse(graph, scales):
    names = known(graph)
    for name in scales:
        if name not in names:
            raise ValueError(f"no node {name!r} has a value")


@right("a deep copy, edited; quantize reads the value again afterwards")
def edited_copy(gm, scales):
    new = copy.deepcopy(gm)
    nodes = known(new.graph)
    for name, scale in scales.items():
        if name not in nodes:
            raise ValueError(name)
        node = nodes[name]
        with new.graph.inserting_after(node):
            q = new.graph.call_function(quantize, (node, scale))
        with new.graph.inserting_after(q):
            dq = new.graph.call_function(dequantize, (q, scale))
        node.replace_all_uses_with(dq)
        q.args = (node, scale)
    new.recompile()
    return new


@right("a new graph, with the old names reserved", debrief=True)
def new_graph(gm, scales):
    if set(scales) - {n.name for n in gm.graph.nodes if n.op != "output"}:
        raise ValueError("a name that is no node")
    taken = {node.name for node in gm.graph.nodes}
    graph, env = fx.Graph(), {}

    def call(function, value, scale, name):
        while name in taken:
            name += "_"
        taken.add(name)
        return graph.create_node("call_function", function, (value, scale), name=name)

    for node in gm.graph.nodes:
        made = env[node] = graph.node_copy(node, env.__getitem__)
        if node.name in scales and node.op != "output":
            scale = scales[node.name]
            q = call(quantize, made, scale, f"{node.name}_int8")
            env[node] = call(dequantize, q, scale, f"{node.name}_float")
    return fx.GraphModule(gm, graph)


@right("readers one by one, before the next node")
def one_by_one(gm, scales):
    refuse(gm.graph, scales)
    graph = copy.deepcopy(gm.graph)
    for node in list(graph.nodes):
        if node.op == "output" or node.name not in scales:
            continue
        readers = list(node.users)
        with graph.inserting_before(node.next):
            q = graph.call_function(quantize, (node,), {"scale": scales[node.name]})
            dq = graph.call_function(dequantize, (q,), {"scale": scales[node.name]})
        for reader in readers:
            reader.replace_input_with(node, dq)
    return fx.GraphModule(gm, graph)


@right("all calls first, then arguments by map_arg")
def by_map_arg(gm, scales):
    new = fx.GraphModule(gm, copy.deepcopy(gm.graph))
    refuse(new.graph, scales)
    old, stands_for = list(new.graph.nodes), {}
    for node in old:
        if node.name in scales and node.op != "output":
            scale = scales[node.name]
            with new.graph.inserting_after(node):
                q = new.graph.call_function(quantize, (node, scale))
                q.append(new.graph.call_function(dequantize, (q, scale)))
            stands_for[node] = q.next
    for node in old:
        node.args = fx.map_arg(node.args, lambda n: stands_for.get(n, n))
        node.kwargs = fx.map_arg(node.kwargs, lambda n: stands_for.get(n, n))
    new.graph.lint()
    new.recompile()
    return new


@right("recorded with Proxies, readers chosen by a callback")
def with_proxies(gm, scales):
    new = copy.deepcopy(gm)
    refuse(new.graph, scales)
    tracer = fx.proxy.GraphAppendingTracer(new.graph)
    placeholders = [n for n in new.graph.nodes if n.op == "placeholder"]
    for name, scale in scales.items():
        node = known(new.graph)[name]
        # After the last placeholder, so that the signature's nodes stay together.
        place = placeholders[-1] if node.op == "placeholder" else node
        with new.graph.inserting_before(place.next):
            q = quantize(fx.Proxy(node, tracer), scale)
            dq = dequantize(q, scale)
        node.replace_all_uses_with(dq.node, delete_user_cb=lambda user, q=q: user is not q.node)
    new.recompile()
    return new


# ------------------------------------------------------------------ wrong


def edited(
    gm, scales, *,
    own=copy.deepcopy, check=refuse, chosen=lambda n: True, place=lambda n: n.next, replace=None,
    recompile=True,
):  # fmt: skip
    """The structure of most answers; each step can be replaced."""
    new = own(gm)
    check(new.graph, scales)
    for node in list(new.graph.nodes):
        if node.op == "output" or node.name not in scales or not chosen(node):
            continue
        scale = scales[node.name]
        with new.graph.inserting_before(place(node)):
            q = new.graph.call_function(quantize, (node, scale))
            dq = new.graph.call_function(dequantize, (q, scale))
        if replace is not None:
            replace(node, q, dq)
        else:
            node.replace_all_uses_with(dq, delete_user_cb=lambda user, q=q: user is not q)
    if recompile:
        new.recompile()
    return new


@wrong("quantize reads what comes of itself", "use-before-definition", clause="common.lint")
def self_loop(gm, scales):
    new = copy.deepcopy(gm)
    for name, scale in scales.items():
        if name not in known(new.graph):
            raise ValueError(name)
        node = known(new.graph)[name]
        with new.graph.inserting_after(node):
            q = new.graph.call_function(quantize, (node, scale))
        node.replace_all_uses_with(q)
        with new.graph.inserting_after(q):
            dq = new.graph.call_function(dequantize, (q, scale))
        q.replace_all_uses_with(dq)
    new.recompile()
    return new


@wrong("the given module is edited", "caller-changed", clause="unchanged")
def in_place(gm, scales):
    return edited(gm, scales, own=lambda gm: gm)


@wrong("with no scales the given module itself", "not-new", clause="new-module")
def the_same(gm, scales):
    return edited(gm, scales) if scales else gm


@wrong("traced anew", "other-nodes-changed", clause="common.gm-as-it-is")
def traced_anew(gm, scales):
    refuse(gm.graph, scales)
    return edited(gm, scales, own=fx.symbolic_trace, check=lambda graph, scales: None)


@wrong("the output reads the value itself", "reads-original", clause="output-too")
def not_the_output(gm, scales):
    def replace(node, q, dq):
        kept = lambda user: user is not q and user.op != "output"  # noqa: E731
        node.replace_all_uses_with(dq, delete_user_cb=kept)

    return edited(gm, scales, replace=replace)


@wrong("readers' args only at the top", "reads-original", clause="all-readers")
def top_level(gm, scales):
    def replace(node, q, dq):
        for user in list(node.users):
            if user is not q:
                user.args = tuple(dq if arg is node else arg for arg in user.args)

    return edited(gm, scales, replace=replace)


@wrong("one pair for each reader", "several-pairs", clause="one-quantize")
def pair_for_each(gm, scales):
    new = copy.deepcopy(gm)
    refuse(new.graph, scales)
    for node in list(new.graph.nodes):
        if node.op != "output" and node.name in scales:
            scale = scales[node.name]
            for user in list(node.users) or [None]:
                with new.graph.inserting_after(node):
                    q = new.graph.call_function(quantize, (node, scale))
                with new.graph.inserting_after(q):
                    dq = new.graph.call_function(dequantize, (q, scale))
                if user is not None:
                    user.replace_input_with(node, dq)
    new.recompile()
    return new


@wrong("a dequantize for each reader", "several-pairs", clause="one-dequantize")
def dequantize_each(gm, scales):
    def replace(node, q, dq):
        for i, user in enumerate(user for user in list(node.users) if user is not q):
            made = dq
            if i:
                with node.graph.inserting_after(dq):
                    made = node.graph.call_function(dequantize, dq.args)
            user.replace_input_with(node, made)

    return edited(gm, scales, replace=replace)


@wrong("nodes that nobody reads are skipped", "missing-pair", clause="named")
def only_read(gm, scales):
    return edited(gm, scales, chosen=lambda node: node.users)


@wrong("in front of the first reader", "wrong-result", clause="behind")
def at_first_reader(gm, scales):
    def place(node):
        return next((n for n in node.graph.nodes if n in node.users), node.next)

    return edited(gm, scales, place=place)


@wrong("a scale that is rounded", "wrong-scale", clause="that-scale")
def rounded(gm, scales):
    return edited(gm, {k: round(v, 2) for k, v in scales.items()})


@wrong("a new graph in which names are taken", "other-nodes-changed", clause="names")
def names_taken(gm, scales):
    refuse(gm.graph, scales)
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        made = env[node] = graph.node_copy(node, env.__getitem__)
        if node.op != "output" and node.name in scales:
            q = graph.call_function(quantize, (made, scales[node.name]))
            env[node] = graph.call_function(dequantize, (q, scales[node.name]))
    return fx.GraphModule(gm, graph)


@wrong("all meta is lost", "meta-lost", clause="meta")
def no_meta(gm, scales):
    new = edited(gm, scales)
    for node in new.graph.nodes:
        node.meta = {}
    return new


@wrong("parameters are read first", "other-order", clause="order")
def parameters_first(gm, scales):
    new = edited(gm, scales)
    first = next(iter(new.graph.nodes))
    for node in new.graph.find_nodes(op="get_attr"):
        behind = [user for user in node.users if user.target is quantize]
        first.append(node)
        for q in behind:
            (dq,) = q.users
            node.append(q)
            q.append(dq)
    new.recompile()
    return new


@wrong("dead code goes", "other-nodes-changed", clause="others")
def with_dce(gm, scales):
    new = edited(gm, scales)
    new.graph.eliminate_dead_code()
    new.recompile()
    return new


@wrong("unknown names are ignored", "should-raise", clause="unknown")
def ignores(gm, scales):
    return edited(gm, scales, check=lambda graph, scales: None)


@wrong("the output's name is ignored", "should-raise", clause="output")
def output_ignored(gm, scales):
    def check(graph, scales):
        if set(scales) - {node.name for node in graph.nodes}:
            raise ValueError("unknown")

    return edited(gm, scales, check=check)


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(gm, scales):
    return edited(gm, scales, recompile=False)


NOT_GROWN = "scales of random models are powers of four, too large for a long chain"


def complete_on_network(trial, choice):
    """Make the network float32: `dequantize` gives float32."""
    model = trial.model.float()
    inputs = tuple(tuple(each.float() for each in given) for given in trial.inputs)
    trial = dataclasses.replace(trial, args=(model,), model=model, inputs=inputs)
    return EXERCISES["insert_qdq"].random.complete(trial, choice)
