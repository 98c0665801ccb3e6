"""Answers for `graph_diff`."""

from __future__ import annotations

from torch import fx
from torch.fx.node import map_aggregate, map_arg

from tests.exercises import ONE_CLASS_EACH, kept_by_class, right, wrong

# ------------------------------------------------------------------ parts


def graph_of(given):
    return given.graph if isinstance(given, fx.GraphModule) else given


class Name:
    """The name of a node, equal only to other names of nodes."""

    def __init__(self, node):
        self.name = node.name

    def __eq__(self, other):
        return isinstance(other, Name) and self.name == other.name


def fields(node, name=Name):
    return node.op, node.target, map_arg(node.args, name), map_arg(node.kwargs, name)


def diff(
    *,
    graph=graph_of,
    fields=fields,
    keep=lambda node: True,
    removed=lambda names, old, new: names,
    added=lambda names, old, new: names,
    changed=lambda names, old, new: names,
    keys=("added", "removed", "changed"),
    drop_empty=False,
):
    """A right answer in parts, each of which can be replaced by a faulty one."""

    def graph_diff(before, after):
        old, new = (
            {node.name: fields(node) for node in graph(given).nodes if keep(node)}
            for given in (before, after)
        )
        lists = (
            added([name for name in new if name not in old], old, new),
            removed([name for name in old if name not in new], old, new),
            changed([name for name in new if name in old and old[name] != new[name]], old, new),
        )
        return {
            key: names for key, names in zip(keys, lists, strict=True) if names or not drop_empty
        }

    return graph_diff


# ------------------------------------------------------------------ right

right("names of a class of their own")(diff())


@right("nodes are compared side by side, down to their arguments", debrief=True)
def side_by_side(before, after):
    def same(a, b):
        if isinstance(a, fx.Node) or isinstance(b, fx.Node):
            # A text is not a node, even if it is the node's name.
            return isinstance(a, fx.Node) and isinstance(b, fx.Node) and a.name == b.name
        if isinstance(a, slice) and isinstance(b, slice):
            return same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
        return a == b

    def differs(a, b):
        return (
            a.op != b.op or a.target != b.target or not same((a.args, a.kwargs), (b.args, b.kwargs))
        )

    old = {node.name: node for node in graph_of(before).nodes}
    found = {"added": [], "removed": [], "changed": []}
    for node in graph_of(after).nodes:
        other = old.pop(node.name, None)
        if other is None:
            found["added"].append(node.name)
        elif differs(other, node):
            found["changed"].append(node.name)
    found["removed"] = list(old)
    return found


@right("one dictionary of stand-ins for both graphs")
def stand_ins(before, after):
    tokens = {}
    described = []
    for given in (before, after):
        graph = given if isinstance(given, fx.Graph) else given.graph
        described.append(
            {
                n.name: [n.op, n.target]
                + [
                    fx.node.map_arg(each, lambda m: tokens.setdefault(m.name, object()))
                    for each in (n.args, n.kwargs)
                ]
                for n in graph.nodes
            }
        )
    old, new = described
    return {
        "changed": [name for name, row in new.items() if old.get(name, row) != row],
        "removed": [name for name in old if name not in new],
        "added": [name for name in new if name not in old],
    }


@right("the nodes of one graph are put into the arguments of the other")
def mapped_over(before, after):
    first, second = (getattr(given, "graph", given) for given in (before, after))
    there = {node.name: node for node in first.nodes}
    result = {"added": [], "removed": [], "changed": []}
    for node in second.nodes:
        twin = there.get(node.name)
        if twin is None:
            result["added"].append(node.name)
            continue
        args, kwargs = map_arg((node.args, node.kwargs), lambda n: there.get(n.name, n))
        if (twin.op, twin.target, twin.args, twin.kwargs) != (node.op, node.target, args, kwargs):
            result["changed"].append(node.name)
    names = {node.name for node in second.nodes}
    result["removed"] = [name for name in there if name not in names]
    return result


@right("texts, in which a node is written as a node")
def as_text(before, after):
    def text(value):
        if isinstance(value, fx.Node):
            return f"<{value.name}>"
        if isinstance(value, slice):
            return f"slice({text(value.start)}, {text(value.stop)}, {text(value.step)})"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(text, value)) + "]"
        if isinstance(value, dict):
            return "{" + ", ".join(sorted(f"{k!r}: {text(v)}" for k, v in value.items())) + "}"
        return repr(value)

    old, new = (
        {n.name: (n.op, n.target, text(n.args), text(n.kwargs)) for n in graph_of(g).nodes}
        for g in (before, after)
    )
    return {
        "added": [k for k in new if k not in old],
        "removed": [k for k in old if k not in new],
        "changed": [k for k in new if k in old and new[k] != old[k]],
    }


