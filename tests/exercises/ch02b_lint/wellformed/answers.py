"""Answers to `wellformed`.

The wrong ones are one checker, `Checker`, with one part replaced.
"""

from __future__ import annotations

import copy
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


def variant(style, finding):
    """Mark a class that replaces parts of `Checker` as a wrong answer."""

    def mark(parts):
        checker = type("Variant", (parts, Checker), {"__module__": __name__})()

        def answer(gm):
            return checker(gm)

        answer.__module__ = __name__
        wrong(style, finding)(answer)
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


@wrong("what lint calls nonexistent is missing", "false-alarm")
def _(gm):
    checker = Checker()
    found = {code for code in checker(gm)}
    try:
        gm.graph.lint()
    except RuntimeError as error:
        if "nonexistent attribute" in str(error):
            found.add("missing-target")
    return sorted(found)


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


@wrong("nothing is ever wrong", "missed-fault")
def _(gm):
    return []


@wrong("every code, always", "false-alarm")
def _(gm):
    return sorted(CODES)


@wrong("only the first fault", "missed-fault")
def _(gm):
    return Checker()(gm)[:1]


@wrong("not sorted", "not-sorted", clause="sorted")
def _(gm):
    return Checker()(gm)[::-1]


@wrong("a fault for each place", "listed-twice", clause="each-once")
def _(gm):
    found = Checker()(gm)
    return sorted(found + (["raw-tensor"] if "raw-tensor" in found else []))


@wrong("a set", "wrong-kind")
def _(gm):
    return set(Checker()(gm))


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


@variant("compared with a deep copy", "crashed")
class _:
    def stale(self, gm):
        return copy.deepcopy(gm).code != gm.code


@variant("the module is traced again, which runs the old code", "missed-fault")
class _:
    def stale(self, gm):
        try:
            return fx.symbolic_trace(gm).code != gm.code
        except Exception:
            return super().stale(gm)


@variant("lines of the code and nodes are counted", "missed-fault")
class _:
    def stale(self, gm):
        return gm.code.count("\n") != gm.graph.python_code("self").src.count("\n")


@variant("targets looked up in the text of the code", "missed-fault")
class _:
    def stale(self, gm):
        return any(node.name not in gm.code for node in gm.graph.nodes if node.op != "output")


@variant("the text of the graph instead of its code", "false-alarm")
class _:
    def stale(self, gm):
        return gm.code.strip() not in str(gm.graph)


@variant("code generated for another root name", "false-alarm")
class _:
    def stale(self, gm):
        return gm.code != gm.graph.python_code("module").src


# ------------------------------------------------------------------ output


@variant("only the last node is looked at", "missed-fault")
class _:
    def output(self, gm):
        return [*gm.graph.nodes][-1].op != "output"


@variant("outputs are only counted", "missed-fault")
class _:
    def output(self, gm):
        return sum(n.op == "output" for n in gm.graph.nodes) != 1


@variant("no output at all is let through", "missed-fault")
class _:
    def output(self, gm):
        ops = [n.op for n in gm.graph.nodes]
        return ops.count("output") > 1 or ("output" in ops and ops[-1] != "output")


@variant("the first output must be the last node", "crashed")
class _:
    def output(self, gm):
        first = next(n for n in gm.graph.nodes if n.op == "output")
        return first is not [*gm.graph.nodes][-1]


@variant("an output must return something", "false-alarm")
class _:
    def output(self, gm):
        last = [*gm.graph.nodes][-1]
        return super().output(gm) or not last.all_input_nodes


# ------------------------------------------------------------------ foreign-node


@variant("users are not looked at", "missed-fault")
class _:
    def users(self, node):
        return ()


@variant("arguments are not looked at, users only", "missed-fault")
class _:
    def foreign(self, gm):
        return any(self.is_foreign(gm, u) for n in gm.graph.nodes for u in n.users)


