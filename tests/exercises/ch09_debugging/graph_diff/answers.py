"""Answers for `graph_diff`."""

from __future__ import annotations

from torch import fx
from torch.fx.node import map_arg

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
    drop_empty=False,
):
    """A right answer in parts, each of which can be replaced by a faulty one."""

    def graph_diff(before, after):
        old, new = (
            {node.name: fields(node) for node in graph(given).nodes if keep(node)}
            for given in (before, after)
        )
        both = [name for name in new if name in old]
        lists = {
            "added": added([name for name in new if name not in old], old, new),
            "removed": removed([name for name in old if name not in new], old, new),
            "changed": changed([name for name in both if old[name] != new[name]], old, new),
        }
        return {key: names for key, names in lists.items() if names or not drop_empty}

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
wrong("nodes themselves are compared", "not-changed", clause="by-name")(
    diff(fields=lambda node: (node.op, node.target, node.args, node.kwargs))
)
wrong("names in place of nodes", "missing-changed", clause="texts")(
    diff(fields=lambda node: fields(node, lambda n: n.name))
)


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


right("lists, tuples, slices and dictionaries one by one")(diff(fields=by(usual)))


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
wrong("what follows in the graph counts", "not-changed", clause="order")(
    diff(fields=lambda node: (*fields(node), node.next.name))
)
wrong("meta counts", "not-changed", clause="meta")(
    diff(fields=lambda node: (*fields(node), {k: v for k, v in node.meta.items() if k == "seen"}))
)
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
wrong("what is removed is forgotten", "missing-removed", clause="removed")(
    diff(removed=lambda names, old, new: [])
)


def added_too(names, old, new):
    return [name for name in new if name in names or name not in old]


wrong("what is added counts as changed", "missing-added", clause="added")(
    diff(added=lambda names, old, new: [], changed=added_too)
)
wrong("empty lists are left out", "missing-key", clause="keys")(diff(drop_empty=True))


# Each graph module has its own class; graphs all have the same class.
wrong("kept by the classes of what is given", "not-added", clause="common.own-result")(
    kept_by_class(side_by_side)
)


@wrong("a fourth list", "extra-key", clause="keys")
def fourth(before, after):
    found = diff()(before, after)
    names = [node.name for node in graph_of(after).nodes]
    return {**found, "same": [n for n in names if n not in found["added"] + found["changed"]]}


BEYOND = {
    "kept by the classes of what is given": ONE_CLASS_EACH,
    "notes what it has seen": "notes on the nodes of random models are not looked at",
    "opcodes are not compared": "the opcodes of a random model stay as they are",
    "names in place of nodes": "a random model has no text that is the name of a node",
    "placeholders do not count": "the parameters of a random model stay as they are",
    "meta counts": "the nodes of a random model have no notes",
    "sorted by name": "few random models get several nodes more",
    "what is removed comes backwards": "few random models lose several nodes",
    "what is changed comes in the order of the first": "the order of a random model stays",
}
