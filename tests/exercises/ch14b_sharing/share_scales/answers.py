"""Answers to `share_scales`."""

from __future__ import annotations

import copy
from collections import defaultdict

import torch
from torch import fx
from torch.nn import functional as F

from autograder.given import dequantize, quantize
from tests.exercises import right, wrong

METHODS = ("reshape", "flatten", "transpose", "permute")

# ------------------------------------------------------------------ parts


def calls(node, function):
    return isinstance(node, fx.Node) and node.op == "call_function" and node.target is function


def moved_by(node):
    """The values that a node moves."""
    if calls(node, torch.cat):
        return list(node.args[0] if node.args else node.kwargs["tensors"])
    if calls(node, F.max_pool2d):
        return [node.args[0] if node.args else node.kwargs["input"]]
    return [node.args[0]] if node.op == "call_method" and node.target in METHODS else []


def quantize_readers(node):
    return [user for user in node.users if calls(user, quantize)]


def dequantize_readers(node):
    return [user for user in node.users if calls(user, dequantize)]


def all_dequantized(values):
    return all(calls(value, dequantize) for value in values)


def sources(values):
    return [value.args[0] for value in values if calls(value, dequantize)]


def members_of(new, *, moved=moved_by, fits=all_dequantized):
    """The quantize calls that share a scale, for each relevant operation."""
    found = []
    for node in new.graph.nodes:
        values, read = moved(node), quantize_readers(node)
        if values and read and fits(values):
            found.append([*sources(values), *read])
    return found


def united(groups):
    """Merge groups with a common member."""
    left = [set(group) for group in groups]
    done = []
    while left:
        group = left.pop()
        while True:
            meets = [other for other in left if other & group]
            if not meets:
                break
            for other in meets:
                left.remove(other)
                group |= other
        done.append(group)
    return done


def with_scale(call, scale):
    call.args = (call.args[0], scale)


def shared(
    gm, *,
    own=copy.deepcopy, find=members_of, join=united, choose=max, readers=dequantize_readers,
    recompile=True,
):  # fmt: skip
    """The structure of most answers; each step can be replaced."""
    new = own(gm)
    for group in join(find(new)):
        scale = choose(member.args[1] for member in group)
        for member in group:
            with_scale(member, scale)
            for reader in readers(member):
                with_scale(reader, scale)
    if recompile:
        new.recompile()
    return new


# ------------------------------------------------------------------ right


@right("groups that meet become one")
def groups(gm):
    return shared(gm)


@right("again and again, until a round changes nothing", debrief=True)
def until_nothing_changes(gm):
    new = copy.deepcopy(gm)

    def is_call(node, function):
        return node.op == "call_function" and node.target is function

    def values_of(node):
        if is_call(node, torch.cat):
            return node.kwargs.get("tensors") or node.args[0]
        if is_call(node, F.max_pool2d):
            return node.args[:1] or (node.kwargs["input"],)
        methods = ("reshape", "flatten", "transpose", "permute")
        return node.args[:1] if node.op == "call_method" and node.target in methods else ()

    changed = True
    while changed:
        changed = False
        for node in new.graph.nodes:
            values = values_of(node)
            results = [user for user in node.users if is_call(user, quantize)]
            if not values or not results or not all(is_call(v, dequantize) for v in values):
                continue
            around = [*(value.args[0] for value in values), *results]
            largest = max(call.args[1] for call in around)
            for call in around:
                if call.args[1] != largest:
                    changed = True
                    call.args = (call.args[0], largest)
                for reader in list(call.users):
                    if is_call(reader, dequantize):
                        reader.args = (call, largest)
    new.recompile()
    return new