@variant("the graph of a node decides, which an erased one keeps", "missed-fault")
class _:
    def is_foreign(self, gm, node):
        return node.graph is not gm.graph


@variant("only erased nodes count as foreign", "missed-fault")
class _:
    def is_foreign(self, gm, node):
        return node._erased


@variant("names decide, and a copy has the same name", "missed-fault")
class _:
    def is_foreign(self, gm, node):
        return node.name not in {n.name for n in gm.graph.nodes}


@variant("foreign nodes are used before they are defined, too", "false-alarm")
class _:
    def undefined(self, gm):
        defined = set()
        for node in gm.graph.nodes:
            if not defined.issuperset(self.read(node)):
                return True
            defined.add(node)
        return False


@variant("erased nodes are used before they are defined, too", "false-alarm")
class _:
    def undefined(self, gm):
        erased = any(r._erased for n in gm.graph.nodes for r in self.read(n))
        return erased or super().undefined(gm)


@variant("nodes in node.meta count as arguments", "false-alarm")
class _:
    def foreign(self, gm):
        meta = pytree.tree_leaves([dict(n.meta) for n in gm.graph.nodes])
        strange = any(isinstance(v, fx.Node) and self.is_foreign(gm, v) for v in meta)
        return strange or super().foreign(gm)


# ------------------------------------------------------------------ raw-tensor


@variant("tensors at the top level of args only", "missed-fault")
class _:
    def raw(self, gm):
        return any(self.is_raw(v) for n in gm.graph.nodes for v in n.args)


@variant("tensors among args, nested, but not among kwargs", "missed-fault")
class _:
    def raw(self, gm):
        return any(self.is_raw(v) for n in gm.graph.nodes for v in nested(n.args))


@variant("pytree, which leaves slices whole", "missed-fault")
class _:
    def raw(self, gm):
        found = pytree.tree_leaves([[list(n.args), dict(n.kwargs)] for n in gm.graph.nodes])
        return any(map(self.is_raw, found))


@variant("parameters are no raw tensors", "missed-fault")
class _:
    def is_raw(self, value):
        return type(value) is torch.Tensor


def not_its_own(tensors):
    """A variant that ignores the module's own tensors."""

    class Own:
        def raw(self, gm):
            own = set(map(id, tensors(gm)))
            values = [v for n in gm.graph.nodes for v in self.values(n)]
            return any(self.is_raw(v) and id(v) not in own for v in values)

    return Own


variant("the module's own parameters are no raw tensors", "missed-fault")(
    not_its_own(lambda gm: gm.parameters())
)
variant("the module's own buffers are no raw tensors", "missed-fault")(
    not_its_own(lambda gm: gm.buffers())
)


@variant("only call_function has arguments", "missed-fault")
class _:
    def raw(self, gm):
        calls = [n for n in gm.graph.nodes if n.op == "call_function"]
        return any(self.is_raw(v) for n in calls for v in self.values(n))


@variant("only calls have arguments, not placeholders", "missed-fault")
class _:
    def raw(self, gm):
        nodes = [n for n in gm.graph.nodes if n.op != "placeholder"]
        return any(self.is_raw(v) for n in nodes for v in self.values(n))


@variant("only calls have arguments, not the output", "missed-fault")
class _:
    def raw(self, gm):
        nodes = [n for n in gm.graph.nodes if n.op != "output"]
        return any(self.is_raw(v) for n in nodes for v in self.values(n))


@variant("searched in the text of the code", "missed-fault")
class _:
    def raw(self, gm):
        return "torch.Tensor(size" in gm.code


@variant("tensors in node.meta count as well", "false-alarm")
class _:
    def raw(self, gm):
        meta = pytree.tree_leaves([dict(n.meta) for n in gm.graph.nodes])
        return any(map(self.is_raw, meta)) or super().raw(gm)


@variant("torch objects such as dtypes count as well", "false-alarm")
class _:
    def is_raw(self, value):
        return type(value).__module__ == "torch"


