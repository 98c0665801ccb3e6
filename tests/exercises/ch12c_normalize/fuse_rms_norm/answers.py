"""Answers to `fuse_rms_norm`."""

from __future__ import annotations

import torch
from torch import fx
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

import autograder.given  # noqa: F401 - its import registers the operator
from tests.exercises import right, wrong

aten = torch.ops.aten

BEYOND = {
    "a sum is a mean": "random models have no such sums",
}
"""Wrong answers that random models cannot find, with the reason."""


@right("from each root to the square, and forward again", debrief=True)
def from_the_root(gm):
    aten, low = torch.ops.aten, (torch.float16, torch.bfloat16)

    def dtype(node):
        return node.meta["val"].dtype

    def uncast(node):
        """The half-precision input of a float32 node, if it is a cast; otherwise the node."""
        cast = node.target is aten._to_copy.default and dtype(node) is torch.float32
        return node.args[0] if cast and dtype(node.args[0]) in low else node

    def factors(square):
        if square.target is aten.pow.Tensor_Scalar and square.args[1] == 2:
            return {uncast(square.args[0])}
        if square.target is aten.mul.Tensor and all(isinstance(a, fx.Node) for a in square.args):
            return {*map(uncast, square.args)}
        return set()

    def under(root):
        """The squared value under a root, and eps; each step has one reader."""
        add = root.args[0]
        mean = add.args[0] if add.target is aten.add.Tensor else root
        if mean.target is not aten.mean.dim or type(add.args[1]) is not float:
            return set(), None
        square, dims, *keepdim = mean.args
        alone = all(len(step.users) == 1 for step in (root, add, mean, square))
        last = list(dims) in ([-1], [square.meta["val"].ndim - 1])
        return (factors(square), add.args[1]) if alone and last and keepdim else (set(), None)

    def other(product, factor):
        """The other factor of a product, if it is one and that is a node."""
        if product.target is aten.mul.Tensor and product.args[0] is not product.args[1]:
            found = product.args[product.args[0] is factor]
            return found if isinstance(found, fx.Node) else None
        return None

    count = 0
    for root in gm.graph.find_nodes(op="call_function", target=aten.rsqrt.default):
        squared, eps = under(root)
        last = next(iter(root.users))
        wide = other(last, root) if squared else None
        if wide is None or dtype(wide) is not torch.float32 or squared != {uncast(wide)}:
            continue
        (x,) = squared
        if x is not wide:
            reader, *more = last.users
            cast = reader.target is aten._to_copy.default and dtype(reader) is dtype(x)
            if more or not cast:
                continue  # not cast back
            last = reader
        weight = None
        if len(last.users) == 1:
            (reader,) = last.users
            weight = other(reader, last)
            val = weight.meta["val"] if weight else None
            if val is not None and val.shape == last.meta["val"].shape[-1:]:
                weight, last = (weight, reader) if val.dtype is dtype(x) else (None, last)
            else:
                weight = None
        with gm.graph.inserting_before(last):
            new = gm.graph.call_function(torch.ops.fxcourse.rms_norm.default, (x, weight, eps))
        new.meta["val"] = last.meta["val"]
        last.replace_all_uses_with(new)
        count += 1
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return count


# ------------------------------------------------------------------ a small matcher


class Any:
    """Matches anything, but the same thing for each use of its name."""

    def __init__(self, name, check=lambda value: True):
        self.name, self.check = name, check


class Call:
    """Matches a call; a product in either order. Only the last step may have other readers."""

    def __init__(self, target, *args, readers=1):
        self.target, self.args, self.readers = target, args, readers


