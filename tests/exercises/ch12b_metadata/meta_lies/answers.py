"""Answers to `meta_lies`."""

from __future__ import annotations

import contextlib
import operator

import torch
from torch import fx, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.utils import _pytree as pytree

from tests.exercises import right, wrong

SYMBOLIC = "random graphs have no symbolic sizes"
FEW = "random graphs have none of these"
BEYOND = {
    "== in a condition": SYMBOLIC,
    "hints are compared": SYMBOLIC,
    "symbols are never the same": SYMBOLIC,
    "strides are compared": "in random graphs no stride is false alone",
    "numbers are compared": FEW,
    "attributes lie nowhere deeper": "`make_fx` gives each parameter a name without dots",
}
"""Wrong answers that random models cannot find, with the reason."""


def tensors_in(value):
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def mode_of(gm):
    for node in gm.graph.nodes:
        for tensor in tensors_in(node.meta.get("val")):
            return tensor.fake_mode
    return FakeTensorMode()


@contextlib.contextmanager
def quietly(gm):
    """Run in the graph's mode without adding guards."""
    mode = mode_of(gm)
    with contextlib.ExitStack() as stack:
        stack.enter_context(mode)
        if mode.shape_env is not None:
            stack.enter_context(mode.shape_env.suppress_guards())
        yield


def known(a, b):
    return len(a) == len(b) and all(
        statically_known_true(x == y) for x, y in zip(a, b, strict=True)
    )


def alike(a, b):
    return a.dtype == b.dtype and known(a.shape, b.shape)


def same(found, said, alike=alike):
    ours, theirs = tensors_in(found), tensors_in(said)
    return len(ours) == len(theirs) and all(map(alike, ours, theirs))


def called(node):
    args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    return node.target(*args, **kwargs)


def attribute(gm, node):
    return operator.attrgetter(node.target)(gm)


def inputs_known(node):
    return all("val" in read.meta for read in node.all_input_nodes)


def lies(
    gm,
    *,
    around=quietly,
    same=same,
    call=called,
    attribute=attribute,
    judged=inputs_known,
    without=True,
    fails=True,
    name=lambda node: node.name,
):
    """The structure of most answers; each step can be replaced."""
    found = []
    for node in gm.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if "val" not in node.meta:
            if without:
                found.append(name(node))
            continue
        if node.op != "get_attr" and not judged(node):
            continue
        try:
            with around(gm):
                real = attribute(gm, node) if node.op == "get_attr" else call(node)
        except Exception:
            if fails is None:
                raise
            wrong = fails
        else:
            wrong = not same(real, node.meta["val"])
        if wrong:
            found.append(name(node))
    return found


# ------------------------------------------------------------------ right


@right("each call on the vals of what it reads")
def by_calls(gm):
    return lies(gm)


@right("an Interpreter whose values are the vals", debrief=True)
def by_interpreter(gm):
    class Local(fx.Interpreter):
        """Each node finds in `env` what its inputs say, and not what they gave."""

        def says(self, node):
            self.env = {read: read.meta["val"] for read in node.all_input_nodes}
            return self.run_node(node)

    interpreter, found = Local(gm, garbage_collect_values=False), []
    vals = [tensor for n in gm.graph.nodes for tensor in tensors_in(n.meta.get("val"))]
    mode = vals[0].fake_mode if vals else FakeTensorMode()
    env = mode.shape_env
    for node in gm.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if "val" not in node.meta:
            found.append(node.name)
        elif all("val" in read.meta for read in node.all_input_nodes):
            try:
                with mode, env.suppress_guards() if env else contextlib.nullcontext():
                    value = interpreter.says(node)
            except Exception:
                found.append(node.name)
                continue
            flat = [pytree.tree_leaves(v) for v in (value, node.meta["val"])]
            pairs = list(zip(*flat, strict=False))
            tensors = [pair for pair in pairs if all(isinstance(t, torch.Tensor) for t in pair)]
            if (tensors and len(flat[0]) != len(flat[1])) or not all(
                a.dtype == b.dtype and known(a.shape, b.shape) for a, b in tensors
            ):
                found.append(node.name)
    return found


