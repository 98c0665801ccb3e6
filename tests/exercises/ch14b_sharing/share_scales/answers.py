"""Answers to `share_scales`."""

from __future__ import annotations

import copy
import math
import operator
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


def members_of(new, *, moved=moved_by, results=quantize_readers, fits=all_dequantized):
    """The quantize calls that share a scale, for each relevant operation."""
    found = []
    for node in new.graph.nodes:
        values, read = moved(node), results(node)
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


@wrong("the scale of the result", "not-shared", clause="largest")
def of_the_result(gm):
    return shared(gm, choose=lambda scales: list(scales)[-1], join=lambda groups: groups)


@wrong("the scale of the first input", "not-shared", clause="largest")
def of_the_first(gm):
    return shared(gm, choose=lambda scales: next(iter(scales)), join=lambda groups: groups)


@wrong("scales that are close stay", "not-shared", clause="largest")
def close_scales(gm):
    """Leave scales that are nearly the largest."""
    new, wanted = copy.deepcopy(gm), shared(gm)
    for node, other in zip(new.graph.nodes, wanted.graph.nodes, strict=True):
        if node.target in (quantize, dequantize) and not math.isclose(node.args[1], other.args[1]):
            node.args = (node.args[0], other.args[1])
    new.recompile()
    return new


@wrong("the largest as text", "not-shared", clause="largest")
def largest_text(gm):
    """Compare scales as text, where 9e-05 is larger than 0.01."""
    return shared(gm, choose=lambda scales: max(scales, key=str))


@wrong("the mean of all scales", "not-shared", clause="largest")
def mean(gm):
    def choose(scales):
        scales = list(scales)
        return sum(scales) / len(scales)

    return shared(gm, choose=choose)


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


@wrong("the first dequantize alone", "not-shared", clause="each-dequantize")
def one_dequantize(gm):
    return shared(gm, readers=lambda member: dequantize_readers(member)[:1])


@wrong("only dequantize calls that the operation reads", "not-shared", clause="each-dequantize")
def only_those_around(gm):
    def readers(member):
        def next_to(call):
            return any(moved_by(user) for user in call.users)

        every = dequantize_readers(member)
        return [call for call in every if next_to(call)] or every

    return shared(gm, readers=readers)


@wrong("an unread dequantize keeps its scale", "not-shared", clause="each-dequantize")
def only_read(gm):
    return shared(gm, readers=lambda member: [d for d in dequantize_readers(member) if d.users])


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


@wrong("the first quantize of a result", "not-shared", clause="results")
def one_result(gm):
    return shared(
        gm, find=lambda new: members_of(new, results=lambda node: quantize_readers(node)[:1])
    )


@wrong("whatever reads the quantized value is rescaled", "other-arguments", clause="only-scales")
def any_reader(gm):
    new = copy.deepcopy(gm)
    for group in united(members_of(new)):
        scale = max(member.args[1] for member in group)
        for member in group:
            with_scale(member, scale)
            for reader in list(member.users):
                if reader.op == "output":
                    reader.args = (reader.args[0], scale)
                else:
                    with_scale(reader, scale)
    new.recompile()
    return new


# ------------------------------------------------------------------ wrong: what hangs together


@wrong("one walk, in graph order", "not-shared", clause="several-operations")
def one_walk(gm):
    return shared(gm, join=lambda groups: groups)


@wrong("one walk, from the end", "not-shared", clause="several-operations")
def one_walk_back(gm):
    return shared(gm, join=lambda groups: reversed(groups))


@wrong("there and back again", "not-shared", clause="common-input")
def there_and_back(gm):
    return shared(gm, join=lambda groups: [*groups, *reversed(groups)])


@wrong("five rounds", "not-shared", clause="common-input")
def five_rounds(gm):
    return shared(gm, join=lambda groups: groups * 5)


@wrong("all operations share one scale", "changed-alone", clause="only-together")
def all_one(gm):
    return shared(gm, join=lambda groups: [set().union(*groups)] if groups else [])


@wrong("all pairs share one scale", "changed-alone", clause="only-together")
def everything(gm):
    def find(new):
        return [[node for node in new.graph.nodes if calls(node, quantize)]]

    return shared(gm, find=lambda new: [group for group in find(new) if group])


