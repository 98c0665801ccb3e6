"""Answers to `kept_bytes`."""

from __future__ import annotations

import operator

import torch

from autograder.given import memory_of
from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts


def is_backward(node):
    return node.meta.get("custom", {}).get("phase") == "backward"


def is_tensor(node):
    return isinstance(node.meta.get("val"), torch.Tensor)


def made_before(node):
    return node.op == "call_function" and not is_backward(node)


def whole(val):
    return val.untyped_storage().nbytes()


def all_read(node):
    return node.all_input_nodes


def first_nodes(gm):
    """The first node of each memory."""
    first = {}
    for node in gm.graph.nodes:
        if is_tensor(node):
            first.setdefault(memory_of(node.meta["val"]), node)
    return first


def last_nodes(gm):
    return {memory_of(node.meta["val"]): node for node in gm.graph.nodes if is_tensor(node)}


def kept(
    gm, *, owners=first_nodes, counts=made_before, size=whole, reads=all_read, readers=is_backward
):
    """The structure of most answers; each step can be replaced."""
    read = {
        memory_of(each.meta["val"])
        for node in gm.graph.nodes
        if readers(node)
        for each in reads(node)
        if is_tensor(each)
    }
    found = {
        node.name: size(node.meta["val"])
        for memory, node in owners(gm).items()
        if memory in read and counts(node)
    }
    return {name: number for name, number in found.items() if number}


# ------------------------------------------------------------------ right


@right("the first node of each memory")
def by_memory(gm):
    return kept(gm)


@right("by the aliases in schemas", debrief=True)
def by_schema(gm):
    root = {}

    def root_of(node):
        """The node whose memory this node has."""
        source = aliased(node)
        return node if source is None else root[source]

    def aliased(node):
        if node.op != "call_function":
            return None
        if node.target is operator.getitem:
            tuple_, place = node.args
            if hasattr(tuple_.target, "_schema") and tuple_.target._schema.returns[0].alias_info:
                return tuple_.args[0]
            return None
        schema = node.target._schema
        if node.target in MAY_COPY:
            return node.args[0] if same_memory(node, node.args[0]) else None
        if not schema.returns or not schema.returns[0].alias_info:
            return None
        given = dict(zip([a.name for a in schema.arguments], node.args, strict=False))
        given |= node.kwargs
        sets = schema.returns[0].alias_info.before_set
        for argument in schema.arguments:
            if argument.alias_info and argument.alias_info.before_set & sets:
                return given[argument.name]
        return None

    def same_memory(one, other):
        return memory_of(one.meta["val"]) == memory_of(other.meta["val"])

    read = set()
    for node in gm.graph.nodes:
        root[node] = root_of(node)
        if is_backward(node):
            read.update(root[each] for each in node.all_input_nodes)
    return {
        node.name: whole(node.meta["val"])
        for node in gm.graph.nodes
        if node in read and made_before(node) and is_tensor(node) and whole(node.meta["val"])
    }


MAY_COPY = {
    torch.ops.aten.reshape.default,
    torch.ops.aten._to_copy.default,
    torch.ops.aten.clone.default,
}


@right("from the back to the front")
def backwards(gm):
    read, found = set(), {}
    for node in reversed(gm.graph.nodes):
        if is_backward(node):
            read |= {id_of(each) for each in node.all_input_nodes if is_tensor(each)}
        elif is_tensor(node):
            found.pop(id_of(node), None)
            if id_of(node) in read:
                found[id_of(node)] = node  # an earlier node replaces it
    nodes = [node for node in reversed(found.values()) if node.op == "call_function"]
    theirs = {id_of(n) for n in gm.graph.nodes if n.op != "call_function" and is_tensor(n)}
    nodes.sort(key=list(gm.graph.nodes).index)
    return {
        n.name: whole(n.meta["val"])
        for n in nodes
        if id_of(n) not in theirs and whole(n.meta["val"])
    }


def id_of(node):
    return memory_of(node.meta["val"])


@right("a table of memories, with their owners and readers")
def by_table(gm):
    table = []
    for node in gm.graph.nodes:
        for value in (node, *node.all_input_nodes):
            val = value.meta.get("val")
            if not isinstance(val, torch.Tensor):
                continue
            row = next((r for r in table if r["memory"] == memory_of(val)), None)
            if row is None:
                row = {"memory": memory_of(val), "owner": value, "size": whole(val), "read": False}
                table.append(row)
            row["read"] = row["read"] or (value is not node and is_backward(node))
    rows = [r for r in table if r["read"] and r["size"] and made_before(r["owner"])]
    return {r["owner"].name: r["size"] for r in rows}


