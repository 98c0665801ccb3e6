"""Answers for `dropout_that_listens`."""

from __future__ import annotations

import copy
import itertools

import torch.nn.functional as F
from torch import fx, nn

from tests.exercises import GRAPH, right, wrong


def is_dropout(node):
    return node.op == "call_function" and node.target is F.dropout


def p_of(node):
    return node.kwargs.get("p", 0.5)


def free_name(gm, node):
    return next(n for i in itertools.count() if not hasattr(gm, n := f"listening_{i}"))


def new_module(model, node):
    return nn.Dropout(p_of(node)).train(model.training)


def listens(model, *, wanted=is_dropout, name=free_name, make=new_module, end=lambda gm: None):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if wanted(node):
            target = name(gm, node)
            gm.add_module(target, make(model, node))
            with gm.graph.inserting_before(node):
                new = gm.graph.call_module(target, (node.args[0],))
            node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    end(gm)
    gm.recompile()
    return gm


@right("rewired and erased")
def rewired(model):
    return listens(model)


@right("the node itself is changed")
def changed_node(model):
    gm = fx.symbolic_trace(model)
    taken = {name for name, _ in gm.named_modules()}
    for node in gm.graph.nodes:
        if is_dropout(node):
            name = node.name
            while name in taken:
                name = f"{name}_"
            taken.add(name)
            gm.add_submodule(name, nn.Dropout(node.kwargs["p"]))
            gm.get_submodule(name).training = model.training
            node.op, node.target, node.kwargs = "call_module", name, {}
    gm.recompile()
    return gm


@right("a list of modules", debrief=True)
def one_list(model):
    gm = fx.symbolic_trace(model)
    nodes = [node for node in gm.graph.nodes if is_dropout(node)]
    holder = "dropouts"
    while hasattr(gm, holder):
        holder = f"all_{holder}"
    modules = nn.ModuleList(nn.Dropout(node.kwargs["p"]) for node in nodes)
    gm.add_module(holder, modules.train(model.training))
    for i, node in enumerate(nodes):
        with gm.graph.inserting_after(node):
            new = gm.graph.call_module(f"{holder}.{i}", node.args)
        node.replace_all_uses_with(new)
        gm.graph.erase_node(node)
    gm.recompile()
    return gm


