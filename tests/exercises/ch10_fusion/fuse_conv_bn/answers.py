"""Answers to `fuse_conv_bn`."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn
from torch.fx.experimental import optimization
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase
from torch.nn.utils.fusion import fuse_conv_bn_eval

from tests.exercises import GRAPH, ONE_CLASS_EACH, kept_by_class, right, wrong

CONVS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def folded(conv, bn):
    return fuse_conv_bn_eval(copy.deepcopy(conv).eval(), bn)


def called(gm, node, kinds):
    return node.op == "call_module" and type(gm.get_submodule(node.target)) in kinds


def pairs(gm):
    """The nodes of each pair."""
    for node in gm.graph.nodes:
        if called(gm, node, NORMS):
            bn = gm.get_submodule(node.target)
            (conv,) = node.all_input_nodes
            if bn.training or bn.running_mean is None:
                continue
            if called(gm, conv, CONVS) and len(conv.users) == 1:
                yield conv, node


def free_name(gm):
    return next(n for i in itertools.count() if not hasattr(gm, n := f"_folded{i}"))


@right("the convolution's node is retargeted")
def retargeted(model):
    gm = fx.symbolic_trace(model)
    for conv, norm in list(pairs(gm)):
        name = free_name(gm)
        gm.add_submodule(name, folded(*map(gm.get_submodule, (conv.target, norm.target))))
        conv.target = name
        norm.replace_all_uses_with(conv)
        gm.graph.erase_node(norm)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("a new call in front of the old one", debrief=True)
def new_call(model):
    gm = fx.symbolic_trace(model)
    gm.add_module("_convolutions", nn.ModuleList())
    for conv, norm in list(pairs(gm)):
        bn = gm.get_submodule(norm.target)
        gm._convolutions.append(folded(gm.get_submodule(conv.target), bn))
        with gm.graph.inserting_before(conv):
            target = f"_convolutions.{len(gm._convolutions) - 1}"
            new = gm.graph.call_module(target, conv.args, conv.kwargs)
        norm.replace_all_uses_with(new)
        gm.graph.erase_node(norm)
        gm.graph.erase_node(conv)
    gm.delete_all_unused_submodules()
    gm.graph.lint()
    gm.recompile()
    return gm


@right("a new graph, copied node by node")
def new_graph(model):
    gm = fx.symbolic_trace(model)
    fused = {conv: norm for conv, norm in pairs(gm)}
    norms = {norm: conv for conv, norm in fused.items()}
    root, graph, env = nn.Module(), fx.Graph(), {}
    root.old = gm
    for node in gm.graph.nodes:
        if node in norms:
            env[node] = env[norms[node]]
            continue
        env[node] = graph.node_copy(node, env.__getitem__)
        if node in fused:
            env[node].target = f"new{len(root._modules)}"
            conv, bn = (gm.get_submodule(n.target) for n in (node, fused[node]))
            root.add_module(env[node].target, folded(conv, bn))
        elif node.op in ("call_module", "get_attr"):
            env[node].target = f"old.{node.target}"
    return fx.GraphModule(root, graph)


@right("a Transformer that knows the pairs")
def transformer(model):
    gm = fx.symbolic_trace(model)
    targets, skipped = {}, set()
    for conv, norm in list(pairs(gm)):
        targets[conv] = free_name(gm)
        gm.add_submodule(
            targets[conv], folded(gm.get_submodule(conv.target), gm.get_submodule(norm.target))
        )
        skipped.add(norm)

    class Fuser(fx.Transformer):
        def run_node(self, n):
            if n in skipped:
                (source,) = n.all_input_nodes
                return self.env[source]
            if n in targets:
                args, kwargs = self.fetch_args_kwargs_from_env(n)
                return self.tracer.create_proxy("call_module", targets[n], args, kwargs)
            return super().run_node(n)

    return Fuser(gm).transform()


@right("a copy of the model, split so that each call has a module of its own")
def own_module_for_each_call(model):
    gm = fx.symbolic_trace(copy.deepcopy(model))
    names = itertools.count()
    for node in gm.graph.nodes:
        if called(gm, node, CONVS):
            module = copy.deepcopy(gm.get_submodule(node.target))
            node.target = f"calls.{next(names)}.module"
            gm.add_submodule(node.target, module)
    for conv, norm in reversed(list(pairs(gm))):
        module = gm.get_submodule(conv.target)
        new = folded(module, gm.get_submodule(norm.target))
        module.weight, module.bias = new.weight, new.bias
        norm.replace_all_uses_with(conv)
        gm.graph.erase_node(norm)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


# ------------------------------------------------------------------ wrong


@dataclass
class Fuse:
    """A right fusion; each argument makes it wrong in one way."""

    convs: tuple[type, ...] = CONVS
    norms: tuple[type, ...] = NORMS
    exact: bool = True
    training: bool = False
    statistics: bool = True
    sole_reader: bool = True
    wanted: Callable[[Any, Any], bool] = lambda conv, norm: True
    fold: Callable[[Any, Any], nn.Module] = folded
    name: Callable[[Any, Any], str] | None = None
    at_norm: bool = False
    args_only: bool = False
    once: bool = False
    sweep: bool = True
    recompile: bool = True
    finish: Callable[[fx.GraphModule, list[str]], None] | None = None

    def is_call(self, gm, node, kinds):
        if node.op != "call_module":
            return False
        module = gm.get_submodule(node.target)
        return type(module) in kinds if self.exact else isinstance(module, kinds)

    def places(self, gm):
        for node in list(gm.graph.nodes):
            if not self.is_call(gm, node, self.norms):
                continue
            bn = gm.get_submodule(node.target)
            source = node.args[0] if self.args_only else node.all_input_nodes[0]
            if (bn.training and not self.training) or (self.statistics and bn.running_mean is None):
                continue
            if not self.is_call(gm, source, self.convs) or not self.wanted(source, node):
                continue
            if len(source.users) == 1 or not self.sole_reader:
                yield source, node

    def __call__(self, model):
        gm = fx.symbolic_trace(model)
        targets = []
        for conv, norm in self.places(gm):
            name = self.name(gm, conv) if self.name else free_name(gm)
            new = self.fold(gm.get_submodule(conv.target), gm.get_submodule(norm.target))
            gm.add_submodule(name, new)
            targets.append(norm.target)
            with gm.graph.inserting_before(norm if self.at_norm else conv):
                node = gm.graph.call_module(name, conv.args, conv.kwargs)
            norm.replace_all_uses_with(node)
            gm.graph.erase_node(norm)
            if not conv.users:
                gm.graph.erase_node(conv)
            if self.once:
                break
        if self.finish:
            self.finish(gm, targets)
        if self.sweep:
            gm.delete_all_unused_submodules()
        if self.recompile:
            gm.recompile()
        return gm


@wrong("PyTorch's own fuse", "wrong-result", clause="shared-convolution")
def pytorchs_own(model):
    return optimization.fuse(model)


@wrong("a read weight is changed, too", "wrong-result", clause="shared-weight")
def weight_in_place(model):
    gm = fx.symbolic_trace(copy.deepcopy(model))
    for conv, norm in list(pairs(gm)):
        module = gm.get_submodule(conv.target)
        calls = [n for n in gm.graph.nodes if n.op == "call_module" and n.target == conv.target]
        new = folded(module, gm.get_submodule(norm.target))
        if len(calls) == 1:  # the weight may still be read
            module.weight.data = new.weight.data
            module.bias = new.bias
        else:
            conv.target = free_name(gm)
            gm.add_submodule(conv.target, new)
        norm.replace_all_uses_with(conv)
        gm.graph.erase_node(norm)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@wrong("the caller's convolutions are folded", "caller-changed", clause="model-unchanged")
def folds_the_callers(model):
    gm = fx.symbolic_trace(model)
    for conv, norm in list(pairs(gm)):
        module = gm.get_submodule(conv.target)
        new = folded(module, gm.get_submodule(norm.target))
        module.weight, module.bias = new.weight, new.bias
        norm.replace_all_uses_with(conv)
        gm.graph.erase_node(norm)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@wrong("setattr with a dotted name", "dotted-name", clause="nested")
def dotted(model):
    gm = fx.symbolic_trace(model)
    for conv, norm in list(pairs(gm)):
        new = folded(*map(gm.get_submodule, (conv.target, norm.target)))
        setattr(gm, conv.target, new)
        norm.replace_all_uses_with(conv)
        gm.graph.erase_node(norm)
    gm.recompile()
    return gm


@wrong("only the first pair", "missed-place", clause="several")
def first_pair(model):
    return Fuse(once=True)(model)


@wrong("inputs are taken from args", "crashed", clause="keywords")
def args_only(model):
    return Fuse(args_only=True)(model)


@wrong("images only", "missed-place", clause="dims")
def images_only(model):
    return Fuse(convs=(nn.Conv2d,), norms=(nn.BatchNorm2d,))(model)


@wrong("found by name", "missed-place", clause="by-type")
def by_name(model):
    return Fuse(wanted=lambda conv, norm: "conv" in conv.target or "0" in conv.target)(model)


@wrong("InstanceNorm, too", "changed-too-much", clause="exact-norm")
def instance_norm_too(model):
    return Fuse(norms=(_NormBase,), exact=False)(model)


@wrong("a BatchNorm that trains, too", "changed-too-much", clause="training")
def training_too(model):
    def fold(conv, bn):
        return folded(conv, copy.deepcopy(bn).eval())

    return Fuse(training=True, fold=fold)(model)


@wrong("the model is put into eval mode", "caller-changed", clause="modes")
def evals_the_model(model):
    return Fuse()(model.eval())


@wrong("without statistics, too", "changed-too-much", clause="no-statistics")
def no_statistics_too(model):
    def fold(conv, bn):
        bn = copy.deepcopy(bn)
        if bn.running_mean is None:
            bn.running_mean = torch.zeros_like(bn.weight)
            bn.running_var = torch.ones_like(bn.weight)
        return folded(conv, bn)

    return Fuse(statistics=False, fold=fold)(model)


@wrong("other readers do not matter", "changed-too-much", clause="other-reader")
def other_readers(model):
    return Fuse(sole_reader=False)(model)


@right("both must be in eval mode: the task speaks of the pair")
def both_in_eval_mode(model):
    def wanted(conv, norm):
        return not conv.graph.owning_module.get_submodule(conv.target).training

    return Fuse(wanted=wanted)(model)


@wrong("at the BatchNorm's place", "wrong-result", clause="written-input")
def at_the_norm(model):
    return Fuse(at_norm=True)(model)


@wrong("a convolution that is called twice is left", "missed-place", clause="each-pair")
def twice_is_left(model):
    gm = fx.symbolic_trace(model)
    calls = [node.target for node in gm.graph.nodes if node.op == "call_module"]
    return Fuse(wanted=lambda conv, norm: calls.count(conv.target) == 1)(model)


@wrong("BatchNorms are left behind", "unused-module", clause="norm-gone")
def norms_left(model):
    return Fuse(sweep=False)(model)


@wrong("the BatchNorm is deleted, whoever calls it", "missing-target", clause="norm-called")
def deleted_at_once(model):
    def finish(gm, targets):
        read = {n.target.rpartition(".")[0] for n in gm.graph.nodes if n.op == "get_attr"}
        for target in targets:
            if target not in read:
                gm.delete_submodule(target)

    return Fuse(finish=finish)(model)


@wrong("the BatchNorm is deleted, whoever reads it", "missing-target", clause="norm-read")
def deleted_though_read(model):
    def finish(gm, targets):
        called = {node.target for node in gm.graph.nodes if node.op == "call_module"}
        for name, module in list(gm.named_modules()):
            if isinstance(module, _BatchNorm) and name not in called:
                gm.delete_submodule(name)

    return Fuse(finish=finish)(model)


@wrong("BatchNorms are dropped", "wrong-result", clause="value")
def dropped(model):
    return Fuse(fold=lambda conv, bn: copy.deepcopy(conv))(model)


@wrong("an nn.Identity for each BatchNorm", "changed-too-much", clause="one-convolution")
def identities(model):
    gm = fx.symbolic_trace(model)
    gm.add_submodule("nothing_more", nn.Identity())
    for conv, norm in list(pairs(gm)):
        name = free_name(gm)
        gm.add_submodule(name, folded(*map(gm.get_submodule, (conv.target, norm.target))))
        conv.target, norm.target = name, "nothing_more"
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@wrong("linear layers, too", "changed-too-much", clause="exact-conv")
def linear_layers_too(model):
    def fold(conv, norm):
        if type(conv) is not nn.Linear:
            return folded(conv, norm)
        new, norm = copy.deepcopy(conv), copy.deepcopy(norm).eval()
        with torch.no_grad():
            zero = norm(torch.zeros(1, norm.num_features, dtype=conv.weight.dtype)).flatten()
            scale = norm(torch.ones(1, norm.num_features, dtype=conv.weight.dtype)) - zero
            new.weight.mul_(scale.reshape(-1, 1))
            new.bias.copy_(new.bias * scale.flatten() + zero)
        return new

    return Fuse(convs=(*CONVS, nn.Linear), fold=fold)(model)


@wrong("names without a look at those that exist", "changed-too-much", clause="free-names")
def taken_name(model):
    numbers = itertools.count()
    return Fuse(name=lambda gm, conv: f"fused_{next(numbers)}")(model)


@wrong("recompile is missing", "stale-code", clause="common.recompiled")
def stale(model):
    return Fuse(recompile=False)(model)


@wrong("a graph module is edited as it is", "caller-changed", clause="common.fresh-trace")
def edits_the_caller(model):
    if not isinstance(model, fx.GraphModule):
        return Fuse()(model)
    for conv, norm in list(pairs(model)):
        name = free_name(model)
        model.add_submodule(name, folded(*map(model.get_submodule, (conv.target, norm.target))))
        conv.target = name
        norm.replace_all_uses_with(conv)
        model.graph.erase_node(norm)
    model.delete_all_unused_submodules()
    model.recompile()
    return model


wrong("kept by the class of the model", "left-behind", clause="common.own-result")(
    kept_by_class(retargeted)
)


BEYOND = {"kept by the class of the model": ONE_CLASS_EACH}


RUNS_AFTER = "fold_bn"
"""The exercise whose answer cell must run first, as the card says."""


DECIDES_NOTHING = [
    (
        GRAPH + r"modules\[\]\.(buffers\.(running_\w+|num_batches_tracked)|params\.bias)",
        "a BatchNorm that trains takes the statistics of the batch, and the bias before it away",
    ),
]
"""Places in an outcome that decide no points, and why."""