# ------------------------------------------------------------------ wrong


def only(*places):
    return lambda node: tuple(fields(node)[place] for place in places)


wrong("opcodes are not compared", "missing-changed", clause="op")(diff(fields=only(1, 2, 3)))
wrong("targets are not compared", "missing-changed", clause="target")(diff(fields=only(0, 2, 3)))
wrong("args are not compared", "missing-changed", clause="args")(diff(fields=only(0, 1, 3)))
wrong("kwargs are not compared", "missing-changed", clause="kwargs")(diff(fields=only(0, 1, 2)))
wrong("names of targets are compared", "missing-changed")(
    diff(fields=lambda node: (str(node.target).split(".")[0][:9], *fields(node)[2:]))
)
wrong("nodes themselves are compared", "not-changed", clause="by-name")(
    diff(fields=lambda node: (node.op, node.target, node.args, node.kwargs))
)
wrong("names in place of nodes", "missing-changed", clause="texts")(
    diff(fields=lambda node: fields(node, lambda n: n.name))
)
wrong("texts with a sign in place of nodes", "missing-changed", clause="texts")(
    diff(fields=lambda node: fields(node, lambda n: f"%{n.name}"))
)
wrong("pairs in place of nodes", "missing-changed", clause="texts")(
    diff(fields=lambda node: fields(node, lambda n: ("node", n.name)))
)


def only_reads(node):
    return node.op, node.target, [read.name for read in node.all_input_nodes]


wrong("only which nodes are read", "missing-changed")(diff(fields=only_reads))


def shallow(node):
    def plain(value):
        return Name(value) if isinstance(value, fx.Node) else type(value)

    return (
        node.op,
        node.target,
        [plain(value) for value in node.args],
        {
            key: value if not isinstance(value, fx.Node) else Name(value)
            for key, value in node.kwargs.items()
        },
    )


wrong("arguments at the top only", "missing-changed", clause="nested")(diff(fields=shallow))


def without_slices(node):
    def plain(value):
        if isinstance(value, fx.Node):
            return Name(value)
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return slice if isinstance(value, slice) else value

    return node.op, node.target, plain(node.args), plain(node.kwargs)


wrong("slices are not looked into", "missing-changed", clause="slices")(diff(fields=without_slices))


def by(plain):
    """Fields whose arguments `plain` writes; it gets itself for nested values."""

    def write(value):
        return plain(value, write)

    return lambda node: (node.op, node.target, write(node.args), write(node.kwargs))


def usual(value, write):
    if isinstance(value, fx.Node):
        return Name(value)
    if isinstance(value, (list, tuple)):
        return [write(item) for item in value]
    if isinstance(value, slice):
        return slice, write((value.start, value.stop, value.step))
    if isinstance(value, dict):
        return {key: write(item) for key, item in value.items()}
    return value


def slices_as_they_are(value, write):
    return value if isinstance(value, slice) else usual(value, write)


def slices_without_step(value, write):
    if isinstance(value, slice):
        return slice, write((value.start, value.stop))
    return usual(value, write)


def dicts_without_keys(value, write):
    return list(map(write, value.values())) if isinstance(value, dict) else usual(value, write)


def flattened(value, write):
    if not isinstance(value, (list, tuple)):
        return usual(value, write)
    return sum((x if isinstance(x := write(item), list) else [x] for item in value), [])


def constants_as_text(value, write):
    return str(value) if isinstance(value, (int, float, str)) else usual(value, write)


def slices_without_none(value, write):
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice, [write(part) for part in parts if part is not None]
    return usual(value, write)


def numbers_hashed(value, write):
    return hash(value) if isinstance(value, (int, float)) else usual(value, write)


def others_by_class(value, write):
    if value is None or isinstance(value, (fx.Node, list, tuple, slice, dict, str, int, float)):
        return usual(value, write)
    return type(value)


def without_none(node):
    kwargs = {key: value for key, value in node.kwargs.items() if value is not None}
    return *fields(node)[:3], map_arg(kwargs, Name)


def with_modules(node):
    owner = node.graph.owning_module
    behind = owner.get_submodule(node.target) if node.op == "call_module" else None
    return *fields(node), type(behind)


