"""Answers to `rematerialize`."""

from __future__ import annotations

import operator

import torch
from torch import fx

from autograder.given import memory_of
from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts

BATCH_NORMS = (torch.ops.aten.native_batch_norm.default,)


def is_backward(node):
    return node.meta.get("custom", {}).get("phase") == "backward"


def tensors(value):
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in tensors(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def memories(node):
    return {memory_of(tensor) for tensor in tensors(node.meta.get("val"))}


def memories_of_all(values):
    found = set()
    fx.map_arg(values, lambda node: found.update(memories(node)))
    return found


def given_by_name(node):
    names = [argument.name for argument in node.target._schema.arguments]
    return dict(zip(names, node.args, strict=False)) | node.kwargs


def written_by_schema(node):
    if node.op != "call_function" or node.target is operator.getitem:
        return set()
    given = given_by_name(node)
    infos = {argument.name: argument.alias_info for argument in node.target._schema.arguments}
    return memories_of_all([v for name, v in given.items() if infos[name] and infos[name].is_write])


def written(node):
    if node.target in BATCH_NORMS and node.args[5]:
        return memories_of_all(node.args[3:5])
    return written_by_schema(node)


def call_named(gm, name):
    for node in gm.graph.nodes:
        if node.name == name and node.op == "call_function" and not is_backward(node):
            return node
    raise ValueError(f"no forward call is named {name!r}")


def parts_need_their_tuple(node, named):
    if node.target is operator.getitem and node.args[0] not in named:
        raise ValueError(f"{node.name} without its tuple")


def not_random(node, named):
    if node.target is operator.getitem:
        return
    if torch.Tag.nondeterministic_seeded in node.target.tags:
        raise ValueError(f"{node.name} is random")


def writes_nothing(node, named):
    if written(node):
        raise ValueError(f"{node.name} writes")


def is_not_written(node, named):
    for other in node.graph.nodes:
        if other is not node and written(other) & memories(node):
            raise ValueError(f"{other.name} writes into {node.name}")


CHECKS = (parts_need_their_tuple, not_random, writes_nothing, is_not_written)


def first_need(gm, named):
    """For each named call, the first backward call that needs it."""
    place = {}
    for reader in gm.graph.nodes:
        if is_backward(reader):
            waiting = list(reader.all_input_nodes)
            while waiting:
                node = waiting.pop()
                if node in named and node not in place:
                    place[node] = reader
                    waiting += node.all_input_nodes
    return place


def nothing_between(gm, place):
    order = list(gm.graph.nodes)
    for node, reader in place.items():
        read = memories_of_all((node.args, node.kwargs))
        for between in order[order.index(node) : order.index(reader)]:
            if written(between) & read:
                raise ValueError(f"{between.name} changes what {node.name} reads")


def own_val(copy):
    args, kwargs = fx.map_arg((copy.args, copy.kwargs), lambda n: n.meta["val"])
    mode = next(t.fake_mode for n in copy.graph.nodes for t in tensors(n.meta.get("val")))
    with mode:
        return copy.target(*args, **kwargs)


def mark_of(copy):
    return {**copy.meta.get("custom", {}), "phase": "backward"}


def in_graph_order(gm, place):
    return [node for node in gm.graph.nodes if node in place]


def reads_copies(reader, copies):
    for node in reader.all_input_nodes:
        if node in copies:
            reader.replace_input_with(node, copies[node])


def erased_from_the_back(gm, named):
    for node in reversed(gm.graph.nodes):
        if node in named and not node.users:
            gm.graph.erase_node(node)


def again(
    gm,
    names,
    *,
    find=call_named,
    checks=CHECKS,
    places=first_need,
    between=nothing_between,
    custom=mark_of,
    val=own_val,
    copy_reads=lambda copies, node: copies.get(node, node),
    readers=is_backward,
    rewire=reads_copies,
    erase=erased_from_the_back,
    recompile=True,
):
    """The structure of most answers; each step can be replaced."""
    named = [node for node in (find(gm, name) for name in names) if node is not None]
    for node in named:
        for check in checks:
            check(node, named)
    place = places(gm, named)
    between(gm, place)
    copies = {}
    old = [node for node in gm.graph.nodes if readers(node)]
    for node in in_graph_order(gm, place):
        with gm.graph.inserting_before(place[node]):
            copy = gm.graph.node_copy(node, lambda n: copy_reads(copies, n))
        copy.meta["custom"] = custom(copy)
        copy.meta["val"] = val(copy)
        copies[node] = copy
    for reader in old:
        rewire(reader, copies)
    erase(gm, named)
    if recompile:
        gm.recompile()


# ------------------------------------------------------------------ right


@right("the first backward call that needs each one")
def by_place(gm, names):
    again(gm, names)


@right("copies on demand, for each backward call", debrief=True)
def on_demand(gm, names):
    named = [call_named(gm, name) for name in names]
    for node in named:
        for check in CHECKS:
            check(node, named)
    nothing_between(gm, first_need(gm, named))
    copies = {}

    def copy_for(node, reader):
        """The copy of a named call, made before the reader if there is none."""
        if node not in named:
            return node
        if node not in copies:
            own = {each: copy_for(each, reader) for each in node.all_input_nodes}
            with gm.graph.inserting_before(reader):
                copies[node] = gm.graph.node_copy(node, own.__getitem__)
            copies[node].meta["custom"] = mark_of(node)
            copies[node].meta["val"] = own_val(copies[node])
        return copies[node]

    for reader in list(gm.graph.nodes):
        if is_backward(reader):
            for node in reader.all_input_nodes:
                reader.replace_input_with(node, copy_for(node, reader))
    erased_from_the_back(gm, named)
    gm.recompile()


@right("sets of needs, in forward order")
def by_needs(gm, names):
    named = [node for node in gm.graph.nodes if node.name in names]
    if len(named) < len(set(names)) or not all(
        n.op == "call_function" and not is_backward(n) for n in named
    ):
        raise ValueError("these are not the names of forward calls")
    order = {node: i for i, node in enumerate(gm.graph.nodes)}
    written_at = [(order[n], written(n)) for n in gm.graph.nodes if written(n)]
    needs, place = {}, {}
    for node in gm.graph.nodes:
        own = {each for each in node.all_input_nodes if each in named}
        needs[node] = own.union(*(needs[each] for each in own))
        if is_backward(node):
            for each in needs[node]:
                place.setdefault(each, node)
    for node in named:
        is_part = node.target is operator.getitem
        if is_part and node.args[0] not in named:
            raise ValueError(node.name)
        if not is_part and torch.Tag.nondeterministic_seeded in node.target.tags:
            raise ValueError(node.name)
        end = order[place[node]] if node in place else order[node]
        read = memories_of_all((node.args, node.kwargs))
        for at, memory in written_at:
            if at == order[node] or memory & memories(node):
                raise ValueError(node.name)
            if order[node] < at < end and memory & read:
                raise ValueError(node.name)
    made = {}
    for node in sorted(place, key=order.__getitem__):
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: made.get(n, n))
        with gm.graph.inserting_before(place[node]):
            new = gm.graph.call_function(node.target, args, kwargs)
        new.meta = {**node.meta, "custom": {**node.meta.get("custom", {}), "phase": "backward"}}
        new.meta["val"] = own_val(new)
        made[node] = new
    for node in order:
        if is_backward(node):
            node.args, node.kwargs = fx.map_arg((node.args, node.kwargs), lambda n: made.get(n, n))
            node.meta["val"] = own_val(node)
    for node in reversed(named):
        if not node.users:
            gm.graph.erase_node(node)
    gm.recompile()