def matches(pattern, value, known):
    """The names for each match of a pattern."""
    if isinstance(pattern, list):
        for each in pattern:
            yield from matches(each, value, known)
    elif isinstance(pattern, Any):
        if pattern.name in known:
            if known[pattern.name] is value or known[pattern.name] == value:
                yield known
        elif pattern.check(value):
            yield {**known, pattern.name: value}
    elif isinstance(pattern, Call):
        if isinstance(value, fx.Node) and value.target is pattern.target:
            if pattern.readers in (0, len(value.users)) and len(value.args) == len(pattern.args):
                orders = [value.args]
                if pattern.target is aten.mul.Tensor:
                    orders.append(value.args[::-1])
                for args in orders:
                    yield from all_match(pattern.args, args, known)
    elif type(pattern) is type(value) and pattern == value:
        yield known


def all_match(patterns, values, known):
    if not patterns:
        yield known
        return
    for found in matches(patterns[0], values[0], known):
        yield from all_match(patterns[1:], values[1:], found)


def is_node(value):
    return isinstance(value, fx.Node)


def norm_of(x):
    """The pattern of a norm, up to the product."""
    mul, square = aten.mul.Tensor, [Call(aten.pow.Tensor_Scalar, x, 2), Call(aten.mul.Tensor, x, x)]
    mean = Call(aten.mean.dim, square, Any("dims"), True)
    total = Call(aten.add.Tensor, mean, Any("eps", lambda value: isinstance(value, float)))
    return Call(mul, x, Call(aten.rsqrt.default, total), readers=0)


@right("a small matcher, in which products have two orders")
def by_a_matcher(gm):
    count = 0
    wide = norm_of(Any("x", is_node))
    inside = norm_of(Call(aten._to_copy.default, Any("x", is_node), readers=0))
    inside.readers = 1
    low = Call(aten._to_copy.default, inside, readers=0)
    weighted = [Call(aten.mul.Tensor, Any("weight", is_node), each, readers=0)
                for each in (once(wide), once(low))]  # fmt: skip
    for node in reversed(gm.graph.nodes):  # the product with a weight comes before the norm itself
        for pattern in (*weighted, low, wide):
            found = next((m for m in matches(pattern, node, {}) if sound(node, m, pattern)), None)
            if found:
                with gm.graph.inserting_before(node):
                    new = gm.graph.create_node(
                        "call_function",
                        torch.ops.fxcourse.rms_norm.default,
                        (found["x"],),
                        {"weight": found.get("weight"), "eps": found["eps"]},
                    )
                new.meta.update(node.meta)
                node.replace_all_uses_with(new)
                gone(gm.graph, node)
                count += 1
                break
    gm.recompile()
    return count


def once(call):
    return Call(call.target, *call.args)


def sound(node, found, pattern):
    """Whether the shapes and dtypes of a match fit."""
    x = found["x"].meta["val"]
    if list(found["dims"]) not in ([-1], [x.ndim - 1]):
        return False
    if node.meta["val"].dtype != x.dtype:
        return False
    if "weight" in found:
        weight = found["weight"].meta["val"]
        if weight.shape != x.shape[-1:] or weight.dtype != x.dtype:
            return False
    steps = steps_to(node, found["x"], found.get("weight"))
    casts = [n for n in steps if n.target is aten._to_copy.default]
    if not casts:
        return x.dtype is torch.float32
    return x.dtype in (torch.half, torch.bfloat16) and all(
        n.meta["val"].dtype is torch.float32 for n in casts if n.args[0] is found["x"]
    )


def steps_to(node, x, weight):
    """The nodes between a norm and its input; the computation of the weight is not a step."""
    seen, todo = set(), [node]
    while todo:
        step = todo.pop()
        if step not in (x, weight) and step not in seen and step.op == "call_function":
            seen.add(step)
            if step.target is not aten._to_copy.default or x not in step.args:
                todo += step.all_input_nodes
            if len(seen) > 12:
                break
    return seen


def gone(graph, node):
    """Erase an unread node, and then its inputs."""
    read = node.all_input_nodes
    graph.erase_node(node)
    for each in read:
        if not each.users and each.op == "call_function":
            gone(graph, each)