# ------------------------------------------------------------------ undefined-use


@variant("a node may read itself", "missed-fault")
class _:
    def undefined(self, gm):
        nodes = list(gm.graph.nodes)
        place = {node: i for i, node in enumerate(nodes)}
        return any(place.get(r, -1) > place[n] for n in nodes for r in self.read(n))


@variant("parameters are defined wherever they stand", "missed-fault")
class _:
    def undefined(self, gm):
        defined = {n for n in gm.graph.nodes if n.op == "placeholder"}
        for node in gm.graph.nodes:
            if any(r not in defined and r in set(gm.graph.nodes) for r in self.read(node)):
                return True
            defined.add(node)
        return False


@variant("buffers are defined wherever they stand", "missed-fault")
class _:
    def undefined(self, gm):
        defined = {n for n in gm.graph.nodes if n.op == "get_attr"}
        for node in gm.graph.nodes:
            if any(r not in defined and r in set(gm.graph.nodes) for r in self.read(node)):
                return True
            defined.add(node)
        return False


@variant("the order is looked at in args only", "missed-fault")
class _:
    def undefined(self, gm):
        nodes = list(gm.graph.nodes)
        place = {node: i for i, node in enumerate(nodes)}
        reads = [(n, v) for n in nodes for v in nested(n.args) if isinstance(v, fx.Node)]
        return any(place.get(v, -1) >= place[n] for n, v in reads)


@variant("the order is looked at outside containers only", "missed-fault")
class _:
    def undefined(self, gm):
        nodes = list(gm.graph.nodes)
        place = {node: i for i, node in enumerate(nodes)}
        top = [(n, v) for n in nodes for v in [*n.args, *n.kwargs.values()]]
        return any(isinstance(v, fx.Node) and place.get(v, -1) >= place[n] for n, v in top)


@variant("a placeholder behind other nodes is too late", "false-alarm")
class _:
    def undefined(self, gm):
        ops = [n.op for n in gm.graph.nodes]
        late = "placeholder" in itertools.dropwhile(lambda op: op == "placeholder", ops)
        return late or super().undefined(gm)


@variant("lint is asked, which stops at other faults", "missed-fault")
class _:
    def undefined(self, gm):
        try:
            gm.graph.lint()
        except Exception as error:
            return "before it has been defined" in str(error)
        return False


# ------------------------------------------------------------------ missing-target


@variant("hasattr with the whole path", "false-alarm")
class _:
    def resolves(self, gm, node):
        return hasattr(gm, node.target)


@variant("hasattr with the first part of the path", "missed-fault")
class _:
    def resolves(self, gm, node):
        return hasattr(gm, node.target.split(".")[0])


@variant("names of modules and tensors, where each object has one name", "false-alarm")
class _:
    def resolves(self, gm, node):
        known = {name for name, _ in gm.named_modules()} | set(gm.state_dict())
        known |= {name for name, _ in gm.named_parameters()} | {"plain"}
        return node.target in known


@variant("names of all modules, dotted keys among them", "missed-fault")
class _:
    def resolves(self, gm, node):
        known = {name for name, _ in gm.named_modules(remove_duplicate=False)}
        return node.target in known or super().resolves(gm, node)


@variant("a dotted key passes for the path of a tensor", "missed-fault")
class DottedTensors:
    def resolves(self, gm, node):
        keys = {*gm._parameters, *gm._buffers}
        return node.target in keys or super().resolves(gm, node)


@variant("only parameters and buffers are tensors", "false-alarm")
class _:
    def resolves(self, gm, node):
        known = {name for name, _ in gm.named_parameters(remove_duplicate=False)}
        known |= {name for name, _ in gm.named_buffers(remove_duplicate=False)}
        return super().resolves(gm, node) and (node.op == "call_module" or node.target in known)


