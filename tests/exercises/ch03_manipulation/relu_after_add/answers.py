"""Answers for `relu_after_add`."""

from __future__ import annotations

import operator

import torch
import torch.nn.functional as F
from torch import fx

from tests.exercises import GRAPH, right, wrong

ADDS = (torch.add, operator.add)


def sums(gm):
    return [n for n in gm.graph.nodes if n.op == "call_function" and n.target in ADDS]


def insert(model, *, target=torch.relu, find=sums):
    gm = fx.symbolic_trace(model)
    for node in find(gm):
        with gm.graph.inserting_after(node):
            relu = gm.graph.call_function(target)
        node.replace_all_uses_with(relu)
        relu.args = (node,)
    gm.recompile()
    return gm


@right("the relu reads its sum last")
def reads_last(model):
    return insert(model)


@right("a callback leaves the relu out", debrief=True)
def callback(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        with gm.graph.inserting_after(node):
            relu = gm.graph.call_function(torch.relu, (node,))
        node.replace_all_uses_with(relu, delete_user_cb=lambda user, relu=relu: user is not relu)
    gm.graph.lint()
    gm.recompile()
    return gm


@right("each reader rewired by hand")
def by_hand(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        readers = list(node.users)
        with gm.graph.inserting_before(node.next):
            relu = gm.graph.create_node("call_function", torch.relu, (node,))
        for reader in readers:
            reader.replace_input_with(node, relu)
    gm.recompile()
    return gm


@right("a Transformer")
def transformer(model):
    class Relus(fx.Transformer):
        def call_function(self, target, args, kwargs):
            value = super().call_function(target, args, kwargs)
            return torch.relu(value) if target in ADDS else value

    return Relus(fx.symbolic_trace(model)).transform()


@right("a new graph, the relu by keyword")
def rebuilt(model):
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        env[node] = graph.node_copy(node, env.__getitem__)
        if node.op == "call_function" and node.target in ADDS:
            env[node] = graph.call_function(torch.relu, kwargs={"input": env[node]})
    return fx.GraphModule(gm, graph)


@right("sums copied, the old ones become relus")
def copied_sums(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        with gm.graph.inserting_before(node):
            twin = gm.graph.node_copy(node)
        node.target, node.args, node.kwargs = torch.relu, (twin,), {}
    gm.recompile()
    return gm


@right("Proxies of the nodes")
def proxies(model):
    tracer = fx.Tracer()
    graph = tracer.trace(model)
    for node in [n for n in graph.nodes if n.op == "call_function" and n.target in ADDS]:
        readers = set(node.users)
        with graph.inserting_after(node):
            relu = torch.relu(fx.Proxy(node, tracer)).node
        node.replace_all_uses_with(relu, lambda user, readers=readers: user in readers)
    return fx.GraphModule(tracer.root, graph)


@right("an Interpreter that runs on Proxies")
def interpreter(model):
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    tracer = fx.proxy.GraphAppendingTracer(graph)

    class Record(fx.Interpreter):
        def run_node(self, n):
            if n.op == "placeholder":
                return fx.Proxy(graph.node_copy(n), tracer)
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            if n.op == "output":
                return tracer.create_node("output", "output", (tracer.create_arg(args[0]),), {})
            value = tracer.create_proxy(n.op, n.target, args, kwargs)
            is_sum = n.op == "call_function" and n.target in ADDS
            return torch.relu(value) if is_sum else value

    Record(gm, garbage_collect_values=False).run(enable_io_processing=False)
    return fx.GraphModule(gm, graph)


# ------------------------------------------------------------------ wrong


@wrong("self-loop", "self-loop", clause="reads-the-sum")
def self_loop(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        with gm.graph.inserting_after(node):
            relu = gm.graph.call_function(torch.relu, (node,))
        node.replace_all_uses_with(relu)
    gm.recompile()
    return gm


@wrong("inserted at the end", "output-not-last", clause="common.one-output")
def at_the_end(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        relu = gm.graph.call_function(torch.relu)
        node.replace_all_uses_with(relu)
        relu.args = (node,)
    gm.recompile()
    return gm


@wrong("the operator forgotten", "relu-missing", clause="after-each")
def only_function(model):
    return insert(model, find=lambda gm: [n for n in sums(gm) if n.target is torch.add])


@wrong("found by the name of the function", "changed-too-much", clause="rest")
def by_name(model):
    return insert(
        model,
        find=lambda gm: [
            n for n in gm.graph.nodes if n.op == "call_function" and n.target.__name__ == "add"
        ],
    )


@wrong("the method too", "changed-too-much", clause="method")
def method_too(model):
    return insert(
        model,
        find=lambda gm: [
            n
            for n in gm.graph.nodes
            if n in sums(gm) or (n.op == "call_method" and n.target == "add")
        ],
    )


@wrong("the in-place operator too", "changed-too-much", clause="rest")
def iadd_too(model):
    return insert(
        model,
        find=lambda gm: [n for n in gm.graph.nodes if n.target in (*ADDS, operator.iadd)],
    )


@wrong("the output forgotten", "reader-not-rewired", clause="output")
def output_forgotten(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        with gm.graph.inserting_after(node):
            relu = gm.graph.call_function(torch.relu, (node,))
        node.replace_all_uses_with(relu, lambda user, relu=relu: user not in (relu,)
                                   and user.op != "output")  # fmt: skip
    gm.recompile()
    return gm


@wrong("only the first reader", "reader-not-rewired", clause="readers")
def first_reader(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        first = next(iter(node.users), None)
        with gm.graph.inserting_after(node):
            relu = gm.graph.call_function(torch.relu, (node,))
        node.replace_all_uses_with(relu, lambda user, first=first: user is first)
    gm.recompile()
    return gm


@wrong("the result put into the model's mode", "caller-changed", clause="common.caller-modes")
def model_mode(model):
    return insert(model).train(model.training)


@wrong("a relu for each reader", "several-relus", clause="one")
def one_each(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        for reader in list(node.users) or [None]:
            with gm.graph.inserting_after(node):
                relu = gm.graph.call_function(torch.relu, (node,))
            if reader is not None:
                reader.replace_input_with(node, relu)
    gm.recompile()
    return gm


@wrong("F.relu", "relu-missing", clause="torch-relu")
def functional(model):
    return insert(model, target=F.relu)


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        with gm.graph.inserting_after(node):
            relu = gm.graph.call_function(torch.relu)
        node.replace_all_uses_with(relu)
        relu.args = (node,)
    return gm


@wrong("a graph module edited in place", "caller-changed", clause="common.caller-graph")
def edits_the_caller(model):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    for node in sums(gm):
        with gm.graph.inserting_after(node):
            relu = gm.graph.call_function(torch.relu)
        node.replace_all_uses_with(relu)
        relu.args = (node,)
    gm.recompile()
    return gm


@wrong("one relu for equal sums", "changed-too-much", clause="one")
def one_for_equal(model):
    gm, made = insert(model), {}
    for node in list(gm.graph.nodes):
        if node.target in ADDS:
            first = made.setdefault((node.args, tuple(node.kwargs.items())), node)
            if first is not node:
                node.replace_all_uses_with(first)
                gm.graph.erase_node(node)
    for node in list(gm.graph.nodes):
        if node.target is torch.relu and node.args[0].target in ADDS:
            first = made.setdefault(node.args[0], node)
            if first is not node:
                node.replace_all_uses_with(first)
                gm.graph.erase_node(node)
    gm.recompile()
    return gm


@wrong("the relu is given a name that may be taken", "lint", clause="common.lint")
def named_by_hand(model):
    gm = insert(model)
    for node in gm.graph.nodes:
        if node.target is torch.relu and node.args[0].target in ADDS:
            node.name = f"{node.args[0].name}_relu"
    gm.recompile()
    return gm


DECIDES_NOTHING = [
    (
        GRAPH + r"modules\[\]\.buffers\.num_batches_tracked",
        "a BatchNorm with a momentum computes nothing with the number of its batches",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
