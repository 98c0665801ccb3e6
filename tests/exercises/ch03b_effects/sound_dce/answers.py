"""Answers for `sound_dce`."""

from __future__ import annotations

import builtins
import inspect
import operator

import torch
from torch import fx
from torch.nn.modules.batchnorm import _BatchNorm

from tests.exercises import GRAPH, right, wrong

IN_PLACE_OPERATORS = {
    getattr(operator, name)
    for name in dir(operator)
    if name.startswith("i") and hasattr(operator, f"__{name}__")
} - {operator.index, operator.inv, operator.invert}
EFFECTS = IN_PLACE_OPERATORS | {operator.setitem, torch._assert, print}
PURE = {operator.and_, operator.or_, operator.not_, operator.is_}


METHODS = {"__setitem__", *(f"__{each.__name__}__" for each in IN_PLACE_OPERATORS)}


def in_place_name(name):
    return name.endswith("_") and not name.endswith("__")


def module_effect(module):
    return getattr(module, "inplace", False) or (isinstance(module, _BatchNorm) and module.training)


def has_effect(gm, node):
    if node.op in ("placeholder", "output"):
        return True
    if node.kwargs.get("inplace") or "out" in node.kwargs:
        return True
    if node.op == "call_module":
        return module_effect(gm.get_submodule(node.target))
    if node.op == "call_method":
        return node.target in METHODS or in_place_name(node.target)
    if node.op == "call_function":
        return node.target not in PURE and (
            node.target in EFFECTS or in_place_name(node.target.__name__)
        )
    return False


def sweep(model, effect=has_effect, *, order=reversed, clean=True):
    gm = fx.symbolic_trace(model)
    for node in order(list(gm.graph.nodes)):
        if not node.users and not effect(gm, node):
            gm.graph.erase_node(node)
    if clean:
        gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("one sweep backwards")
def one_sweep(model):
    return sweep(model)


@right("a predicate for FX", debrief=True)
def predicate(model):
    gm = fx.symbolic_trace(model)
    gm.graph.eliminate_dead_code(is_impure_node=lambda node: has_effect(gm, node))
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("forwards, until nothing changes")
def until_done(model):
    gm = fx.symbolic_trace(model)
    changed = True
    while changed:
        changed = False
        for node in list(gm.graph.nodes):
            if not node.users and not has_effect(gm, node):
                gm.graph.erase_node(node)
                changed = True
    used = {node.target for node in gm.graph.nodes if node.op == "call_module"}
    read = {str(node.target).rpartition(".")[0] for node in gm.graph.nodes if node.op == "get_attr"}
    for name, module in list(gm.named_modules()):
        in_a_leaf = any(name.startswith(f"{leaf}.") for leaf in used)
        if name and not in_a_leaf and name not in used | read and not list(module.children()):
            gm.delete_submodule(name)
    gm.recompile()
    return gm


@right("marked, then copied into a new graph")
def marked(model):
    gm = fx.symbolic_trace(model)
    needed = set()
    for node in reversed(gm.graph.nodes):
        if node in needed or has_effect(gm, node):
            needed.update([node, *node.all_input_nodes])
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        if node in needed:
            env[node] = graph.node_copy(node, env.__getitem__)
    return fx.GraphModule(gm, graph)


@right("a list of work")
def work_list(model):
    gm = fx.symbolic_trace(model)
    work = [node for node in gm.graph.nodes if not node.users]
    while work:
        node = work.pop()
        if node.users or has_effect(gm, node):
            continue
        inputs = node.all_input_nodes
        gm.graph.erase_node(node)
        work += [read for read in inputs if not read.users]
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@right("asks FX first")
def asks_fx(model):
    return sweep(model, lambda gm, node: node.is_impure() or has_effect(gm, node))


@right("functions by module and name")
def by_origin(model):
    def effect(gm, node):
        if node.op != "call_function":
            return has_effect(gm, node)
        if inspect.getmodule(node.target) is builtins or node.target is torch._assert:
            return node.target in (print, torch._assert)
        name = node.target.__name__
        if getattr(operator, name, None) is node.target:
            return name in ("setitem",) or node.target in IN_PLACE_OPERATORS
        return name.endswith("_") or any(node.kwargs.get(k) for k in ("inplace", "out"))

    return sweep(model, effect)


# ------------------------------------------------------------------ wrong


def forget(*functions):
    """A predicate that misses the effects of these functions."""

    def effect(gm, node):
        return node.target not in functions and has_effect(gm, node)

    return effect


@wrong("eliminate_dead_code", "removed-too-much", clause="methods,functions")
def plain_dce(model):
    gm = fx.symbolic_trace(model)
    gm.graph.eliminate_dead_code()
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@wrong("forwards, once", "dead-left", clause="chains")
def forwards(model):
    return sweep(model, order=list)