@variant("targets of call_module only", "missed-fault")
class _:
    def resolves(self, gm, node):
        return node.op == "get_attr" or super().resolves(gm, node)


@variant("targets of get_attr only", "missed-fault")
class _:
    def resolves(self, gm, node):
        return node.op == "call_module" or super().resolves(gm, node)


@variant("only nodes that somebody reads", "missed-fault")
class _:
    def resolves(self, gm, node):
        return not node.users or super().resolves(gm, node)


@variant("get_submodule alone, which ends with an exception", "crashed")
class _:
    def resolves(self, gm, node):
        return gm.get_submodule(node.target.rpartition(".")[0]) is not None


# ------------------------------------------------------------------ dotted-name


@variant("the root only", "missed-fault")
class _:
    def modules(self, gm):
        return [gm]


@variant("the root and its children only", "missed-fault")
class _:
    def modules(self, gm):
        return [gm, *gm.children()]


@variant("modules that are called only", "missed-fault")
class _:
    def modules(self, gm):
        called = [n.target for n in gm.graph.nodes if n.op == "call_module"]
        return [gm, *(m for name, m in gm.named_modules() if name in called)]


@variant("submodules only, no tensors", "missed-fault")
class _:
    def keys(self, module):
        return [*module._modules]


@variant("no buffers", "missed-fault")
class _:
    def keys(self, module):
        return [*module._modules, *module._parameters]


@variant("no parameters", "missed-fault")
class _:
    def keys(self, module):
        return [*module._modules, *module._buffers]


@variant("named_children, named_parameters and named_buffers, which skip some", "missed-fault")
class _:
    def keys(self, module):
        named = itertools.chain(
            module.named_children(),
            module.named_parameters(recurse=False),
            module.named_buffers(recurse=False),
        )
        return [name for name, _ in named]


@variant("full names of nested modules have dots, too", "false-alarm")
class _:
    def keys(self, module):
        return [name for name, _ in module.named_modules()]


@variant("keys of the state dictionary", "false-alarm")
class _:
    def keys(self, module):
        return list(module.state_dict())


@variant("every attribute of a module", "false-alarm")
class _:
    def keys(self, module):
        return [*super().keys(module), *vars(module)]


@variant("the targets of the graph", "false-alarm")
class _:
    def dotted(self, gm):
        return any("." in str(n.target) for n in gm.graph.nodes if n.op == "call_module")


@variant("setattr is undone on the way", "caller-changed")
class _:
    def dotted(self, gm):
        found = super().dotted(gm)
        for module in gm.modules():
            for key in [key for key in module._modules if "." in key]:
                del module._modules[key]
        return found


@variant("foreign users are repaired", "caller-changed")
class _:
    def foreign(self, gm):
        found = super().foreign(gm)
        for node in gm.graph.nodes:
            for user in [u for u in node.users if self.is_foreign(gm, u)]:
                del node.users[user]
        return found


@wrong("what stands in the argument's meta", "missed-fault")
def from_meta(gm):
    texts = [value for value in gm.meta.values() if isinstance(value, list)]
    return list(texts[0]) if texts else []


@variant("a parameter that is None counts as missing", "false-alarm")
class NoneIsMissing:
    def resolves(self, gm, node):
        try:
            return operator.attrgetter(node.target)(gm) is not None
        except AttributeError:
            return False


@variant("targets are looked up in the saved state", "false-alarm")
class InTheSavedState:
    def resolves(self, gm, node):
        named = dict(gm.named_modules()) | gm.state_dict()
        return node.op == "call_module" and super().resolves(gm, node) or node.target in named


@variant("only what is saved is looked at for dots", "missed-fault")
class SavedKeys:
    def keys(self, module):
        passing = module._non_persistent_buffers_set
        saved = [key for key in module._buffers if key not in passing]
        return [*module._modules, *module._parameters, *saved]