@wrong("groups that meet through the same dequantize", "not-shared", clause="common-input")
def by_dequantize(gm):
    """Treat inputs as common only if operations read the same node."""
    new = copy.deepcopy(gm)
    ends = []
    for node in new.graph.nodes:
        values, results = moved_by(node), quantize_readers(node)
        if values and results and all_dequantized(values):
            ends.append({*values, *(d for result in results for d in dequantize_readers(result))}
                        | set(results))  # fmt: skip
    for group in united(ends):
        scale = max(call.args[1] for call in group)
        for call in group:
            source = call if calls(call, quantize) else call.args[0]
            for each in (source, *dequantize_readers(source)):
                with_scale(each, scale)
    new.recompile()
    return new


@wrong("groups by equal scales", "not-shared", clause="common-input")
def by_scales(gm):
    """Replace a scale by a larger one wherever its value occurs."""
    new = copy.deepcopy(gm)
    to = {}
    for group in members_of(new):
        scale = max(member.args[1] for member in group)
        to.update({member.args[1]: scale for member in group})
    for node in new.graph.nodes:
        if calls(node, quantize) or calls(node, dequantize):
            with_scale(node, to.get(node.args[1], node.args[1]))
    new.recompile()
    return new


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


@wrong("no permute", "not-shared", clause="methods")
def no_permute(gm):
    return shared(gm, find=lambda new: members_of(
        new, moved=lambda node: [] if node.target == "permute" else moved_by(node)
    ))  # fmt: skip


@wrong("no methods", "not-shared", clause="methods")
def no_methods(gm):
    return shared(gm, find=lambda new: members_of(
        new, moved=lambda node: [] if node.op == "call_method" else moved_by(node)
    ))  # fmt: skip


@wrong("layers with the names of methods, too", "changed-alone")
def names_of_methods(gm):
    def moved(node):
        named_so = node.op == "call_module" and node.target in METHODS
        return [node.args[0]] if named_so else moved_by(node)

    return shared(gm, find=lambda new: members_of(new, moved=moved))


@wrong("lists, and no tuples", "not-shared", clause="cat")
def only_lists(gm):
    def moved(node):
        if calls(node, torch.cat) and node.args and isinstance(node.args[0], tuple):
            return []
        return moved_by(node)

    return shared(gm, find=lambda new: members_of(new, moved=moved))


@wrong("keywords are overlooked", "not-shared", clause="keyword-calls")
def positional(gm):
    def moved(node):
        return moved_by(node) if node.args else []

    return shared(gm, find=lambda new: members_of(new, moved=moved))


@wrong("views too", "changed-alone", clause="nothing-else-moves")
def views_too(gm):
    def moved(node):
        return [node.args[0]] if node.target == "view" else moved_by(node)

    return shared(gm, find=lambda new: members_of(new, moved=moved))


@wrong("layers that pool, too", "changed-alone", clause="nothing-else-moves")
def layers_too(gm):
    def moved(node):
        return list(node.args[:1]) if node.op == "call_module" else moved_by(node)

    return shared(gm, find=lambda new: members_of(new, moved=moved))


@wrong("any call with one input", "changed-alone", clause="nothing-else-moves")
def any_call(gm):
    def moved(node):
        known = calls(node, quantize) or calls(node, dequantize)
        if node.op.startswith("call_") and not known and len(node.all_input_nodes) == 1:
            return node.all_input_nodes
        return moved_by(node)

    return shared(gm, find=lambda new: members_of(new, moved=moved))


@wrong("a stack is a cat", "changed-alone", clause="nothing-else-moves")
def stack_too(gm):
    def moved(node):
        return list(node.args[0]) if calls(node, torch.stack) else moved_by(node)

    return shared(gm, find=lambda new: members_of(new, moved=moved))


@wrong("torch.add is a cat", "changed-alone", clause="nothing-else-moves")
def add_too(gm):
    def moved(node):
        return list(node.args) if calls(node, torch.add) else moved_by(node)

    return shared(gm, find=lambda new: members_of(new, moved=moved))


def with_relatives(relatives):
    def answer(gm):
        def moved(node):
            return [node.args[0]] if node.target in relatives else moved_by(node)

        return shared(gm, find=lambda new: members_of(new, moved=moved))

    return answer


