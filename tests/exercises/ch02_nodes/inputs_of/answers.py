"""Answers to `inputs_of`."""

from __future__ import annotations

import torch
import torch.utils._pytree as pytree
from torch import fx

from tests.exercises import right, wrong


def walk(value, look_into):
    """The nodes in nested arguments; `look_into` gives the items of a container."""
    if isinstance(value, fx.Node):
        yield value
    else:
        for item in look_into(value):
            yield from walk(item, look_into)


def items(value):
    """The items of each container that the exercise names."""
    if isinstance(value, (tuple, list)):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, slice):
        return [value.start, value.stop, value.step]
    return []


def both(node):
    return [node.args, node.kwargs]


@right("a recursive function with an ordered dictionary")
def _(node):
    return list(dict.fromkeys(walk(both(node), items)))


@right("map_arg with a list that remembers")
def _(node):
    found = []

    def note(n):
        if n not in found:
            found.append(n)
        return n

    fx.node.map_arg(node.args, note)
    fx.node.map_arg(node.kwargs, note)
    return found


@right("map_aggregate, args and kwargs in one")
def _(node):
    found = {}
    fx.node.map_aggregate(
        (node.args, node.kwargs), lambda v: found.setdefault(v) if isinstance(v, fx.Node) else v
    )
    return [*found]


@right("a stack instead of recursion", debrief=True)
def _(node):
    found, stack = [], [node.kwargs, node.args]
    while stack:
        value = stack.pop()
        if isinstance(value, fx.Node):
            if all(value is not n for n in found):
                found.append(value)
        else:
            stack.extend(reversed(items(value)))
    return found


@right("pytree, with slices taken apart")
def _(node):
    def leaves(value):
        for leaf in pytree.tree_leaves(value):
            if isinstance(leaf, slice):
                yield from leaves([leaf.start, leaf.stop, leaf.step])
            elif isinstance(leaf, fx.Node):
                yield leaf

    # The leaves of a dictionary come in its own order, and kwargs are a dictionary.
    return list(dict.fromkeys(leaves([list(node.args), list(node.kwargs.values())])))


@right("match and generators")
def _(node):
    def nodes(value):
        match value:
            case fx.Node():
                yield value
            case slice(start=a, stop=b, step=c):
                yield from nodes((a, b, c))
            case {}:
                for inner in value.values():
                    yield from nodes(inner)
            case str():
                return
            case [*inner]:
                for one in inner:
                    yield from nodes(one)

    seen = set()
    return [n for n in nodes([node.args, node.kwargs]) if not (n in seen or seen.add(n))]


@right("the arguments of a copy in another graph")
def _(node):
    found = []
    other = fx.Graph()

    def stand_in(n):
        if n not in found:
            found.append(n)
        return other.placeholder(n.name)

    other.node_copy(node, stand_in)
    return found


@wrong("kwargs are forgotten", "missed-input", clause="kwargs")
def _(node):
    return list(dict.fromkeys(walk(node.args, items)))


@wrong("slices are forgotten", "missed-input", clause="slices")
def _(node):
    into = lambda v: [] if isinstance(v, slice) else items(v)  # noqa: E731
    return list(dict.fromkeys(walk(both(node), into)))


@wrong("dictionaries are forgotten", "missed-input", clause="dicts")
def _(node):
    into = lambda v: [] if isinstance(v, dict) else items(v)  # noqa: E731
    found = [*walk(node.args, into)]
    for value in node.kwargs.values():
        found += walk(value, into)
    return list(dict.fromkeys(found))


@wrong("tuples but no lists", "missed-input", clause="lists")
def _(node):
    into = lambda v: [] if isinstance(v, list) else items(v)  # noqa: E731
    return list(dict.fromkeys([*walk(node.args, into), *walk(dict(node.kwargs), into)]))


@wrong("exact types, which FX's own lists do not have", "missed-input", clause="lists")
def _(node):
    into = lambda v: items(v) if type(v) in (tuple, list, dict, slice) else []  # noqa: E731
    return list(dict.fromkeys([*walk(node.args, into), *walk(dict(node.kwargs), into)]))


@wrong("one level of nesting only", "missed-input", clause="nested")
def _(node):
    found = []
    for top in [*node.args, *node.kwargs.values()]:
        found += [v for v in [top, *items(top)] if isinstance(v, fx.Node)]
    return list(dict.fromkeys(found))


@wrong("the step of a slice is forgotten", "missed-input", clause="slices")
def _(node):
    into = lambda v: [v.start, v.stop] if isinstance(v, slice) else items(v)  # noqa: E731
    return list(dict.fromkeys(walk(both(node), into)))


@wrong("a slice's stop before its start", "wrong-order", clause="slice-order")
def _(node):
    into = lambda v: [v.stop, v.start, v.step] if isinstance(v, slice) else items(v)  # noqa: E731
    return list(dict.fromkeys(walk(both(node), into)))


@wrong("once among args and once among kwargs", "listed-twice", clause="once")
def _(node):
    return [*dict.fromkeys(walk(node.args, items)), *dict.fromkeys(walk(node.kwargs, items))]


@wrong("whoever has this node among its users", "wrong-order", clause="order")
def _(node):
    return [n for n in node.graph.nodes if node in n.users]


@wrong("kwargs before args", "wrong-order", clause="args-first")
def _(node):
    return list(dict.fromkeys(walk([node.kwargs, node.args], items)))


@wrong("all_input_nodes", "forbidden", clause="forbidden")
def _(node):
    return node.all_input_nodes


@wrong("_input_nodes", "forbidden", clause="forbidden")
def _(node):
    return list(node._input_nodes)


@wrong("names instead of nodes", "not-a-node", clause="read")
def _(node):
    return [n.name for n in dict.fromkeys(walk(both(node), items))]


@wrong("the descriptor of Node's base class", "forbidden", clause="forbidden")
def base_descriptor(node):
    return list(torch._C._NodeBase._input_nodes.__get__(node))


class Collecting:
    """A class with an attribute of its own that has a forbidden name."""

    def __init__(self):
        self._input_nodes = {}

    def add(self, value):
        if isinstance(value, fx.Node):
            self._input_nodes[value] = None
        elif isinstance(value, (tuple, list)):
            for item in value:
                self.add(item)
        elif isinstance(value, dict):
            self.add(list(value.values()))
        elif isinstance(value, slice):
            self.add((value.start, value.stop, value.step))


@right("an attribute of its own has a forbidden name")
def own_attribute(node):
    """It does not use `all_input_nodes`."""
    found = Collecting()
    found.add((node.args, node.kwargs))
    return list(vars(found).popitem()[1])