@variant("exactly torch.Tensor, or a parameter", "missed-fault")
class ExactTensor:
    def is_raw(self, value):
        return type(value) in (torch.Tensor, torch.nn.Parameter)


@variant("an empty graph is no case", "missed-fault")
class EmptyGraph:
    def output(self, gm):
        return len(gm.graph.nodes) > 0 and super().output(gm)


@variant("the last node is asked without a look", "crashed")
class AsksTheLast:
    def output(self, gm):
        nodes = list(gm.graph.nodes)
        return nodes[-1].op != "output" or [n.op for n in nodes].count("output") != 1


@variant("the output is found by its name", "false-alarm")
class OutputByName:
    def output(self, gm):
        nodes = list(gm.graph.nodes)
        named = [n for n in nodes if n.name == "output" and n.op == "output"]
        outputs = [n for n in nodes if n.op == "output"]
        return len(outputs) != 1 or named != nodes[-1:]


@variant("users of the output are not looked at", "missed-fault")
class NoUsersOfTheOutput:
    def users(self, node):
        return () if node.op == "output" else node.users


@variant("named_children, which passes over keys without a module", "missed-fault")
class NamedChildren:
    def keys(self, module):
        children = [key for key, _ in module.named_children()]
        return [*children, *module._parameters, *module._buffers]


@variant("keys of submodules that are None do not count", "missed-fault")
class ModulesThatAreThere:
    def keys(self, module):
        there = [key for key, child in module._modules.items() if child is not None]
        return [*there, *module._parameters, *module._buffers]


@variant("spaces of the code do not count", "missed-fault")
class CodeWithoutSpaces:
    def stale(self, gm):
        new = gm.graph.python_code("self").src
        return "".join(gm.code.split()) != "".join(new.split())


@variant("the code of graph modules within counts, too", "false-alarm")
class CodeWithin:
    def stale(self, gm):
        within = [module for module in gm.modules() if isinstance(module, fx.GraphModule)]
        return any(Checker.stale(self, module) for module in within)


@variant("an erased node is known by its name, which another may have", "missed-fault")
class ErasedByName:
    def is_foreign(self, gm, node):
        return node.graph is not gm.graph or node.name not in {n.name for n in gm.graph.nodes}


@variant("graph modules within are taken for closed boxes", "missed-fault")
class ClosedGraphModules:
    def modules(self, gm, top=True):
        if top or not isinstance(gm, fx.GraphModule):
            yield gm
            for child in gm.children():
                yield from self.modules(child, top=False)


CLAUSES = {
    "spaces of the code do not count": "stale",
    "the code of graph modules within counts, too": "sound",
    "graph modules within are taken for closed boxes": "dotted-any-depth",
    "only the last node is looked at": "output-once",
    "outputs are only counted": "output-last",
    "users are not looked at": "foreign-user",
    "arguments are not looked at, users only": "foreign-argument",
    "foreign nodes are used before they are defined, too": "foreign-is-not-undefined",
    "the order is looked at in args only": "undefined-use",
    "a node may read itself": "undefined-itself",
    "targets of get_attr only": "missing-module",
    "targets of call_module only": "missing-attribute",
    "hasattr with the first part of the path": "missing-deep",
    "the root and its children only": "dotted-any-depth",
    "no buffers": "dotted-buffers",
    "no parameters": "dotted-parameters",
    "full names of nested modules have dots, too": "dotted-own",
    "tensors among args, nested, but not among kwargs": "raw-tensor-nested",
    "an empty graph is no case": "output",
    "exactly torch.Tensor, or a parameter": "raw-tensor",
    "a parameter that is None counts as missing": "none-is-there",
    "only what is saved is looked at for dots": "saved-or-not",
}
"""Clauses that answers break, if the answers are marked in a loop."""


NOT_ON_NETWORKS = "the faults of a graph are put there by the recipe of a random model"


NAMES_MAY_BE_MISSING = "it is about graphs whose code is shown as FX writes it"
