"""Answers to `fuse_rms_norm`."""

from __future__ import annotations

import torch
from torch import fx

import autograder.given  # noqa: F401 - its import registers the operator
from tests.exam.answers import right, wrong

aten = torch.ops.aten


@right("from each root to the square, and forward again", debrief=True)
def from_the_root(gm):
    aten, low = torch.ops.aten, (torch.float16, torch.bfloat16)

    def dtype(node):
        return node.meta["val"].dtype

    def uncast(node):
        """What a node of float32 was before a cast from half precision."""
        if node.target is aten._to_copy.default and dtype(node) is torch.float32:
            if dtype(node.args[0]) in low:
                return node.args[0]
        return node

    def square_of(node):
        if node.target is aten.pow.Tensor_Scalar and node.args[1] == 2:
            return {node.args[0]}
        return {*node.args} if node.target is aten.mul.Tensor else {None, node}

    def inner(root):
        """What is squared under a root, and eps; each step has one reader."""
        add = root.args[0]
        mean = add.args[0]
        if add.target is not aten.add.Tensor or not isinstance(add.args[1], float):
            return None
        if mean.target is not aten.mean.dim or list(mean.args[2:]) != [True]:
            return None
        square = mean.args[0]
        last = square.meta["val"].ndim - 1
        if list(mean.args[1]) not in ([-1], [last]):
            return None
        if any(len(step.users) != 1 for step in (root, add, mean, square)):
            return None
        return square_of(square), add.args[1]

    count = 0
    for root in gm.graph.find_nodes(op="call_function", target=aten.rsqrt.default):
        found = inner(root)
        (product,) = root.users if found else (root,)
        if product.target is not aten.mul.Tensor or product.args[0] is product.args[1]:
            continue
        wide = product.args[1] if product.args[0] is root else product.args[0]
        squared, eps = found
        if not isinstance(wide, fx.Node) or dtype(wide) is not torch.float32:
            continue
        x, last = uncast(wide), product
        if {uncast(each) for each in squared if isinstance(each, fx.Node)} != {x} or None in squared:
            continue
        if x is not wide:
            readers = list(product.users)
            cast = readers[0]
            back = cast.target is aten._to_copy.default and dtype(cast) is dtype(x)
            if len(readers) != 1 or not back:
                continue  # not cast back
            last = cast
        weight = None
        if len(last.users) == 1:
            (reader,) = last.users
            if reader.target is aten.mul.Tensor and reader.args[0] is not reader.args[1]:
                other = reader.args[1] if reader.args[0] is last else reader.args[0]
                val = getattr(other, "meta", {}).get("val")
                size = last.meta["val"].shape[-1:]
                if val is not None and val.shape == size and val.dtype is dtype(x):
                    weight, last = other, reader
        with gm.graph.inserting_before(last):
            new = gm.graph.call_function(
                torch.ops.fxcourse.rms_norm.default, (x, weight, eps)
            )
        new.meta["val"] = last.meta["val"]
        last.replace_all_uses_with(new)
        count += 1
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return count