right("lists, tuples, slices and dictionaries one by one")(diff(fields=by(usual)))
wrong("slices as they are", "not-changed", clause="slices")(diff(fields=by(slices_as_they_are)))
wrong("slices without their step", "missing-changed", clause="slices")(
    diff(fields=by(slices_without_step))
)
wrong("slices without the parts that are None", "missing-changed", clause="slices")(
    diff(fields=by(slices_without_none))
)
wrong("hashes of numbers", "missing-changed", clause="args")(diff(fields=by(numbers_hashed)))
wrong("dtypes by their class", "missing-changed", clause="args")(diff(fields=by(others_by_class)))
wrong("a keyword that is None counts as none", "missing-changed", clause="kwargs")(
    diff(fields=without_none)
)
wrong("targets by identity", "not-changed", clause="target")(
    diff(fields=lambda node: (node.op, id(node.target), *fields(node)[2:]))
)
wrong("what is behind a target counts", "not-changed", clause="target")(diff(fields=with_modules))
wrong("dictionaries without their keys", "missing-changed", clause="args")(
    diff(fields=by(dicts_without_keys))
)
wrong("lists in lists made flat", "missing-changed", clause="nested")(diff(fields=by(flattened)))
wrong("numbers as text", "missing-changed", clause="args")(diff(fields=by(constants_as_text)))
wrong("all arguments in one list", "missing-changed", clause="args")(
    diff(
        fields=lambda node: (
            node.op, node.target, [*fields(node)[2], *fields(node)[3].values()]
        )
    )
)  # fmt: skip
wrong("functions by their names", "missing-changed", clause="target")(
    diff(
        fields=lambda node: (
            node.op, getattr(node.target, "__name__", node.target), *fields(node)[2:]
        )
    )
)  # fmt: skip
for kind in ("call_module", "get_attr", "placeholder", "call_method"):
    wrong(f"targets of {kind} are not compared", "missing-changed", clause="target")(
        diff(
            fields=lambda node, kind=kind: (
                node.op, node.op == kind or node.target, *fields(node)[2:]
            )
        )
    )  # fmt: skip


@wrong("notes what it has seen", "caller-changed", clause="untouched")
def notes(before, after):
    for node in graph_of(before).nodes:
        node.meta["seen by diff"] = True
    return diff()(before, after)


wrong("the output does not count", "missing-changed", clause="output")(
    diff(keep=lambda node: node.op != "output")
)
wrong("placeholders do not count", "missing-changed", clause="placeholders")(
    diff(keep=lambda node: node.op != "placeholder")
)
wrong("calls only", "missing-changed")(diff(keep=lambda node: node.op.startswith("call")))
wrong("what follows in the graph counts", "not-changed", clause="order")(
    diff(fields=lambda node: (*fields(node), node.next.name))
)
wrong("meta counts", "not-changed", clause="meta")(
    diff(fields=lambda node: (*fields(node), {k: v for k, v in node.meta.items() if k == "seen"}))
)
wrong("types count", "not-changed")(diff(fields=lambda node: (*fields(node), node.type)))
wrong("readers count", "not-changed")(
    diff(fields=lambda node: (*fields(node), [user.name for user in node.users]))
)
wrong("the text of a node", "not-changed")(diff(fields=lambda node: node.format_node()))
wrong("modules only", "crashed", clause="graphs")(diff(graph=lambda given: given.graph))


def traced_anew(given):
    try:
        return fx.symbolic_trace(given).graph
    except Exception:
        return graph_of(given)


wrong("a fresh trace", "missing-changed", clause="not-traced")(diff(graph=traced_anew))
wrong("sorted by name", "wrong-order", clause="order-added")(
    diff(added=lambda names, old, new: sorted(names))
)
wrong("what is removed comes backwards", "wrong-order", clause="order-removed")(
    diff(removed=lambda names, old, new: names[::-1])
)


def in_order_of_the_first(names, old, new):
    return [name for name in old if name in names]


wrong("what is changed comes in the order of the first", "wrong-order", clause="order-changed")(
    diff(changed=in_order_of_the_first)
)
wrong("added and removed are exchanged", "missing-added")(
    diff(keys=("removed", "added", "changed"))
)
wrong("what is removed is forgotten", "missing-removed", clause="removed")(
    diff(removed=lambda names, old, new: [])
)


def added_too(names, old, new):
    return [name for name in new if name in names or name not in old]