@right("a Transformer")
def transformer(model):
    class Listen(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target is not F.dropout:
                return super().call_function(target, args, kwargs)
            name = free_name(self.module, None)
            self.module.add_submodule(name, nn.Dropout(kwargs["p"]).train(model.training))
            self.submodules[name] = self.module.get_submodule(name)
            return self.call_module(name, args, {})

    return Listen(fx.symbolic_trace(model)).transform()


@right("a tracer that records modules, on another root")
def tracer(model):
    class Listening(fx.Tracer):
        def create_proxy(self, kind, target, args, kwargs, *rest, **more):
            if kind == "call_function" and target is F.dropout:
                name = f"listens{len(self.new)}_to_the_model"
                while hasattr(model, name):
                    name = f"also_{name}"
                self.new[name] = nn.Dropout(kwargs["p"]).train(model.training)
                return super().create_proxy("call_module", name, args, {})
            return super().create_proxy(kind, target, args, kwargs, *rest, **more)

    recorder = Listening()
    recorder.new = {}
    graph = recorder.trace(model)
    root = nn.Module()
    root.training = model.training
    root._modules = {**model._modules, **recorder.new}
    root._parameters, root._buffers = model._parameters, model._buffers
    return fx.GraphModule(root, graph, type(model).__name__)


@right("a new graph")
def new_graph(model):
    gm, graph, env = fx.symbolic_trace(model), fx.Graph(), {}
    for node in gm.graph.nodes:
        if is_dropout(node):
            name = free_name(gm, node)
            gm.add_submodule(name, new_module(model, node))
            (x,) = node.args
            env[node] = graph.call_module(name, (env[x],))
        else:
            env[node] = graph.node_copy(node, env.__getitem__)
    return fx.GraphModule(gm, graph)


@right("a deep copy of the trace")
def deep_copy(model):
    gm = copy.deepcopy(fx.symbolic_trace(model))
    return listens(gm)


# ------------------------------------------------------------------ wrong


def answer(style, finding, clause, **parts):
    def made(model):
        return listens(model, **parts)

    made.__module__ = __name__
    wrong(style, finding, clause=clause)(made)


answer("p forgotten", "wrong-p", "own-p", make=lambda m, n: nn.Dropout().train(m.training))
answer("left in training mode", "wrong-mode", "mode", make=lambda m, n: nn.Dropout(p_of(n)))
answer(
    "in the mode that was captured", "wrong-mode", "mode",
    make=lambda m, n: nn.Dropout(p_of(n)).train(n.kwargs["training"]),
)  # fmt: skip
answer("the node's name", "overwritten-module", "not-overwritten", name=lambda gm, n: n.name)
answer("one name for all", "shared-module", "own-module", name=lambda gm, n: "the_dropout_of_all")
answer(
    "only where it was active", "missed-spelling", "whatever-captured",
    wanted=lambda n: is_dropout(n) and n.kwargs["training"],
)  # fmt: skip
answer(
    "relatives, too", "wrong-count", "relatives",
    wanted=lambda n: n.target in (F.dropout, F.dropout1d, F.alpha_dropout, F.dropout2d),
)  # fmt: skip


def name_no_child_has(gm, node):
    children = dict(gm.named_children())
    return next(n for i in itertools.count() if (n := f"dropout_{i}") not in children)


@wrong("a name that no child has, but a tensor", "crashed", clause="not-overwritten")
def free_among_children(model):
    return listens(model, name=name_no_child_has)


@wrong("the model's mode for everything", "caller-changed", clause="common.caller-modes")
def mode_for_everything(model):
    gm = listens(model)
    gm.train(model.training)
    return gm


@wrong("the model's mode for everything, on a copy", "wrong-mode", clause="other-modes")
def mode_for_a_copy(model):
    gm = listens(copy.deepcopy(model))
    gm.train(model.training)
    return gm


@wrong("modules of dropout are made anew", "wrong-count", clause="modules-stay")
def modules_anew(model):
    gm = listens(model)
    for node in list(gm.graph.nodes):
        old = gm.get_submodule(node.target) if node.op == "call_module" else None
        if type(old) is nn.Dropout and not str(node.target).startswith("listening"):
            name = free_name(gm, node)
            gm.add_submodule(name, nn.Dropout(old.p).train(old.training))
            node.target = name
    gm.recompile()
    return gm


@wrong("keywords kept", "result-raises", clause="dropout-module")
def keywords_kept(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_dropout(node):
            name = free_name(gm, node)
            gm.add_submodule(name, new_module(model, node))
            node.op, node.target = "call_module", name
    gm.recompile()
    return gm


@wrong("added to the model", "caller-changed", clause="common.caller-submodules")
def added_to_the_model(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_dropout(node):
            name = free_name(model, node)
            model.add_module(name, new_module(model, node))
            node.op, node.target, node.kwargs = "call_module", name, {}
    return fx.GraphModule(model, gm.graph)


@wrong("a flag that is set once more", "missed-spelling", clause="dropout-module")
def flag_set(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_dropout(node):
            node.kwargs = {**node.kwargs, "training": gm.training}
    gm.recompile()
    return gm


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_dropout(node):
            name = free_name(gm, node)
            gm.add_submodule(name, new_module(model, node))
            node.op, node.target, node.kwargs = "call_module", name, {}
    return gm


answer(
    "tenths", "wrong-p", "own-p",
    make=lambda m, n: nn.Dropout(round(p_of(n), 1)).train(m.training),
)  # fmt: skip


answer(
    "the result in training mode", "wrong-mode", "other-modes",
    end=lambda gm: setattr(gm, "training", True),
)  # fmt: skip


DECIDES_NOTHING = [
    (r"value\.graph_module\.nodes\[\]\.kwargs\.dict.*", "a keyword may say its default"),
    (
        GRAPH + r"modules\[\]\.buffers\.num_batches_tracked",
        "a BatchNorm with a momentum computes nothing with the number of its batches",
    ),
    (GRAPH + r"modules\[\]\.params\.bias", "PyTorch makes the bias of an attention of zeros"),
]
"""Places in an outcome that decide no points, and why."""
