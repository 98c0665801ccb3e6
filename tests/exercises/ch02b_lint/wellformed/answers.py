"""Answers to `wellformed`.

The wrong ones are one checker, `Checker`, with one part replaced.
"""

from __future__ import annotations

import functools
import itertools
import operator

import torch
import torch.utils._pytree as pytree
from torch import fx

from tests.exercises import right, wrong

CODES = ("stale-code", "output", "foreign-node", "raw-tensor", "undefined-use",
         "missing-target", "dotted-name")  # fmt: skip


class Checker:
    """A right checker in small parts; each part decides whether one code applies."""

    def values(self, node):
        """The arguments of a node that are not containers, at any depth."""
        stack, found = [node.kwargs, node.args], []
        while stack:
            value = stack.pop()
            if isinstance(value, (tuple, list)):
                stack += value
            elif isinstance(value, dict):
                stack += value.values()
            elif isinstance(value, slice):
                stack += [value.start, value.stop, value.step]
            else:
                found.append(value)
        return found

    def read(self, node):
        """The nodes among the arguments."""
        return [v for v in self.values(node) if isinstance(v, fx.Node)]

    def is_foreign(self, gm, node):
        return node not in set(gm.graph.nodes)

    def stale(self, gm):
        return gm.code != gm.graph.python_code("self").src

    def output(self, gm):
        nodes = list(gm.graph.nodes)
        return [n.op for n in nodes].count("output") != 1 or nodes[-1].op != "output"

    def users(self, node):
        return node.users

    def foreign(self, gm):
        linked = (n for node in gm.graph.nodes for n in [*self.read(node), *self.users(node)])
        return any(self.is_foreign(gm, n) for n in linked)

    def is_raw(self, value):
        return isinstance(value, torch.Tensor)

    def raw(self, gm):
        return any(self.is_raw(v) for node in gm.graph.nodes for v in self.values(node))

    def undefined(self, gm):
        nodes = list(gm.graph.nodes)
        place = {node: i for i, node in enumerate(nodes)}
        return any(place.get(r, -1) >= place[n] for n in nodes for r in self.read(n))

    def resolves(self, gm, node):
        try:
            operator.attrgetter(node.target)(gm)
        except AttributeError:
            return False
        return True

    def missing(self, gm):
        named = [n for n in gm.graph.nodes if n.op in ("call_module", "get_attr")]
        return not all(self.resolves(gm, node) for node in named)

    def keys(self, module):
        return [*module._modules, *module._parameters, *module._buffers]

    def modules(self, gm):
        return gm.modules()

    def dotted(self, gm):
        return any("." in key for module in self.modules(gm) for key in self.keys(module))

    def __call__(self, gm):
        parts = (self.stale, self.output, self.foreign, self.raw, self.undefined, self.missing,
                 self.dotted)  # fmt: skip
        return sorted(code for code, part in zip(CODES, parts, strict=True) if part(gm))


def variant(style, finding, clause):
    """Mark a class that replaces parts of `Checker` as a wrong answer."""

    def mark(parts):
        checker = type("Variant", (parts, Checker), {"__module__": __name__})()

        def answer(gm):
            return checker(gm)

        answer.__module__ = __name__
        wrong(style, finding, clause)(answer)
        return parts

    return mark


def nested(value):
    """The leaves of nested arguments."""
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from nested(item)
    else:
        yield value


@right("small parts")
def _(gm):
    return Checker()(gm)


@right("one sweep over the nodes", debrief=True)
def _(gm):
    nodes, found, defined = list(gm.graph.nodes), set(), set()
    for node in nodes:
        for value in nested((node.args, node.kwargs)):
            if isinstance(value, torch.Tensor):
                found.add("raw-tensor")
            elif isinstance(value, fx.Node) and value not in defined:
                found.add("undefined-use" if value in nodes else "foreign-node")
        if set(node.users) - set(nodes):
            found.add("foreign-node")
        defined.add(node)
    for node in nodes:
        if node.op in {"call_module", "get_attr"}:
            try:
                functools.reduce(getattr, node.target.split("."), gm)
            except AttributeError:
                found.add("missing-target")
    if [i for i, n in enumerate(nodes) if n.op == "output"] != [len(nodes) - 1]:
        found.add("output")
    if gm.code != gm.graph.python_code("self").src:
        found.add("stale-code")
    for module in gm.modules():
        if "." in "".join([*module._modules, *module._parameters, *module._buffers]):
            found.add("dotted-name")
    return sorted(found)