@right("a forest of representatives")
def representatives(gm):
    graph = copy.deepcopy(gm.graph)
    parent, largest = {}, {}

    def top(call):
        while parent.setdefault(call, call) is not call:
            parent[call] = parent[parent[call]]
            call = parent[call]
        return call

    for node in graph.nodes:
        read = [user for user in node.users if user.target is quantize]
        values = moved_by(node)
        if not read or not values or any(value.target is not dequantize for value in values):
            continue
        first, *others = [top(value.args[0]) for value in values] + [top(user) for user in read]
        for other in others:
            parent[top(other)] = top(first)
    for call in list(parent):
        root = top(call)
        largest[root] = max(largest.get(root, call.args[1]), call.args[1])
    for node in graph.nodes:
        call = node if node.target is quantize else node.args[0] if node.target is dequantize else 0
        if call in parent:
            node.args = (node.args[0], largest[top(call)])
    return fx.GraphModule(gm, graph)


@right("connected parts, found by walking")
def connected(gm):
    edges = defaultdict(set)
    for node in gm.graph.nodes:
        values = moved_by(node)
        if values and all_dequantized(values):
            for result in quantize_readers(node):
                for value in values:
                    edges[value.args[0].name].add(result.name)
                    edges[result.name].add(value.args[0].name)
    scale_of = {n.name: n.args[1] for n in gm.graph.nodes if calls(n, quantize)}
    found = {}

    def walk(name, part):
        if name not in part:
            part.append(name)
            for other in edges[name]:
                walk(other, part)
        return part

    for name in list(edges):
        if name not in found:
            part = walk(name, [])
            found.update(dict.fromkeys(part, max(scale_of[each] for each in part)))
    new = copy.deepcopy(gm)
    for node in new.graph.nodes:
        if calls(node, quantize) and node.name in found:
            node.args = (node.args[0], found[node.name])
        if calls(node, dequantize) and node.args[0].name in found:
            node.args = (node.args[0], found[node.args[0].name])
    new.recompile()
    return new


@right("a table of scales first, then a new graph")
def table_first(gm):
    nodes = list(gm.graph.nodes)
    label = {node: i for i, node in enumerate(nodes) if calls(node, quantize)}
    todo = members_of(gm)
    for _ in todo:
        for members in todo:
            least = min(label[member] for member in members)
            for member in members:
                label[member] = least
    top = {}
    for node, number in label.items():
        top[number] = max(top.get(number, node.args[1]), node.args[1])
    graph, made = fx.Graph(), {}
    for node in nodes:
        made[node] = graph.node_copy(node, made.__getitem__)
        if node in label:
            made[node].update_arg(1, top[label[node]])
        elif calls(node, dequantize) and node.args[0] in label:
            made[node].update_arg(1, top[label[node.args[0]]])
    return fx.GraphModule(gm, graph)


# ------------------------------------------------------------------ wrong: which scale


@wrong("the smallest scale", "not-shared", clause="largest")
def smallest(gm):
    return shared(gm, choose=min)


@wrong("only inputs share", "not-shared", clause="results")
def only_inputs(gm):
    def find(new):
        return [
            sources(moved_by(node))
            for node in new.graph.nodes
            if moved_by(node) and quantize_readers(node) and all_dequantized(moved_by(node))
        ]

    return shared(gm, find=find)


@wrong("results take the largest of the inputs, and inputs stay", "not-shared", clause="inputs")
def only_results(gm):
    new = copy.deepcopy(gm)
    for node in new.graph.nodes:
        values, results = moved_by(node), quantize_readers(node)
        if values and results and all_dequantized(values):
            scale = max(v.args[1] for v in [*values, *results])
            for result in results:
                for call in (result, *dequantize_readers(result)):
                    with_scale(call, scale)
    new.recompile()
    return new


# ------------------------------------------------------------------ wrong: in which calls


@wrong("only quantize calls", "not-shared", clause="each-dequantize")
def only_quantize(gm):
    return shared(gm, readers=lambda member: [])


@wrong("only dequantize calls", "not-shared", clause="each-quantize")
def only_dequantize(gm):
    new = copy.deepcopy(gm)
    for group in united(members_of(new)):
        scale = max(member.args[1] for member in group)
        for member in group:
            for reader in dequantize_readers(member):
                with_scale(reader, scale)
    new.recompile()
    return new