@right("a graph of one node, run by FakeTensorProp")
def by_prop(gm):
    mode, found = mode_of(gm), []

    def one(node):
        graph = fx.Graph()
        made = {read: graph.placeholder(f"p{i}") for i, read in enumerate(node.all_input_nodes)}
        graph.output(graph.node_copy(node, made.__getitem__))
        alone = fx.GraphModule(nn.Module(), graph)
        vals = [read.meta["val"] for read in made]
        return FakeTensorProp(alone, mode).propagate_dont_convert_inputs(*vals)

    env = mode.shape_env
    for node in gm.graph.nodes:
        if node.op == "get_attr":
            path, _, own = node.target.rpartition(".")
            real = getattr(gm.get_submodule(path), own)
            if "val" not in node.meta or not alike(real, node.meta["val"]):
                found.append(node.name)
        elif node.op == "call_function":
            if "val" not in node.meta:
                found.append(node.name)
                continue
            if any("val" not in read.meta for read in node.all_input_nodes):
                continue
            try:
                with env.suppress_guards() if env is not None else contextlib.nullcontext():
                    if not same(one(node), node.meta["val"]):
                        found.append(node.name)
            except Exception:
                found.append(node.name)
    return found


@right("what has to be asked cannot run")
def by_errors(gm):
    @contextlib.contextmanager
    def strict(gm):
        mode = mode_of(gm)
        env = mode.shape_env
        with mode, env.error_on_new_guards() if env is not None else contextlib.nullcontext():
            yield

    return lies(gm, around=strict)


@right("meta tensors; each symbol is a prime number of its own")
def by_primes(gm):
    primes, numbers = [101, 103, 107, 109, 113, 127, 131], {}

    def number(size):
        if isinstance(size, int):
            return size
        expr = size.node.expr
        for symbol in sorted(expr.free_symbols, key=str):
            numbers.setdefault(symbol, primes[len(numbers)])
        return int(expr.subs(numbers))

    def meta(value):
        if isinstance(value, torch.Tensor):
            strides = [number(s) for s in value.stride()]
            return torch.empty_strided(
                [number(s) for s in value.shape], strides, dtype=value.dtype, device="meta"
            )
        return number(value) if isinstance(value, torch.SymInt) else value

    def as_meta(value):
        return pytree.tree_map(meta, value)

    names = []
    for node in gm.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        reads = node.all_input_nodes
        if "val" not in node.meta:
            names += [node.name]
        elif all("val" in read.meta for read in reads):
            vals = {read: as_meta(read.meta["val"]) for read in reads}
            try:
                if node.op == "get_attr":
                    real = operator.attrgetter(node.target)(gm)
                else:
                    args, kwargs = fx.node.map_arg((node.args, node.kwargs), vals.__getitem__)
                    if "device" in kwargs:
                        kwargs = {**kwargs, "device": "meta"}
                    with torch.device("meta"):
                        real = node.target(*args, **kwargs)
            except Exception:
                names += [node.name]
                continue
            said, real = (tensors_in(v) for v in (as_meta(node.meta["val"]), real))
            facts = [[(t.dtype, t.shape) for t in each] for each in (said, real)]
            if facts[0] != facts[1]:
                names += [node.name]
    return names


# ------------------------------------------------------------------ wrong