# ------------------------------------------------------------------ PyTorch's matcher


@right("one spelling in a copy, where PyTorch's matcher finds the norms")
def matched_in_a_copy(gm):
    of_copy, graph = {}, fx.Graph()
    graph.output(graph.graph_copy(gm.graph, of_copy))
    original = {copied: node for node, copied in of_copy.items()}
    for node, copied in of_copy.items():
        copied.meta = dict(node.meta)
    casts = {}
    for node in list(graph.nodes):
        val = node.meta.get("val")
        if node.target is aten._to_copy.default:
            key = node.args[0], val.dtype
            casts.setdefault(key, node)
            if val.dtype is torch.float32:
                node.replace_all_uses_with(casts[key])
        elif node.target is aten.mul.Tensor and node.args[0] is node.args[1]:
            node.target, node.args = aten.pow.Tensor_Scalar, (node.args[0], 2)
        elif node.target is aten.mul.Tensor and is_root(node.args[1]):
            node.args = node.args[::-1]
        elif node.target is aten.mean.dim:
            ndim = node.args[0].meta["val"].ndim
            node.args = (node.args[0], [d - ndim if d >= 0 else d for d in node.args[1]],
                         *node.args[2:])  # fmt: skip

    pattern = fx.symbolic_trace(
        lambda x, dims, eps, power: aten.mul.Tensor(
            aten.rsqrt.default(
                aten.add.Tensor(aten.mean.dim(aten.pow.Tensor_Scalar(x, power), dims, True), eps)
            ),
            x,
        )
    ).graph
    now, count = {}, 0  # the replacement of each node of the graph
    graph.eliminate_dead_code()
    for match in SubgraphMatcher(pattern).match(graph):
        (product,) = match.returning_nodes
        (add,) = product.args[0].args
        (mean, eps) = add.args
        (square, dims, _) = mean.args
        wide = product.args[1]
        if list(dims) != [-1] or square.args[1] != 2 or type(eps) is not float:
            continue
        if wide.meta["val"].dtype is not torch.float32 or square.args[0] is not wide:
            continue
        wide = original[wide]
        count += fused_at(gm.graph, original[product], now.get(wide, wide), eps, now)
    gm.graph.eliminate_dead_code()
    gm.graph.lint()
    gm.recompile()
    return count


def is_root(value):
    return isinstance(value, fx.Node) and value.target is aten.rsqrt.default


def fused_at(graph, product, wide, eps, now):
    """Replace a norm with a known product by one call."""
    x, last = wide, product
    if wide.target is aten._to_copy.default and wide.args[0].meta["val"].dtype.itemsize == 2:
        back = list(product.users)
        dtype = wide.args[0].meta["val"].dtype
        if len(back) == 1 and back[0].target is aten._to_copy.default:
            if back[0].meta["val"].dtype is dtype:
                x, (last,) = wide.args[0], back
    weight = None
    readers = list(last.users)
    if len(readers) == 1 and readers[0].target is aten.mul.Tensor:
        left, right_ = readers[0].args
        other = right_ if left is last else left
        if isinstance(other, fx.Node) and other is not last:
            mine, theirs = x.meta["val"], other.meta["val"]
            if theirs.ndim == 1 and len(theirs) == mine.shape[-1] and theirs.dtype == mine.dtype:
                weight, last = other, readers[0]
    with graph.inserting_after(last):
        new = graph.call_function(torch.ops.fxcourse.rms_norm.default, (x,))
    new.kwargs = {"eps": eps, "weight": weight}
    vals = fx.map_arg((new.args, new.kwargs), lambda n: n.meta["val"])
    new.meta["val"] = new.target(*vals[0], **vals[1])
    last.replace_all_uses_with(new)
    now[last] = new
    return 1


# ------------------------------------------------------------------ expressions