# ------------------------------------------------------------------ wrong


@wrong("one entry for each value that is read", "too-many", clause="first")
def each_value(gm):
    read = {each for node in gm.graph.nodes if is_backward(node) for each in node.all_input_nodes}
    firsts = first_nodes(gm)
    return {
        node.name: whole(node.meta["val"])
        for node in gm.graph.nodes
        if node in read and is_tensor(node) and made_before(firsts[id_of(node)])
        and whole(node.meta["val"])
    }  # fmt: skip


@wrong("the bytes of the value", "wrong-bytes", clause="whole")
def of_value(gm):
    return kept(gm, size=lambda val: val.nbytes)


@wrong("numbers in place of bytes", "wrong-bytes", clause="bytes")
def numbers(gm):
    return kept(gm, size=lambda val: whole(val) // val.itemsize)


@wrong("four bytes for each number", "wrong-bytes", clause="bytes")
def four_bytes(gm):
    return kept(gm, size=lambda val: whole(val) // val.itemsize * 4)


@wrong("inputs and attributes, too", "too-many", clause="theirs")
def inputs_too(gm):
    return kept(gm, counts=lambda node: not is_backward(node) and node.op != "output")


@wrong("the first call, even if the memory is an input's", "too-many", clause="theirs-any-name")
def first_call(gm):
    def owners(gm):
        first = {}
        for node in gm.graph.nodes:
            if is_tensor(node) and node.op == "call_function":
                first.setdefault(id_of(node), node)
        return first

    return kept(gm, owners=owners)


@wrong("the last name of a memory", "too-many", clause="first")
def last_name(gm):
    return kept(gm, owners=last_nodes, counts=lambda node: node.op == "call_function")


@wrong("only the first argument", "missing", clause="anywhere")
def first_argument(gm):
    return kept(gm, reads=lambda node: [a for a in node.args[:1] if hasattr(a, "meta")])


@wrong("no lists and no keywords", "missing", clause="anywhere")
def only_args(gm):
    return kept(gm, reads=lambda node: [a for a in node.args if hasattr(a, "meta")])


@wrong("what backward calls make, too", "too-many", clause="made-forward")
def made_later(gm):
    return kept(gm, counts=lambda node: node.op == "call_function")


@wrong("what any call reads", "too-many", clause="read-backward")
def any_reader(gm):
    return kept(gm, readers=lambda node: node.op == "call_function")


@wrong("the output is a backward call", "too-many", clause="output")
def output_too(gm):
    return kept(gm, readers=lambda node: is_backward(node) or node.op == "output")


@wrong("a tuple has the memory of its parts", "too-many", clause="tuples")
def of_tuples(gm):
    def owners(gm):
        first = {}
        for node in gm.graph.nodes:
            val = node.meta.get("val")
            for part in val if isinstance(val, tuple | list) else [val]:
                if isinstance(part, torch.Tensor):
                    first.setdefault(memory_of(part), node)
        return first

    read = {
        id_of(each)
        for node in gm.graph.nodes
        if is_backward(node)
        for each in node.all_input_nodes
        if is_tensor(each)
    }
    found = {}
    for memory, node in owners(gm).items():
        if memory in read and made_before(node):
            val = node.meta["val"]
            parts = val if isinstance(val, tuple | list) else [val]
            found[node.name] = sum(whole(part) for part in parts if memory_of(part) == memory)
    return {name: size for name, size in found.items() if size}


@wrong("memory without bytes, too", "too-many", clause="empty")
def with_empty(gm):
    read = {
        id_of(each)
        for node in gm.graph.nodes
        if is_backward(node)
        for each in node.all_input_nodes
        if is_tensor(each)
    }
    return {
        node.name: whole(node.meta["val"])
        for memory, node in first_nodes(gm).items()
        if memory in read and made_before(node)
    }


@wrong("sorted by size", "wrong-order", clause="order")
def by_size(gm):
    return dict(sorted(kept(gm).items(), key=lambda item: (item[1], item[0])))


@wrong("a list", "wrong-kind", clause="common.wrong-kind")
def a_list(gm):
    return list(kept(gm).items())


@wrong("the graph is cleaned up", "caller-changed", clause="unchanged")
def cleaned(gm):
    gm.graph.eliminate_dead_code()
    return kept(gm)


NOT_GROWN = "which values a random step reads is chosen by its number"
BEYOND = {
    "what any call reads": "almost all values of a random step are read by a marked call",
}
