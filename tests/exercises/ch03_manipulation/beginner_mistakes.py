"""Beginners' mistakes in chapter 03."""

from __future__ import annotations

import copy
import operator

import torch
import torch.nn.functional as F
from torch import fx, nn

from tests.exercises.mistakes import SHOWS_PLACE, UNSTICKS, mistake

# ------------------------------------------------------------------ retarget


@mistake("retarget", "no recompile", UNSTICKS)
def stale(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is old:
            node.target = new
    return gm


@mistake(
    "retarget",
    "uses replaced by a function",
    UNSTICKS,
    says=["this line of it is no Python: `return <built-in"],
)
def replaces_uses(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is old:
            node.replace_all_uses_with(new)
    gm.recompile()
    return gm


@mistake("retarget", "a call of node.target", UNSTICKS)
def calls_target(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target == old.__name__:
            node.target = new
    gm.recompile()
    return gm


@mistake("retarget", "the model's own graph", UNSTICKS)
def own_graph(model, old, new):
    for node in model.graph.nodes:
        if node.target is old:
            node.target = new
    model.recompile()
    return model


@mistake("retarget", "new nodes, old ones left", UNSTICKS)
def leaves_old(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.target is old:
            with gm.graph.inserting_after(node):
                made = gm.graph.call_function(new, node.args, node.kwargs)
            node.replace_all_uses_with(made)
    gm.recompile()
    return gm


@mistake("retarget", "keyword arguments lost", UNSTICKS)
def loses_kwargs(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.target is old:
            with gm.graph.inserting_after(node):
                made = gm.graph.call_function(new, node.args)
            node.replace_all_uses_with(made)
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@mistake("retarget", "nothing returned", UNSTICKS)
def returns_nothing(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is old:
            node.target = new
    gm.recompile()


# ------------------------------------------------------------------ add_to_mul


@mistake("add_to_mul", "torch.add alone", UNSTICKS)
def torch_add(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is torch.add:
            node.target = torch.mul
    gm.recompile()
    return gm


@mistake("add_to_mul", "alpha is handed on", UNSTICKS)
def hands_alpha_on(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target in (torch.add, operator.add):
            node.target = torch.mul
        elif node.op == "call_method" and node.target == "add":
            node.target = "mul"
    gm.recompile()
    return gm


@mistake("add_to_mul", "any alpha is skipped", UNSTICKS, says=["It has an `alpha` that is 1"])
def skips_alpha(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.kwargs.get("alpha"):
            continue
        if node.target in (torch.add, operator.add):
            node.target = torch.mul
        elif node.op == "call_method" and node.target == "add":
            node.target = "mul"
    gm.recompile()
    return gm


@mistake(
    "add_to_mul",
    "keywords are thrown away",
    UNSTICKS,
    says=["What were its `args` and `kwargs` before"],
)
def clears_kwargs(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.kwargs.get("alpha", 1) != 1:
            continue
        if node.target in (torch.add, operator.add):
            node.target = operator.mul
            node.kwargs = {}
        elif node.op == "call_method" and node.target == "add":
            node.target = "mul"
            node.kwargs = {}
    gm.recompile()
    return gm


@mistake("add_to_mul", "everything with add in its name", UNSTICKS)
def by_name(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if "add" in node.name:
            node.target = torch.mul
    gm.recompile()
    return gm


@mistake("add_to_mul", "args are assigned to", UNSTICKS)
def assigns_args(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target in (torch.add, operator.add):
            del node.kwargs["alpha"]
            node.target = torch.mul
    gm.recompile()
    return gm


@mistake("add_to_mul", "a method gets a function", UNSTICKS)
def method_function(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target in (torch.add, operator.add, "add"):
            node.target = torch.mul
    gm.recompile()
    return gm


@mistake("add_to_mul", "the model is edited", UNSTICKS)
def deep_model(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is operator.add:
            node.target = operator.mul
    model.recompile()
    return gm


# ------------------------------------------------------------------ relu_after_add


def sums(gm):
    return [n for n in gm.graph.nodes if n.target in (torch.add, operator.add)]


@mistake("relu_after_add", "the relu reads itself", UNSTICKS)
def reads_itself(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        with gm.graph.inserting_after(node):
            relu = gm.graph.call_function(torch.relu, (node,))
        node.replace_all_uses_with(relu)
    gm.recompile()
    return gm


@mistake("relu_after_add", "no insertion point", UNSTICKS)
def at_the_end(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        relu = gm.graph.call_function(torch.relu)
        node.replace_all_uses_with(relu)
        relu.args = (node,)
    gm.recompile()
    return gm


@mistake("relu_after_add", "inserted before", UNSTICKS)
def before(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        with gm.graph.inserting_before(node):
            relu = gm.graph.call_function(torch.relu)
        node.replace_all_uses_with(relu)
        relu.args = (node,)
    gm.recompile()
    return gm


@mistake("relu_after_add", "nobody reads the relu", UNSTICKS)
def unread(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        with gm.graph.inserting_after(node):
            gm.graph.call_function(torch.relu, (node,))
    gm.recompile()
    return gm


@mistake("relu_after_add", "an endless loop", UNSTICKS)
def endless(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.name.startswith(("add", "relu")):
            with gm.graph.inserting_after(node):
                relu = gm.graph.call_function(torch.relu)
            node.replace_all_uses_with(relu)
            relu.args = (node,)
    gm.recompile()
    return gm


@mistake(
    "relu_after_add", "args without a comma", UNSTICKS, says=["what makes a tuple of one item?"]
)
def no_comma(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        with gm.graph.inserting_after(node):
            relu = gm.graph.call_function(torch.relu)
        node.replace_all_uses_with(relu)
        relu.args = node
    gm.recompile()
    return gm


@mistake(
    "relu_after_add", "the method too", UNSTICKS, says=["which is a call of the method `.add`"]
)
def method_too(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.target in (torch.add, operator.add, "add"):
            with gm.graph.inserting_after(node):
                relu = gm.graph.call_function(torch.relu)
            node.replace_all_uses_with(relu)
            relu.args = (node,)
    gm.recompile()
    return gm


@mistake("relu_after_add", "a string as target", UNSTICKS)
def string_target(model):
    gm = fx.symbolic_trace(model)
    for node in sums(gm):
        with gm.graph.inserting_after(node):
            relu = gm.graph.call_function("relu")
        node.replace_all_uses_with(relu)
        relu.args = (node,)
    gm.recompile()
    return gm


# ------------------------------------------------------------------ relu_to_gelu


@mistake(
    "relu_to_gelu",
    "modules are exchanged in the model",
    SHOWS_PLACE,
    but="a missed ReLU comes first; that the caller's model was changed is under “Also found”",
)
def in_the_model(model):
    for name, child in model.named_children():
        if isinstance(child, nn.ReLU):
            setattr(model, name, nn.GELU())
    return fx.symbolic_trace(model)


@mistake("relu_to_gelu", "functions only", UNSTICKS)
def functions_only(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target in (torch.relu, F.relu):
            node.target = F.gelu
    gm.recompile()
    return gm


@mistake("relu_to_gelu", "inplace is handed on", UNSTICKS)
def inplace(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        module = gm.get_submodule(node.target) if node.op == "call_module" else None
        if node.target in (torch.relu, F.relu, "relu") or isinstance(module, nn.ReLU):
            with gm.graph.inserting_before(node):
                new = gm.graph.call_function(F.gelu, node.args, node.kwargs)
            node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@mistake("relu_to_gelu", "modules stay behind", UNSTICKS)
def modules_stay(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        module = gm.get_submodule(node.target) if node.op == "call_module" else None
        if node.target in (torch.relu, F.relu, "relu") or isinstance(module, nn.ReLU):
            value = node.args[0] if node.args else node.kwargs["input"]
            with gm.graph.inserting_before(node):
                new = gm.graph.call_function(F.gelu, (value,))
            node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@mistake(
    "relu_to_gelu",
    "getattr of a dotted path",
    SHOWS_PLACE,
    but="a missed ReLU comes first; the dots are under “Also found”",
)
def dotted(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and isinstance(getattr(gm, node.target), nn.ReLU):
            setattr(gm, node.target, nn.GELU())
    gm.recompile()
    return gm


@mistake("relu_to_gelu", "erased before it is replaced", UNSTICKS)
def erased_first(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if node.target in (torch.relu, F.relu):
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@mistake("relu_to_gelu", "the first argument by position", UNSTICKS)
def first_argument(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        module = gm.get_submodule(node.target) if node.op == "call_module" else None
        if node.target in (torch.relu, F.relu, "relu") or isinstance(module, nn.ReLU):
            with gm.graph.inserting_before(node):
                new = gm.graph.call_function(F.gelu, (node.args[0],))
            node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


# ------------------------------------------------------------------ remove_dropout


@mistake("remove_dropout", "eval of the model", UNSTICKS)
def evals(model):
    model.eval()
    return fx.symbolic_trace(model)


@mistake("remove_dropout", "nn.Dropout alone", UNSTICKS, says=["`one` is still a dropout"])
def dropout_alone(model):
    gm = fx.symbolic_trace(model)
    modules = dict(gm.named_modules())
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and isinstance(modules[node.target], nn.Dropout):
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@mistake("remove_dropout", "the probability is set to zero", UNSTICKS)
def zero(model):
    gm = fx.symbolic_trace(copy.deepcopy(model))
    for module in gm.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return gm


@mistake("remove_dropout", "erased without new readers", UNSTICKS)
def no_new_readers(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if "dropout" in node.name:
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@mistake("remove_dropout", "Identity in their place", UNSTICKS)
def identity(model):
    gm = fx.symbolic_trace(copy.deepcopy(model))
    for name, module in list(gm.named_children()):
        if isinstance(module, nn.Dropout):
            setattr(gm, name, nn.Identity())
    return gm


@mistake("remove_dropout", "by name in the target", UNSTICKS)
def by_target(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if "dropout" in node.target:
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
    gm.recompile()
    return gm