@right("each value as an expression, taken apart by a match statement, and a new graph")
def by_expressions(gm):
    tree, readers = {}, {}
    for node in gm.graph.nodes:
        tree[node] = (str(node.target), *node.args) if node.op == "call_function" else ("", node)
        for read in node.all_input_nodes:
            readers.setdefault(read, []).append(node)

    def deep(value, depth=6):
        """The expression of a value; steps with other readers stay nodes."""
        if not isinstance(value, fx.Node):
            return list(value) if isinstance(value, list) else value
        name, *args = tree[value]
        if name == "aten._to_copy.default" and value.meta["val"].dtype is torch.float32:
            if args[0].meta["val"].dtype in (torch.float16, torch.bfloat16):
                return ("wide", args[0])
        if depth == 0 or not name or len(readers.get(value, ())) != 1:
            return value
        return (name, *(deep(arg, depth - 1) for arg in args))

    def last_dim(node, dims):
        return dims in ([-1], [node.meta["val"].ndim - 1])

    def norm(node):
        """The input and eps of the norm whose product this is: `x`, or a cast of it."""
        name, *args = tree[node]
        if name != "aten.mul.Tensor" or not all(isinstance(arg, fx.Node) for arg in args):
            return None
        for factor, root in (args, args[::-1]):
            match deep(root):
                case ("aten.rsqrt.default", ("aten.add.Tensor", tuple(mean), float(eps))):
                    square, dims = mean[1:3] if mean[::3] == ("aten.mean.dim", True) else (0, 0)
                    x = deep(factor, 0)
                    same = square in (("aten.pow.Tensor_Scalar", x, 2), ("aten.mul.Tensor", x, x))
                    if same and last_dim(factor, dims) and root is not factor:
                        if factor.meta["val"].dtype is torch.float32:
                            return factor, x, eps
        return None

    takes = {}
    for node in gm.graph.nodes:
        found = norm(node) if node.op == "call_function" else None
        if not found:
            continue
        factor, x, eps = found
        if isinstance(x, tuple):
            (back, *more) = readers[node]
            low = x[1].meta["val"].dtype
            name = tree[back][0] if back in tree else ""
            if not more and name == "aten._to_copy.default" and back.meta["val"].dtype is low:
                x, node = x[1], back
            else:
                x = factor
        weight = None
        if len(readers.get(node, ())) == 1:
            (reader,) = readers[node]
            if tree[reader][0] == "aten.mul.Tensor":
                others = [a for a in reader.args if a is not node]
                if others and isinstance(others[0], fx.Node):
                    shape = tuple(node.meta["val"].shape)[-1:]
                    val = others[0].meta["val"]
                    if (tuple(val.shape), val.dtype) == (shape, x.meta["val"].dtype):
                        node, weight = reader, others[0]
        takes[node] = (x, weight, eps)

    graph, new = fx.Graph(), {}
    needed, todo = set(), [next(n for n in gm.graph.nodes if n.op == "output")]
    while todo:
        node = todo.pop()
        if node not in needed:
            needed.add(node)
            given = takes.get(node, ())
            todo += [n for n in given if isinstance(n, fx.Node)] if given else node.all_input_nodes
    count = 0
    for node in gm.graph.nodes:
        if node.op != "placeholder" and node not in needed:
            continue
        if node in takes:
            x, weight, eps = takes[node]
            weight = None if weight is None else new[weight]
            op = torch.ops.fxcourse.rms_norm.default
            new[node] = graph.call_function(op, (new[x], weight, eps))
            count += 1
        else:
            new[node] = graph.node_copy(node, new.__getitem__)
        new[node].meta = dict(node.meta)
    gm.graph = graph
    gm.recompile()
    return count


# ------------------------------------------------------------------ Inductor