wrong("what is added counts as changed", "missing-added", clause="added")(
    diff(added=lambda names, old, new: [], changed=added_too)
)
wrong("what is added counts as changed, too", "not-changed")(diff(changed=added_too))
wrong("empty lists are left out", "missing-key", clause="keys")(diff(drop_empty=True))


@wrong("a fourth list", "extra-key")
def fourth(before, after):
    found = diff()(before, after)
    names = [node.name for node in graph_of(after).nodes]
    return {**found, "same": [n for n in names if n not in found["added"] + found["changed"]]}


wrong("sets", "wrong-kind")(
    diff(changed=lambda names, old, new: set(names), added=lambda names, old, new: set(names))
)


@wrong("the graphs are linted and tidied first", "caller-changed", clause="untouched")
def tidies(before, after):
    found = diff()(before, after)
    for given in (before, after):
        graph_of(given).eliminate_dead_code()
        for node in list(graph_of(given).nodes):
            node.meta.pop("seen", None)
            if node.op == "call_function":
                node.kwargs = {**node.kwargs, "note": 1}
    return found


# Each graph module has its own class; graphs all have the same class.
wrong("kept by the classes of what is given", "not-added")(kept_by_class(side_by_side))


@wrong("zip, node by node", "missing-changed")
def zipped(before, after):
    old, new = list(graph_of(before).nodes), list(graph_of(after).nodes)
    names = {n.name for n in old}, {n.name for n in new}
    return {
        "added": [n.name for n in new if n.name not in names[0]],
        "removed": [n.name for n in old if n.name not in names[1]],
        "changed": [
            b.name for a, b in zip(old, new, strict=False)
            if a.name == b.name and fields(a) != fields(b)
        ],
    }  # fmt: skip


@wrong("the stub", "not-attempted")
def stub(before, after):
    raise NotImplementedError


_TARGETS = "the targets of a random model stay as they are, but for those of functions"


def leaves_by(change):
    """The fields of a node, with each value that is not a node converted."""

    def change_all(value):
        named = lambda v: Name(v) if isinstance(v, fx.Node) else change(v)  # noqa: E731
        return map_aggregate(value, named)

    return lambda node: (node.op, node.target, change_all(node.args), change_all(node.kwargs))


wrong("zero is nothing", "missing-changed")(diff(fields=leaves_by(lambda v: v or None)))
wrong("numbers that are near are equal", "missing-changed")(
    diff(fields=leaves_by(lambda v: round(v, 6) if isinstance(v, float) else v))
)
wrong("the order of keywords counts", "not-changed")(
    diff(fields=lambda node: (*fields(node), tuple(node.kwargs)))
)


BEYOND = {
    "kept by the classes of what is given": ONE_CLASS_EACH,
    "slices as they are": "the slices of a random model hold no nodes",
    "slices without the parts that are None": "the slices of a random model stay as they are",
    "hashes of numbers": "the numbers of a random model stay as they are",
    "dtypes by their class": "the dtypes of a random model stay as they are",
    "a keyword that is None counts as none": "no keyword of a random model is None",
    "targets by identity": "the graphs of a random model are copies, with the same targets",
    "what is behind a target counts": "two graphs of a random model share their modules",
    "slices without their step": "the slices of a random model stay as they are",
    "dictionaries without their keys": "the keys of a random model stay as they are",
    "lists in lists made flat": "the lists of a random model stay as they are",
    "numbers as text": "the numbers of a random model stay as they are",
    "all arguments in one list": "the arguments of a random model stay where they are",
    "functions by their names": "a function of a random model becomes one of another name",
    "targets of call_module are not compared": _TARGETS,
    "targets of get_attr are not compared": _TARGETS,
    "targets of placeholder are not compared": _TARGETS,
    "targets of call_method are not compared": _TARGETS,
    "notes what it has seen": "notes on the nodes of random models are not looked at",
    "opcodes are not compared": "the opcodes of a random model stay as they are",
    "slices are not looked into": "the slices of a random model stay as they are",
    "names in place of nodes": "a random model has no text that is the name of a node",
    "texts with a sign in place of nodes": "a random model has no such text",
    "pairs in place of nodes": "a random model has no such pair",
    "placeholders do not count": "the parameters of a random model stay as they are",
    "meta counts": "the nodes of a random model have no notes",
    "types count": "the nodes of a random model have no types",
    "sorted by name": "few random models get several nodes more",
    "what is removed comes backwards": "few random models lose several nodes",
    "what is changed comes in the order of the first": "the order of a random model stays",
}