@right("originals that only the backward pass needs are moved")
def moved(gm, names):
    named = [call_named(gm, name) for name in names]
    for node in named:
        for check in CHECKS:
            check(node, named)
    place = first_need(gm, named)
    nothing_between(gm, place)
    old, stays = list(gm.graph.nodes), {}
    for node in reversed(old):
        if node in named:
            stays[node] = any(not is_backward(u) and stays.get(u, True) for u in node.users)
    copies = {}
    for node in in_graph_order(gm, place):
        copy = node
        if stays[node]:
            copy = gm.graph.node_copy(node)
        place[node].prepend(copy)
        reads_copies(copy, copies)
        copy.meta["custom"], copy.meta["val"] = mark_of(copy), own_val(copy)
        copies[node] = copy
    for reader in old:
        if is_backward(reader):
            reads_copies(reader, copies)
    erased_from_the_back(gm, named)
    gm.recompile()


# ------------------------------------------------------------------ wrong


@wrong("a copy for each reader", "extra-copy", clause="one-copy")
def each_reader(gm, names):
    named = [call_named(gm, name) for name in names]
    for node in named:
        for check in CHECKS:
            check(node, named)
    nothing_between(gm, first_need(gm, named))
    for reader in list(gm.graph.nodes):
        if not is_backward(reader):
            continue
        copies = {}
        for node in in_graph_order(gm, needed_by(reader, named)):
            with gm.graph.inserting_before(reader):
                copy = gm.graph.node_copy(node, lambda n: copies.get(n, n))  # noqa: B023
            copy.meta["custom"], copy.meta["val"] = mark_of(copy), own_val(copy)
            copies[node] = copy
        reads_copies(reader, copies)
    erased_from_the_back(gm, named)
    gm.recompile()


