"""Answers to `fuse_rms_norm`."""

from __future__ import annotations

import torch
from torch import fx
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

import autograder.given  # noqa: F401 - its import registers the operator
from tests.exam.answers import right, wrong

aten = torch.ops.aten


@right("from each root to the square, and forward again", debrief=True)
def from_the_root(gm):
    aten, low = torch.ops.aten, (torch.float16, torch.bfloat16)

    def dtype(node):
        return node.meta["val"].dtype

    def uncast(node):
        """What a float32 node was before it was cast from half precision."""
        cast = node.target is aten._to_copy.default and dtype(node) is torch.float32
        return node.args[0] if cast and dtype(node.args[0]) in low else node

    def factors(square):
        if square.target is aten.pow.Tensor_Scalar and square.args[1] == 2:
            return {uncast(square.args[0])}
        if square.target is aten.mul.Tensor and all(isinstance(a, fx.Node) for a in square.args):
            return {*map(uncast, square.args)}
        return set()

    def under(root):
        """What is squared under a root, and eps; each step has one reader."""
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
    """Matches anything, and the same thing wherever it has this name."""

    def __init__(self, name, check=lambda value: True):
        self.name, self.check = name, check


class Call:
    """Matches a call; a product in either order. Only the last step may have other readers."""

    def __init__(self, target, *args, readers=1):
        self.target, self.args, self.readers = target, args, readers


def matches(pattern, value, known):
    """The names that make a pattern match, in every way there is."""
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
    """What the shapes and dtypes say of a match."""
    x = found["x"].meta["val"]
    if list(found["dims"]) not in ([-1], [x.ndim - 1]):
        return False
    if node.meta["val"].dtype != x.dtype:
        return False
    if "weight" in found:
        weight = found["weight"].meta["val"]
        if weight.shape != x.shape[-1:] or weight.dtype != x.dtype:
            return False
    casts = [n for n in steps_to(node, found["x"]) if n.target is aten._to_copy.default]
    if not casts:
        return x.dtype is torch.float32
    return x.dtype in (torch.half, torch.bfloat16) and all(
        n.meta["val"].dtype is torch.float32 for n in casts if n.args[0] is found["x"]
    )


def steps_to(node, x):
    """The nodes between a norm and what it normalizes."""
    seen, todo = set(), [node]
    while todo:
        step = todo.pop()
        if step is not x and step not in seen and step.op == "call_function":
            seen.add(step)
            if step.target is not aten._to_copy.default or x not in step.args:
                todo += step.all_input_nodes
            if len(seen) > 12:
                break
    return seen


def gone(graph, node):
    """Erase a node that nobody reads, and then what it has read."""
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
    now, count = {}, 0  # what a node of the graph has become
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
    """Put one call in the place of a norm whose product is known."""
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
        """The expression of a value, with nodes where somebody else reads a step, too."""
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
        """What a product normalizes, if it is that of a norm: `x`, or a cast of it, and eps."""
        name, *args = tree[node]
        if name != "aten.mul.Tensor" or not all(isinstance(arg, fx.Node) for arg in args):
            return None
        for factor, root in (args, args[::-1]):
            match deep(root):
                case ("aten.rsqrt.default",
                      ("aten.add.Tensor", ("aten.mean.dim", square, dims, True), float(eps))):  # fmt: skip
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
        """A maker for each spelling of the product; it is told how many readers there may be."""
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
            new = match.graph.call_function(
                torch.ops.fxcourse.rms_norm.default, (x, weight, eps)
            )
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