@right("Inductor's pattern matcher, with a pattern for each spelling")
def by_inductor(gm):
    from torch._inductor.pattern_matcher import (
        MULTIPLE,
        CallFunction,
        KeywordArg,
        PatternMatcherPass,
        register_graph_pattern,
    )

    aten, low, fused = torch.ops.aten, (torch.float16, torch.bfloat16), []

    def value():
        return KeywordArg("x")

    def cast():
        return CallFunction(aten._to_copy.default, value(), dtype=torch.float32, _users=MULTIPLE)

    def products(x):
        """A maker for each spelling of the product; it takes the allowed number of readers."""
        for power in (True, False):
            for first in (True, False):

                def make(users, power=power, first=first):
                    square = (
                        CallFunction(aten.pow.Tensor_Scalar, x(), 2)
                        if power
                        else CallFunction(aten.mul.Tensor, x(), x())
                    )
                    mean = CallFunction(aten.mean.dim, square, KeywordArg("dims"), True)
                    total = CallFunction(aten.add.Tensor, mean, KeywordArg("eps"))
                    pair = (x(), CallFunction(aten.rsqrt.default, total))
                    return CallFunction(
                        aten.mul.Tensor, *(pair if first else pair[::-1]), _users=users
                    )

                yield make

    def norms():
        yield from products(value)
        for make in products(cast):
            for names in (("dtype",), ("dtype", "device"), ("dtype", "layout", "device")):
                yield lambda users, make=make, names=names: CallFunction(
                    aten._to_copy.default,
                    make(1),
                    **{name: KeywordArg(name) for name in names},
                    _users=users,
                )

    def fits(match):
        x, weight = match.kwargs["x"].meta["val"], match.kwargs.get("weight")
        casts = any(node.target is aten._to_copy.default for node in match.nodes)
        if list(match.kwargs["dims"]) not in ([-1], [x.ndim - 1]) or casts != (x.dtype in low):
            return False
        if "weight" in match.kwargs:
            val = getattr(weight, "meta", {}).get("val", torch.empty(0, 0))
            if val.shape != x.shape[-1:] or val.dtype != x.dtype:
                return False
        right_out = match.output_node().meta["val"].dtype is x.dtype
        return right_out and isinstance(match.kwargs["eps"], float)

    def handler(match, x, eps, weight=None, **others):
        node = match.output_node()
        with match.graph.inserting_before(node):
            new = match.graph.call_function(torch.ops.fxcourse.rms_norm.default, (x, weight, eps))
        new.meta["val"] = node.meta["val"]
        node.replace_all_uses_with(new)
        match.erase_nodes()
        fused.append(new)

    stages = [PatternMatcherPass(), PatternMatcherPass()]
    for norm in norms():
        for pair in ((KeywordArg("weight"), norm(1)), (norm(1), KeywordArg("weight"))):
            pattern = CallFunction(aten.mul.Tensor, *pair, _users=MULTIPLE)
            register_graph_pattern(pattern, extra_check=fits, pass_dict=stages[0])(handler)
        register_graph_pattern(norm(MULTIPLE), extra_check=fits, pass_dict=stages[1])(handler)
    for stage in stages:
        stage.apply(gm.graph)
    gm.recompile()
    return len(fused)


# ------------------------------------------------------------------ wrong in one step

LOW = (torch.float16, torch.bfloat16)
STEPS = ("root", "add", "mean", "square")


def dtype_of(node):
    return node.meta["val"].dtype


def val_of(node):
    return node.meta["val"]


def fits_as_weight(weight, x):
    mine, theirs = val_of(x), val_of(weight)
    return theirs.shape == mine.shape[-1:] and theirs.dtype is mine.dtype


def is_float(eps):
    return type(eps) is float