def needed_by(reader, named):
    found, waiting = [], list(reader.all_input_nodes)
    while waiting:
        node = waiting.pop()
        if node in named and node not in found:
            found.append(node)
            waiting += node.all_input_nodes
    return found


@wrong("all copies at the border", "extra-copy", clause="before-it")
def at_border(gm, names):
    def places(gm, named):
        first = next(node for node in gm.graph.nodes if is_backward(node))
        return dict.fromkeys(first_need(gm, named), first)

    again(gm, names, places=places)


@wrong("only what a backward call reads itself", "use-before-definition", clause="through")
def directly(gm, names):
    def places(gm, named):
        found = {}
        for reader in gm.graph.nodes:
            if is_backward(reader):
                for node in reader.all_input_nodes:
                    if node in named:
                        found.setdefault(node, reader)
        return found

    def erase(gm, named):
        for node in reversed(gm.graph.nodes):
            if node in named and not node.users:
                gm.graph.erase_node(node)

    again(gm, names, places=places, erase=erase)


@wrong("copies read originals", "wrong-copies", clause="copies-read")
def read_originals(gm, names):
    again(gm, names, copy_reads=lambda copies, node: node)


@wrong("everybody reads copies", "erased", clause="originals-read")
def output_too(gm, names):
    again(gm, names, readers=lambda node: is_backward(node) or node.op == "output")


@wrong("no lists and no keywords", "wrong-reads", clause="lists")
def only_args(gm, names):
    def rewire(reader, copies):
        reader.args = tuple(copies.get(a, a) if isinstance(a, fx.Node) else a for a in reader.args)

    again(gm, names, rewire=rewire)


@wrong("originals stay", "not-erased", clause="erased")
def originals_stay(gm, names):
    again(gm, names, erase=lambda gm, named: None)


@wrong("erased from the front", "not-erased", clause="erased")
def from_the_front(gm, names):
    def erase(gm, named):
        for node in list(gm.graph.nodes):
            if node in named and not node.users:
                gm.graph.erase_node(node)

    again(gm, names, erase=erase)


@wrong("all dead code is erased", "erased", clause="nothing-else")
def dead_code(gm, names):
    def erase(gm, named):
        gm.graph.eliminate_dead_code()

    again(gm, names, erase=erase)


