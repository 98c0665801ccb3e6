"""Bugs of exported programs, and of passes that trace their input themselves."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx
from torch.fx.experimental import merge_matmul, normalize

from hunts.bug import Bug, Variant, returning
from hunts.known.fixes import has_effect, instead, nodes_are

# In `torch.export`, this name refers to a function.
unflatten = importlib.import_module("torch.export.unflatten")


def _roots_noted() -> Any:
    """Record the root module in each node, as other programs do."""

    def make(original: Any) -> Any:
        def fixed(graph: fx.Graph) -> None:
            for node in graph.nodes:
                stack = node.meta.get("nn_module_stack")
                if stack and all(path for path, _ in stack.values()):
                    node.meta["nn_module_stack"] = {"L__self__": ("", None), **stack}
            original(graph)

        return fixed

    return instead(unflatten, "_fix_nn_module_stacks", make)


_SIZED = (torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn)


def _sizes_stay() -> Any:
    """Leave sizes unchanged that are passed one by one."""

    def make(original: Any) -> Any:
        def normalized(target: Any, args: Any, *more: Any, **kwargs: Any) -> Any:
            if target in _SIZED and args and not isinstance(args[0], (list, tuple)):
                return None
            return original(target, args, *more, **kwargs)

        return normalized

    return instead(normalize, "normalize_function", make)


def _merges_nothing_over_effects() -> Any:
    def make(original: Any) -> Any:
        def merged(model: Any) -> Any:
            gm = fx.symbolic_trace(model)
            return gm if nodes_are(gm, has_effect) else original(model)

        return merged

    return instead(merge_matmul, "merge_matmul", make)


@contextmanager
def _sorts_the_same_graph() -> Iterator[None]:
    """Sort the nodes without making a new graph."""

    def make(original: Any) -> Any:
        def sorted_in_place(gm: fx.GraphModule) -> fx.GraphModule:
            left, done = list(gm.graph.nodes), []
            while left:
                first = next(n for n in left if not set(n.all_input_nodes) & set(left))
                left.remove(first)
                done.append(first)
            for before, after in zip(done, done[1:], strict=False):
                before.append(after)
            return gm

        return sorted_in_place

    with instead(merge_matmul, "legalize_graph", make):
        yield


BUGS = (
    Bug(
        name="normalized-sizes",
        title="after `NormalizeArgs`, `torch.zeros(n)` cannot be run",
        suspects=("NormalizeArgs",),
        code=returning("torch.zeros(x.size(0))"),
        inputs="x = torch.ones(2)",
        change="NormalizeArgs(gm).transform()",
        imports="from torch.fx.experimental.normalize import NormalizeArgs",
        variants=(Variant(code=returning("torch.ones(x.size(0))")),),
        why="Arguments get the names of the schema, which has a list called `size`. A size that is "
        "given by itself becomes `size=n`, which no `torch.zeros` takes.",
        file="fx/operator_schemas.py",
        line="matched_schemas[0], args, kwargs, normalize_to_only_use_kwargs",
        instead="Write sizes as a list: `torch.zeros([n])`.",
        raises=True,
        fix=_sizes_stay,
    ),
    Bug(
        name="merged-over-a-write",
        title="`merge_matmul` computes a product after its input was changed",
        suspects=("merge_matmul",),
        code="""
class Model(nn.Module):
    def forward(self, x, w):
        y = torch.matmul(x, w)
        x.mul_(10)
        return y, torch.matmul(x, w)
""",
        inputs="x, w = torch.ones(1, 1), torch.ones(1, 1)",
        change="merge_matmul(gm)",
        show="f(x, w)",
        imports="from torch.fx.experimental.merge_matmul import merge_matmul",
        why="Products with the same right side become one, at the end of the graph. What was "
        "written to a left side in between is in all of them.",
        file="fx/experimental/merge_matmul.py",
        line="lhs_vals = [mm.args[0] for mm in mms]",
        instead="Do not use it on graphs in which something is written.",
        fix=_merges_nothing_over_effects,
    ),
    Bug(
        name="merged-twice",
        title="`merge_matmul` cannot merge two groups of products",
        suspects=("merge_matmul",),
        code="""
class Model(nn.Module):
    def forward(self, x, v, w):
        left = torch.matmul(x, v) + torch.matmul(2 * x, v)
        return left + torch.matmul(x, w) + torch.matmul(2 * x, w)
""",
        inputs="x = v = w = torch.ones(1, 1)",
        change="merge_matmul(gm)",
        show="f(x, v, w)",
        imports="from torch.fx.experimental.merge_matmul import merge_matmul",
        why="After each group the graph is sorted, which makes a new graph. The nodes of the "
        "second group are those of the old one.",
        file="fx/experimental/merge_matmul.py",
        line="legalize_graph(gm)",
        instead="Merge by hand; chapter 10b has an exercise about it.",
        raises=True,
        fix=_sorts_the_same_graph,
    ),
    Bug(
        name="unflattened-trace",
        title="`unflatten` of an exported trace returns a part of the input",
        suspects=("unflatten of a trace",),
        code="""
class Model(nn.Sequential):
    def __init__(self):
        super().__init__(nn.ReLU())
""",
        inputs="x = torch.tensor([[-1.0, 2.0]])",
        change="unflatten(export(gm, (x,)))",
        imports="from torch.export import export, unflatten",
        why="Each node records the modules that it belongs to, from the root down. `unflatten` "
        "builds its modules from these records. The nodes of a traced graph module record them "
        "without the root, and the exported program copies that. So the root has no nodes of "
        "its own. It returns its input, split along the first dimension.",
        file="export/unflatten.py",
        line="if node_module_stack[:depth] != self.module_stack:",
        cure="unflatten(export(model, (x,)))",
        instead="Export the model itself, and not its trace.",
        fix=_roots_noted,
    ),
)