def fuse(
    gm,
    *,
    squares=("pow", "mul"),
    power=lambda exponent: exponent == 2,
    means=(torch.ops.aten.mean.dim,),
    same=lambda factors, x: set(factors) == {x},
    dims=lambda dims, ndim: list(dims) in ([-1], [ndim - 1]),
    eps_is=is_float,
    eps_of=lambda eps: eps,
    single=STEPS,
    root_at=(0, 1),
    low=LOW,
    casts=lambda wides: True,
    outer=lambda x, source: x is source,
    back=lambda product, x: len(product.users) == 1,
    weight_at=(0, 1),
    weight_is=fits_as_weight,
    weight_readers=lambda last: len(last.users) == 1,
    insert=lambda graph, product, last: graph.inserting_before(last),
    call=None,
    val=lambda new, last, root: val_of(last),
    stop=lambda count: False,
    swallow=True,
    clean=lambda gm, last, root: gm.graph.eliminate_dead_code(),
    recompile=True,
    result=lambda gm, count, before: count,
):
    """The structure of most answers; each step can be replaced."""
    aten, count = torch.ops.aten, 0
    op = torch.ops.fxcourse.rms_norm.default
    before = [n for n in gm.graph.nodes if n.op == "call_function"]

    def source(node):
        cast = node.target is aten._to_copy.default and dtype_of(node) is torch.float32
        return node.args[0] if cast and dtype_of(node.args[0]) in low else node

    for root in [n for n in before if n.target is aten.rsqrt.default]:
        add = root.args[0]
        if add.target is not aten.add.Tensor or not eps_is(add.args[1]) or stop(count):
            continue
        mean = add.args[0]
        if mean.target not in means or mean.args[2:] != (True,):
            continue
        square = mean.args[0]
        if not isinstance(square, fx.Node) or not dims(mean.args[1], val_of(square).ndim):
            continue
        if square.target is aten.pow.Tensor_Scalar and power(square.args[1]):
            kind, factors = "pow", (square.args[0],)
        elif square.target is aten.mul.Tensor:
            kind, factors = "mul", square.args
        else:
            continue
        parts = dict(zip(STEPS, (root, add, mean, square), strict=True))
        if kind not in squares or any(len(parts[name].users) != 1 for name in single):
            continue
        product = next((u for u in root.users if u.target is aten.mul.Tensor), None)
        if product is None or product.args.index(root) not in root_at:
            continue
        wide = product.args[1 - product.args.index(root)]
        if not isinstance(wide, fx.Node) or not all(isinstance(f, fx.Node) for f in factors):
            continue
        x, last = source(wide), product
        if wide is root or dtype_of(wide) is not torch.float32 or not casts((wide, *factors)):
            continue
        if not same([source(f) for f in factors], x) or not outer(x, source(factors[0])):
            continue
        if x is not wide:
            if not back(product, x):
                continue
            reader = next(iter(product.users))
            cast = reader.target is aten._to_copy.default
            if cast and dtype_of(reader) is dtype_of(x) and swallow:
                last = reader
            elif swallow and back is from_the_cast:
                pass
            elif swallow:
                continue
            else:
                x = wide
        weight = None
        if weight_readers(last) and last.users:
            reader = next(iter(last.users))
            if reader.target is aten.mul.Tensor and reader.args[0] is not reader.args[1]:
                at = 1 - reader.args.index(last)
                other = reader.args[at]
                if at in weight_at and (weight_is is anything or isinstance(other, fx.Node)):
                    if weight_is(other, x):
                        weight, last = other, reader
        with insert(gm.graph, product, last):
            new = gm.graph.call_function(op, (x, weight, eps_of(add.args[1])))
            if call is not None:
                new.target = call
        made = val(new, last, root)
        if made is not None:
            new.meta["val"] = made
        last.replace_all_uses_with(new, delete_user_cb=lambda user, new=new: user is not new)
        count += 1
        clean(gm, last, root)
    if recompile:
        gm.recompile()
    return result(gm, count, before)


def anything(weight, x):
    """Accept any factor as a weight, even a number."""
    return True


def from_the_cast(product, x):
    """Do not check whether the product is cast back."""
    return True


def calls_in(gm):
    op = torch.ops.fxcourse.rms_norm.default
    return len(gm.graph.find_nodes(op="call_function", target=op))