@wrong("copies are not marked", "wrong-custom", clause="marked")
def not_marked(gm, names):
    def val(copy):
        copy.meta.pop("custom")
        return own_val(copy)

    again(gm, names, val=val)


@wrong("one custom for both", "wrong-custom", clause="own-custom")
def shared_custom(gm, names):
    def custom(copy):
        shared = copy.meta.setdefault("custom", {})
        shared["phase"] = "backward"
        return shared

    again(gm, names, custom=custom)


@wrong("a custom without the old entries", "wrong-custom", clause="meta")
def wiped(gm, names):
    again(gm, names, custom=lambda copy: {"phase": "backward"})


@wrong("the val of the original", "wrong-memory", clause="own-val")
def old_val(gm, names):
    again(gm, names, val=lambda copy: copy.meta["val"])


@wrong("a clone of the val", "wrong-memory", clause="own-val")
def cloned_val(gm, names):
    def val(copy):
        old = copy.meta["val"]
        if not isinstance(old, torch.Tensor):
            return own_val(copy)
        with old.fake_mode:
            return old.clone()

    again(gm, names, val=val)


@wrong("random calls run again", "should-raise", clause="random")
def random_too(gm, names):
    again(gm, names, checks=[check for check in CHECKS if check is not not_random])


@wrong("calls that write run again", "should-raise", clause="writes")
def writes_too(gm, names):
    def only_statistics(node, named):
        if node.target in BATCH_NORMS:
            writes_nothing(node, named)

    checks = (parts_need_their_tuple, not_random, only_statistics, is_not_written)
    again(gm, names, checks=checks, between=lambda gm, place: None)


@wrong("the schema of a norm is trusted", "should-raise", clause="statistics")
def schema_trusted(gm, names):
    def by_schema(node, named):
        if written_by_schema(node):
            raise ValueError(node.name)

    def between(gm, place):
        pass

    again(gm, names, checks=(parts_need_their_tuple, not_random, by_schema), between=between)


@wrong("each norm is refused", "crashed", clause="evaluation")
def norms_refused(gm, names):
    def no_norms(node, named):
        if node.target in BATCH_NORMS:
            raise ValueError(node.name)

    again(gm, names, checks=(*CHECKS, no_norms))


@wrong("later writes are not seen", "should-raise", clause="written")
def written_later(gm, names):
    again(gm, names, checks=[check for check in CHECKS if check is not is_not_written])


@wrong("writes in between are not seen", "should-raise", clause="between")
def nothing_seen_between(gm, names):
    again(gm, names, between=lambda gm, place: None)


@wrong("a write anywhere is refused", "crashed", clause="only-between")
def write_anywhere(gm, names):
    def between(gm, place):
        for node in place:
            read = memories_of_all((node.args, node.kwargs))
            if any(written(other) & read for other in gm.graph.nodes):
                raise ValueError(node.name)

    again(gm, names, between=between)


@wrong("unknown names are passed over", "should-raise", clause="unknown")
def passed_over(gm, names):
    def find(gm, name):
        try:
            return call_named(gm, name)
        except ValueError:
            return None

    again(gm, names, find=find)


@wrong("parts without their tuple", "should-raise", clause="parts")
def parts_alone(gm, names):
    again(gm, names, checks=CHECKS[1:])


@wrong("edited before it is refused", "caller-changed", clause="refused-unchanged")
def edited_first(gm, names):
    for name in names:
        again(gm, [name])


@wrong("the names are used up", "caller-changed", clause="names-stay")
def used_up(gm, names):
    found = [names.pop() for _ in range(len(names))]
    again(gm, found)


@wrong("the graph module is returned", "returns-something", clause="in-place")
def returned(gm, names):
    again(gm, names)
    return gm


@wrong("not recompiled", "stale-code", clause="common.recompiled")
def stale(gm, names):
    again(gm, names, recompile=False)