@right("map_aggregate, and marks on the nodes' graph")
def _(gm):
    graph, found = gm.graph, {}

    def mark(code, applies):
        if applies:
            found[code] = True

    order = {node: i for i, node in enumerate(graph.nodes)}
    for node, here in order.items():

        def look(value, here=here):
            mark("raw-tensor", torch.is_tensor(value))
            if isinstance(value, fx.Node):
                strange = value.graph is not graph or value._erased
                mark("foreign-node", strange)
                mark("undefined-use", not strange and order[value] >= here)
            return value

        fx.node.map_aggregate(node.args, look)
        fx.node.map_aggregate(node.kwargs, look)
        mark("foreign-node", any(u.graph is not graph or u._erased for u in node.users))
        if node.op in ("call_module", "get_attr"):
            owner, _, name = node.target.rpartition(".")
            try:
                mark("missing-target", not hasattr(gm.get_submodule(owner), name))
            except AttributeError:
                mark("missing-target", True)
    ops = [node.op for node in graph.nodes]
    mark("output", ops[-1:] != ["output"] or ops.count("output") > 1)
    mark("stale-code", graph.python_code(root_module="self").src != gm.code)
    for _, module in gm.named_modules():
        tables = (module._modules, module._parameters, module._buffers)
        mark("dotted-name", any(key.count(".") for key in itertools.chain(*tables)))
    return sorted(found)


@right("pytree for the arguments, recursion for the modules")
def _(gm):
    def flat(value):
        for leaf in pytree.tree_leaves(value):
            yield from flat([leaf.start, leaf.stop, leaf.step]) if type(leaf) is slice else [leaf]

    def dotted(module):
        own = [*module._parameters, *module._buffers, *module._modules]
        below = [m for m in module._modules.values() if m is not None]
        return any("." in key for key in own) or any(map(dotted, below))

    def reach(node):
        here = gm
        for step in node.target.split("."):
            here = getattr(here, step, reach)
        return here is not reach

    nodes = [*gm.graph.nodes]
    leaves = {n: [*flat([list(n.args), dict(n.kwargs)])] for n in nodes}
    reads = [(n, v) for n in nodes for v in leaves[n] if isinstance(v, fx.Node)]
    verdicts = {
        "dotted-name": dotted(gm),
        "foreign-node": any(v not in nodes for _, v in reads)
        or any(u not in nodes for n in nodes for u in n.users),
        "missing-target": not all(reach(n) for n in nodes if n.op in ("call_module", "get_attr")),
        "output": [i for i, n in enumerate(nodes) if n.op == "output"] != [len(nodes) - 1],
        "raw-tensor": any(isinstance(v, torch.Tensor) for n in nodes for v in leaves[n]),
        "stale-code": gm.graph.python_code("self").src != gm.code,
        "undefined-use": any(v in nodes and nodes.index(v) >= nodes.index(n) for n, v in reads),
    }
    return [code for code, applies in verdicts.items() if applies]


@right("stale code is seen on a second module of the same graph")
def _(gm):
    """A second module of the same graph; the exercise allows the changed owner of the graph."""

    class Second(Checker):
        def stale(self, gm):
            try:
                return fx.GraphModule(gm, gm.graph).code != gm.code
            except Exception:
                return super().stale(gm)

    return Second()(gm)


@right("a list of rows, one a code")
def _(gm):
    c = Checker()
    rows = [(c.dotted, "dotted-name"), (c.foreign, "foreign-node"), (c.missing, "missing-target"),
            (c.output, "output"), (c.raw, "raw-tensor"), (c.stale, "stale-code"),
            (c.undefined, "undefined-use")]  # fmt: skip
    return [name for applies, name in rows if applies(gm)]


# ------------------------------------------------------------------ not the whole task


@wrong("lint alone", "missed-fault", clause="stale")
def _(gm):
    try:
        gm.graph.lint()
    except Exception:
        return ["undefined-use"]
    return []


@wrong("not sorted", "not-sorted", clause="sorted")
def _(gm):
    return Checker()(gm)[::-1]


@wrong("a fault for each place", "listed-twice", clause="each-once")
def _(gm):
    found = Checker()(gm)
    return sorted(found + (["raw-tensor"] if "raw-tensor" in found else []))


@wrong("None for a sound module", "returned-none", clause="sound")
def _(gm):
    return Checker()(gm) or None


@wrong("codes with an underscore", "unknown-code", clause="codes")
def _(gm):
    return sorted(code.replace("-", "_") for code in Checker()(gm))


# ------------------------------------------------------------------ stale-code


@wrong("recompiled to see whether the code changes", "caller-changed", clause="unchanged")
def _(gm):
    found = set(Checker()(gm)) - {"stale-code"}
    before = gm.code
    gm.recompile()
    return sorted(found | ({"stale-code"} if gm.code != before else set()))


# ------------------------------------------------------------------ output


@variant("only the last node is looked at", "missed-fault", clause="output-once")
class _:
    def output(self, gm):
        return [*gm.graph.nodes][-1].op != "output"


@variant("outputs are only counted", "missed-fault", clause="output-last")
class _:
    def output(self, gm):
        return sum(n.op == "output" for n in gm.graph.nodes) != 1


# ------------------------------------------------------------------ foreign-node


@variant("users are not looked at", "missed-fault", clause="foreign-user")
class _:
    def users(self, node):
        return ()


@variant("arguments are not looked at, users only", "missed-fault", clause="foreign-argument")
class _:
    def foreign(self, gm):
        return any(self.is_foreign(gm, u) for n in gm.graph.nodes for u in n.users)