@wrong("all from the inputs", "too-many", clause="local")
def from_the_inputs(gm):
    """A true node after a lie is true, and one that agrees with a lie is a lie."""

    class Noting(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            seen[n] = value
            return value

    seen, mode = {}, mode_of(gm)
    given = [n.meta.get("val") for n in gm.graph.nodes if n.op == "placeholder"]
    with quietly(gm):
        interpreter = Noting(gm)
        interpreter.get_attr = lambda target, args, kwargs: mode.from_tensor(
            operator.attrgetter(target)(gm)
        )
        try:
            interpreter.run(*given)
        except Exception:
            return lies(gm)
    return [
        n.name
        for n in gm.graph.nodes
        if n.op not in ("placeholder", "output") and not same(seen[n], n.meta.get("val"))
    ]


@wrong("the readers of a lie are not judged", "missed", clause="behind")
def not_behind(gm):
    found = []

    def judged(node):
        return inputs_known(node) and not any(read.name in found for read in node.all_input_nodes)

    def noting(node):
        found.append(node.name)
        return node.name

    return lies(gm, judged=judged, name=noting)


@wrong("only the first lie", "missed", clause="every")
def only_first(gm):
    return lies(gm)[:1]


@wrong("only shapes", "missed", clause="dtype")
def only_shapes(gm):
    return lies(gm, same=lambda a, b: same(a, b, lambda x, y: known(x.shape, y.shape)))


@wrong("only dtypes", "missed", clause="shape")
def only_dtypes(gm):
    return lies(gm, same=lambda a, b: same(a, b, lambda x, y: x.dtype == y.dtype))


@wrong("strides are compared", "too-many", clause="not-compared")
def with_strides(gm):
    def like(x, y):
        return alike(x, y) and known(x.stride(), y.stride())

    return lies(gm, same=lambda a, b: same(a, b, like))


@wrong("numbers are compared", "too-many", clause="not-compared")
def with_numbers(gm):
    def equal(found, said):
        pairs = zip(pytree.tree_leaves(found), pytree.tree_leaves(said), strict=False)
        plain = all(a == b for a, b in pairs if isinstance(a, int) and isinstance(b, int))
        return plain and same(found, said)

    return lies(gm, same=equal)


@wrong("lists are no tuples", "too-many", clause="containers")
def with_types(gm):
    def equal(found, said):
        return same(found, said) and type(found) in (FakeTensor, type(said), nn.Parameter)

    return lies(gm, same=equal)


@wrong("== in a condition", "guard-added", clause="no-guard")
def compared(gm):
    def like(x, y):
        return x.dtype == y.dtype and x.shape == y.shape

    return lies(gm, same=lambda a, b: same(a, b, like))


@wrong("hints are compared", "missed", clause="known")
def by_hints(gm):
    def hint(size):
        return size if isinstance(size, int) else size.node.hint

    def like(x, y):
        return x.dtype == y.dtype and [*map(hint, x.shape)] == [*map(hint, y.shape)]

    return lies(gm, same=lambda a, b: same(a, b, like))


@wrong("symbols are never the same", "too-many", clause="known-same")
def never_the_same(gm):
    def like(x, y):
        plain = all(type(size) is int for size in (*x.shape, *y.shape))
        return x.dtype == y.dtype and plain and x.shape == y.shape

    return lies(gm, same=lambda a, b: same(a, b, like))


@wrong("what cannot run is no lie", "missed", clause="cannot-run")
def failures_pass(gm):
    return lies(gm, fails=False)


@wrong("only the first result", "missed", clause="results")
def first_result(gm):
    return lies(gm, same=lambda a, b: same(tensors_in(a)[:1], tensors_in(b)[:1]))


@wrong("as many results as both have", "missed", clause="number")
def any_number(gm):
    def equal(found, said):
        return all(map(alike, tensors_in(found), tensors_in(said)))

    return lies(gm, same=equal)


@wrong("attributes with a val are believed", "missed", clause="attributes")
def believes_attributes(gm):
    return lies(gm, attribute=lambda gm, node: node.meta["val"])


@wrong("attributes lie nowhere deeper", "too-many", clause="paths")
def flat_attributes(gm):
    return lies(gm, attribute=lambda gm, node: getattr(gm, node.target))


@wrong("without a val is no lie", "missed", clause="without")
def without_passes(gm):
    return lies(gm, without=False)


@wrong("who reads one without a val is listed", "too-many", clause="cannot-judge")
def readers_too(gm):
    return lies(gm, judged=lambda node: True)


@wrong("false inputs are listed", "too-many", clause="placeholders")
def false_inputs(gm):
    odd = [
        n.name
        for n in gm.graph.nodes
        if n.op == "placeholder" and "val" in n.meta and n.meta["val"].dtype != torch.float32
    ]
    return odd + lies(gm)


@wrong("sorted by name", "wrong-order", clause="order")
def by_name(gm):
    return sorted(lies(gm), reverse=True)


@wrong("nodes in place of names", "wrong-kind", clause="list")
def nodes(gm):
    return lies(gm, name=lambda node: node)


@wrong("puts right what is wrong", "meta-changed", clause="unchanged")
def repairs(gm):
    def equal(found, said):
        return same(found, said)

    found = lies(gm, same=equal)
    for node in gm.graph.nodes:
        if node.name in found and node.op == "call_function" and inputs_known(node):
            with contextlib.suppress(Exception), quietly(gm):
                node.meta["val"] = called(node)
    return found


@wrong("keyword arguments are forgotten", "too-many", clause="keywords")
def no_keywords(gm):
    def call(node):
        return node.target(*fx.node.map_arg(node.args, lambda n: n.meta["val"]))

    return lies(gm, call=call)


@wrong("operators may add guards", "guard-added", clause="no-guard")
def not_suppressed(gm):
    return lies(gm, around=mode_of)


@wrong("the mode stays entered", "mode-left", clause="unchanged")
def stays_entered(gm):
    mode_of(gm).__enter__()
    return lies(gm)


RANDOM_MODELS_ARE_READ = (
    "its answers read a graph that may have values of terabytes, and do not run it"
)