def put(style, finding, clause, **how):
    """Mark a wrong answer that differs in one step."""
    wrong(style, finding, clause=clause)(lambda gm: fuse(gm, **how))


def without(name):
    return tuple(step for step in STEPS if step != name)


put("powers of two alone", "missed", "square", squares=("pow",))
put("the last dimension is -1", "missed", "written", dims=lambda dims, ndim: dims == [-1])
put("any dimensions", "too-many", "alone", dims=lambda dims, ndim: True)
put("the value comes before the root", "missed", "factors", root_at=(1,))
put("float32 alone", "missed", "low", low=())
put("one cast for all uses", "missed", "casts", casts=lambda wides: len(set(wides)) == 1)
put("the cast stays", "wrong-x", "cast-back", swallow=False)
put("without a look at the cast", "not-cast-back", "not-cast-back", back=from_the_cast)
put("the weight stays outside", "wrong-weight", "weight", weight_at=())
put("a second reader is not seen", "wrong-weight", "only-reader",
    weight_readers=lambda last: True)  # fmt: skip
put("a weight of any shape", "wrong-weight", "weight-shape",
    weight_is=lambda w, x: dtype_of(w) is dtype_of(x) and val_of(w).shape[-1] == val_of(x).shape[-1]
    )  # fmt: skip
put("a weight of any dtype", "wrong-weight", "dtype",
    weight_is=lambda w, x: val_of(w).shape == val_of(x).shape[-1:])  # fmt: skip
put("any factor is a weight", "wrong-arguments", "another-factor", weight_is=anything)
put("always the same eps", "wrong-eps", "eps", eps_of=lambda eps: 1e-6)
put("an eps of any kind", "wrong-arguments", "float", eps_is=lambda eps: True)
put("the root may be read", "too-many", "inner-read", single=without("root"))
put("a sum is a mean", "too-many", "rest", means=(aten.mean.dim, aten.sum.dim_IntList))
put("any power", "too-many", "powers", power=lambda exponent: True)
put("whatever is multiplied", "too-many", "two-values",
    same=lambda factors, x: len({*factors}) == 1, outer=lambda x, source: True)  # fmt: skip
put("no val", "wrong-val", "val", val=lambda new, last, root: None)
put("nothing is erased", "left-behind", "gone", clean=lambda gm, last, root: None)
put("not recompiled", "stale-code", "recompiled", recompile=False)
put("the first one alone", "missed", "every", stop=lambda count: count == 1)
put("where the product is", "crashed", "common.lint",
    insert=lambda graph, product, last: graph.inserting_before(product))  # fmt: skip
put("the packet", "wrong-target", "operator", call=torch.ops.fxcourse.rms_norm)
put("all calls are counted", "wrong-count", "count", result=lambda gm, count, before: calls_in(gm))


@wrong("the mean may be read", "too-many", clause="inner-read")
def mean_may_be_read(gm):
    return fuse(gm, single=without("mean"))


@wrong("works on a copy", "missed", clause="in-place")
def on_a_copy(gm):
    import copy

    return fuse(copy.deepcopy(gm))


@wrong("a new graph without its vals", "wrong-val", clause="common.gm-as-it-is")
def new_graph(gm):
    count = fuse(gm)
    gm.graph = fx.Transformer(gm).transform().graph
    gm.recompile()
    return count


@wrong("other squares, too", "other-nodes", clause="rest")
def squares_everywhere(gm):
    count = fuse(gm)
    for node in gm.graph.find_nodes(op="call_function", target=aten.mul.Tensor):
        of_a_norm = any(reader.target is aten.mean.dim for reader in node.users)
        if node.args[0] is node.args[1] and not of_a_norm:
            node.target, node.args = aten.pow.Tensor_Scalar, (node.args[0], 2)
    gm.recompile()
    return count


NOT_ON_NETWORKS = "its graphs are recorded of functions without parameters"