@wrong("methods in place removed", "removed-too-much", clause="methods")
def no_methods(model):
    return sweep(
        model,
        lambda gm, n: has_effect(gm, n) and not (n.op == "call_method" and n.target[-2] != "_"),
    )


@wrong("functions in place removed", "removed-too-much", clause="functions")
def no_functions(model):
    def effect(gm, node):
        if node.op == "call_function" and node.target not in EFFECTS:
            return bool(node.kwargs.get("inplace")) or "out" in node.kwargs
        return has_effect(gm, node)

    return sweep(model, effect)


@wrong("the keyword inplace overlooked", "removed-too-much", clause="inplace-keyword")
def no_inplace(model):
    return sweep(
        model,
        lambda gm, n: (
            has_effect(gm, n) and not (n.op == "call_function" and n.kwargs.get("inplace") is True)
        ),
    )


@wrong("modules in place removed", "removed-too-much", clause="inplace-module")
def no_inplace_modules(model):
    def effect(gm, node):
        if node.op == "call_module":
            module = gm.get_submodule(node.target)
            return isinstance(module, _BatchNorm) and module.training
        return has_effect(gm, node)

    return sweep(model, effect)


@wrong("out= removed", "removed-too-much", clause="out")
def no_out(model):
    return sweep(model, lambda gm, n: has_effect(gm, n) and "out" not in n.kwargs)


@wrong("__setitem__ removed", "removed-too-much", clause="setitem-method")
def no_setitem_method(model):
    return sweep(model, forget("__setitem__"))


@wrong("operator.setitem removed", "removed-too-much", clause="setitem")
def no_setitem(model):
    return sweep(model, forget(operator.setitem))


@wrong("only operator.iadd of its family", "removed-too-much", clause="iadd-family")
def only_iadd(model):
    return sweep(model, forget(*(IN_PLACE_OPERATORS - {operator.iadd})))


@wrong("torch._assert removed", "removed-too-much", clause="assert")
def no_assert(model):
    return sweep(model, forget(torch._assert))


@wrong("print removed", "removed-too-much", clause="print")
def no_print(model):
    return sweep(model, forget(print))


@wrong("operator.and_ kept", "dead-left", clause="pure-names")
def keeps_and(model):
    return sweep(
        model, lambda gm, n: n.target in (operator.and_, operator.or_) or has_effect(gm, n)
    )


@wrong("every BatchNorm removed", "removed-too-much", clause="batchnorm")
def no_norms(model):
    return sweep(
        model,
        lambda gm, n: (
            has_effect(gm, n)
            and not (n.op == "call_module" and isinstance(gm.get_submodule(n.target), _BatchNorm))
        ),
    )


@wrong("every BatchNorm kept", "dead-left", clause="batchnorm-eval")
def all_norms(model):
    return sweep(
        model,
        lambda gm, n: (
            has_effect(gm, n)
            or (n.op == "call_module" and isinstance(gm.get_submodule(n.target), _BatchNorm))
        ),
    )


@wrong("unread inputs removed", "lost-signature", clause="placeholders")
def no_inputs(model):
    return sweep(model, lambda gm, n: n.op != "placeholder" and has_effect(gm, n))


@wrong("modules left behind", "unused-module", clause="modules")
def modules_left(model):
    return sweep(model, clean=False)


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(model):
    gm = fx.symbolic_trace(model)
    for node in reversed(list(gm.graph.nodes)):
        if not node.users and not has_effect(gm, node):
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    return gm


@wrong("a graph module edited in place", "caller-changed", clause="common.fresh-trace")
def edits_the_caller(model):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    for node in reversed(list(gm.graph.nodes)):
        if not node.users and not has_effect(gm, node):
            gm.graph.erase_node(node)
    gm.delete_all_unused_submodules()
    gm.recompile()
    return gm


@wrong(
    "what no node calls is deleted inside leaves, too",
    "caller-changed",
    clause="common.caller-submodules",
)
def leaves_emptied(model):
    gm = sweep(model, clean=False)
    nodes = list(gm.graph.nodes)
    used = {node.target for node in nodes if node.op == "call_module"}
    read = {str(node.target).rpartition(".")[0] for node in nodes if node.op == "get_attr"}
    for name, module in list(gm.named_modules()):
        if name and name not in used | read and not list(module.children()):
            gm.delete_submodule(name)
    gm.recompile()
    return gm


@wrong(
    "of the methods with two underscores only __setitem__ is kept",
    "removed-too-much",
    clause="iadd-methods",
)
def no_operator_methods(model):
    return sweep(
        model,
        lambda gm, n: (
            has_effect(gm, n)
            and not (n.op == "call_method" and n.target in METHODS - {"__setitem__"})
        ),
    )


DECIDES_NOTHING = [
    (
        GRAPH + r"modules\[\]\.(params|buffers)(\..*)?",
        "layers that are kept for their effect, or for the other mode; no value of theirs is read",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