RELATIVES = {
    "functions of the methods' names, too": (torch.reshape, torch.permute, torch.transpose),
    "other pools of the largest, too": (F.max_pool3d, F.adaptive_max_pool2d),
    "unsqueeze, too": ("unsqueeze",),
    "contiguous, too": ("contiguous",),
    "parts, too": (operator.getitem,),
}
for style, relatives in RELATIVES.items():
    wrong(style, "changed-alone", clause="nothing-else-moves")(with_relatives(relatives))


@wrong("some inputs are enough", "changed-alone", clause="all-inputs")
def some_inputs(gm):
    def fits(values):
        return any(calls(value, dequantize) for value in values)

    return shared(gm, find=lambda new: members_of(new, fits=fits))


@wrong("the first input is looked at", "changed-alone", clause="all-inputs")
def first_input(gm):
    def fits(values):
        return calls(values[0], dequantize)

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


@wrong("quantized somewhere behind", "changed-alone", clause="somebody-quantizes")
def quantized_later(gm):
    def results(node):
        return [
            *quantize_readers(node),
            *(q for user in node.users for q in quantize_readers(user)),
        ]

    return shared(gm, find=lambda new: members_of(new, results=results))


@wrong("up through several operations", "changed-alone", clause="all-inputs")
def through_operations(gm):
    def moved(node):
        found = []
        for value in moved_by(node):
            found += moved(value) or [value]
        return found

    return shared(gm, find=lambda new: members_of(new, moved=moved))


@wrong("down through several operations", "changed-alone", clause="somebody-quantizes")
def results_of_results(gm):
    def results(node):
        found = quantize_readers(node)
        for user in node.users:
            if moved_by(user) == [node]:
                found += results(user)
        return found

    return shared(gm, find=lambda new: members_of(new, results=results))


@wrong("only if nobody else reads the result", "not-shared", clause="somebody-quantizes")
def nobody_else(gm):
    def results(node):
        found = quantize_readers(node)
        return found if len(found) == len(node.users) else []

    return shared(gm, find=lambda new: members_of(new, results=results))


# ------------------------------------------------------------------ wrong: form


@wrong("joined calls are folded", "other-nodes", clause="only-scales")
def folded(gm):
    new = shared(gm)
    for node in list(new.graph.nodes):
        if calls(node, quantize) and calls(node.args[0], dequantize):
            if node.args[1] == node.args[0].args[1]:
                node.replace_all_uses_with(node.args[0].args[0])
                new.graph.erase_node(node)
    new.graph.eliminate_dead_code()
    new.recompile()
    return new


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


@wrong("meta is lost", "meta-lost", clause="only-scales")
def no_meta(gm):
    new = shared(gm)
    for node in new.graph.nodes:
        if calls(node, quantize):
            node.meta = {}
    return new


@wrong("traced anew", "other-nodes")
def traced_anew(gm):
    return shared(gm, own=fx.symbolic_trace)


@wrong("the given module is edited", "caller-changed", clause="unchanged")
def in_place(gm):
    return shared(gm, own=lambda gm: gm)


@wrong("where nothing is shared, the module itself", "not-new", clause="new-module")
def itself(gm):
    return shared(gm) if members_of(gm) else gm


@wrong("recompile forgotten", "stale-code")
def stale(gm):
    return shared(gm, recompile=False)


@wrong("the groups", "not-a-graph-module")
def only_groups(gm):
    return [sorted(node.name for node in group) for group in united(members_of(gm))]


@wrong("the stub", "not-attempted")
def stub(gm):
    raise NotImplementedError


RARE = "random models have no such calls"
ORDER = "random models have too few operations with inputs in common"
BEYOND = {
    "scales that are close stay": "random scales have two digits behind the point",
    "the largest as text": "random scales have two digits behind the point",
    **dict.fromkeys(RELATIVES, RARE),
    "only dequantize calls that the operation reads": RARE,
    "whatever reads the quantized value is rescaled": RARE,
    "no permute": RARE,
    "lists, and no tuples": RARE,
    "views too": RARE,
    "layers that pool, too": RARE,
    "joined calls are folded": RARE,
    "an unread dequantize keeps its scale": "all that random models have is read",
    "five rounds": ORDER,
    "there and back again": ORDER,
    "groups that meet through the same dequantize": ORDER,
}