@variant(
    "the graph of a node decides, which an erased one keeps",
    "missed-fault",
    clause="foreign-argument",
)
class _:
    def is_foreign(self, gm, node):
        return node.graph is not gm.graph


@variant(
    "foreign nodes are used before they are defined, too",
    "false-alarm",
    clause="foreign-is-not-undefined",
)
class _:
    def undefined(self, gm):
        defined = set()
        for node in gm.graph.nodes:
            if not defined.issuperset(self.read(node)):
                return True
            defined.add(node)
        return False


# ------------------------------------------------------------------ raw-tensor


@variant(
    "tensors among args, nested, but not among kwargs", "missed-fault", clause="raw-tensor-nested"
)
class _:
    def raw(self, gm):
        return any(self.is_raw(v) for n in gm.graph.nodes for v in nested(n.args))


@variant("pytree, which leaves slices whole", "missed-fault", clause="raw-tensor-nested")
class _:
    def raw(self, gm):
        found = pytree.tree_leaves([[list(n.args), dict(n.kwargs)] for n in gm.graph.nodes])
        return any(map(self.is_raw, found))


@variant("parameters are no raw tensors", "missed-fault", clause="raw-tensor")
class _:
    def is_raw(self, value):
        return type(value) is torch.Tensor


# ------------------------------------------------------------------ undefined-use


@variant("a node may read itself", "missed-fault", clause="undefined-itself")
class _:
    def undefined(self, gm):
        nodes = list(gm.graph.nodes)
        place = {node: i for i, node in enumerate(nodes)}
        return any(place.get(r, -1) > place[n] for n in nodes for r in self.read(n))


@variant("the order is looked at in args only", "missed-fault", clause="undefined-use")
class _:
    def undefined(self, gm):
        nodes = list(gm.graph.nodes)
        place = {node: i for i, node in enumerate(nodes)}
        reads = [(n, v) for n in nodes for v in nested(n.args) if isinstance(v, fx.Node)]
        return any(place.get(v, -1) >= place[n] for n, v in reads)


@variant("the order is looked at outside containers only", "missed-fault", clause="undefined-use")
class _:
    def undefined(self, gm):
        nodes = list(gm.graph.nodes)
        place = {node: i for i, node in enumerate(nodes)}
        top = [(n, v) for n in nodes for v in [*n.args, *n.kwargs.values()]]
        return any(isinstance(v, fx.Node) and place.get(v, -1) >= place[n] for n, v in top)


# ------------------------------------------------------------------ missing-target


@variant("hasattr with the first part of the path", "missed-fault", clause="missing-deep")
class _:
    def resolves(self, gm, node):
        return hasattr(gm, node.target.split(".")[0])


@variant("targets of call_module only", "missed-fault", clause="missing-attribute")
class _:
    def resolves(self, gm, node):
        return node.op == "get_attr" or super().resolves(gm, node)


@variant("targets of get_attr only", "missed-fault", clause="missing-module")
class _:
    def resolves(self, gm, node):
        return node.op == "call_module" or super().resolves(gm, node)


@variant("only nodes that somebody reads", "missed-fault", clause="missing-module")
class _:
    def resolves(self, gm, node):
        return not node.users or super().resolves(gm, node)


# ------------------------------------------------------------------ dotted-name


@variant("the root and its children only", "missed-fault", clause="dotted-any-depth")
class _:
    def modules(self, gm):
        return [gm, *gm.children()]


@variant("no buffers", "missed-fault", clause="dotted-buffers")
class _:
    def keys(self, module):
        return [*module._modules, *module._parameters]


@variant("no parameters", "missed-fault", clause="dotted-parameters")
class _:
    def keys(self, module):
        return [*module._modules, *module._buffers]


@variant("full names of nested modules have dots, too", "false-alarm", clause="dotted-own")
class _:
    def keys(self, module):
        return [name for name, _ in module.named_modules()]


@variant("a parameter that is None counts as missing", "false-alarm", clause="none-is-there")
class NoneIsMissing:
    def resolves(self, gm, node):
        try:
            return operator.attrgetter(node.target)(gm) is not None
        except AttributeError:
            return False


@variant("only what is saved is looked at for dots", "missed-fault", clause="saved-or-not")
class SavedKeys:
    def keys(self, module):
        passing = module._non_persistent_buffers_set
        saved = [key for key in module._buffers if key not in passing]
        return [*module._modules, *module._parameters, *saved]


@variant("an empty graph is no case", "missed-fault", clause="output")
class EmptyGraph:
    def output(self, gm):
        return len(gm.graph.nodes) > 0 and super().output(gm)


@variant("the output is found by its name", "false-alarm", clause="sound")
class OutputByName:
    def output(self, gm):
        nodes = list(gm.graph.nodes)
        named = [n for n in nodes if n.name == "output" and n.op == "output"]
        outputs = [n for n in nodes if n.op == "output"]
        return len(outputs) != 1 or named != nodes[-1:]


NOT_ON_NETWORKS = "the faults of a graph are put there by the recipe of a random model"


NAMES_MAY_BE_MISSING = "it is about graphs whose code is shown as FX writes it"