# ------------------------------------------------------------------ wrong: what hangs together


@wrong("one walk, in graph order", "not-shared", clause="several-operations")
def one_walk(gm):
    return shared(gm, join=lambda groups: groups)


@wrong("there and back again", "not-shared", clause="common-input")
def there_and_back(gm):
    return shared(gm, join=lambda groups: [*groups, *reversed(groups)])


@wrong("all operations share one scale", "changed-alone", clause="only-together")
def all_one(gm):
    return shared(gm, join=lambda groups: [set().union(*groups)] if groups else [])


# ------------------------------------------------------------------ wrong: around what


@wrong("no pools", "not-shared", clause="max-pool")
def no_pools(gm):
    return shared(gm, find=lambda new: members_of(
        new, moved=lambda node: [] if calls(node, F.max_pool2d) else moved_by(node)
    ))  # fmt: skip


@wrong("no cat", "not-shared", clause="cat")
def no_cat(gm):
    return shared(gm, find=lambda new: members_of(
        new, moved=lambda node: [] if calls(node, torch.cat) else moved_by(node)
    ))  # fmt: skip


@wrong("no methods", "not-shared", clause="methods")
def no_methods(gm):
    return shared(gm, find=lambda new: members_of(
        new, moved=lambda node: [] if node.op == "call_method" else moved_by(node)
    ))  # fmt: skip


@wrong("keywords are overlooked", "not-shared", clause="common.keyword-calls")
def positional(gm):
    def moved(node):
        return moved_by(node) if node.args else []

    return shared(gm, find=lambda new: members_of(new, moved=moved))


@wrong("any call with one input", "changed-alone", clause="nothing-else-moves")
def any_call(gm):
    def moved(node):
        known = calls(node, quantize) or calls(node, dequantize)
        if node.op.startswith("call_") and not known and len(node.all_input_nodes) == 1:
            return node.all_input_nodes
        return moved_by(node)

    return shared(gm, find=lambda new: members_of(new, moved=moved))


@wrong("some inputs are enough", "changed-alone", clause="all-inputs")
def some_inputs(gm):
    def fits(values):
        return any(calls(value, dequantize) for value in values)

    return shared(gm, find=lambda new: members_of(new, fits=fits))


@wrong("inputs share even if nobody quantizes", "changed-alone", clause="somebody-quantizes")
def not_quantized(gm):
    def find(new):
        found = []
        for node in new.graph.nodes:
            values = moved_by(node)
            if values and all_dequantized(values):
                found.append([*sources(values), *quantize_readers(node)])
        return found

    return shared(gm, find=find)


# ------------------------------------------------------------------ wrong: form


@wrong("new calls in place of the old ones", "other-nodes", clause="only-scales")
def new_calls(gm):
    new = copy.deepcopy(gm)
    for group in united(members_of(new)):
        scale = max(member.args[1] for member in group)
        for member in group:
            for old in (*dequantize_readers(member), member):
                with new.graph.inserting_after(old):
                    again = new.graph.call_function(old.target, (old.args[0], scale))
                again.meta = dict(old.meta)
                old.replace_all_uses_with(again)
                new.graph.erase_node(old)
    new.recompile()
    return new


@wrong("traced anew", "other-nodes", clause="common.gm-as-it-is")
def traced_anew(gm):
    return shared(gm, own=fx.symbolic_trace)


@wrong("the given module is edited", "caller-changed", clause="unchanged")
def in_place(gm):
    return shared(gm, own=lambda gm: gm)


@wrong("where nothing is shared, the module itself", "not-new", clause="new-module")
def itself(gm):
    return shared(gm) if members_of(gm) else gm


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(gm):
    return shared(gm, recompile=False)


@wrong("meta is lost", "meta-lost", clause="only-scales")
def no_meta(gm):
    new = shared(gm)
    for node in new.graph.nodes:
        if calls(node, quantize):
            node.meta = {}
    return new


BEYOND = {
    "there and back again": "random models have too few operations with inputs in common",
}
