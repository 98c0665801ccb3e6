"""Graphs of ATen operators for `meta_lies`, with some false `meta` entries."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import T, Trial, arguments, fresh, leave_modes, modes_entered
from autograder.exercises.ch12b_metadata.models import notes_of, nothing_logged, vals_of
from autograder.models.aten_graphs import aten_graph, known_of

aten = torch.ops.aten
END = 9223372036854775807

Edit = Callable[[fx.Node], None]


# ------------------------------------------------------------------ edits of a node


def _like(node: fx.Node, **other: Any) -> torch.Tensor:
    """A fake tensor with one difference from a node's `val`, in the same mode."""
    val = node.meta["val"]
    facts = {"size": val.shape, "dtype": val.dtype, "device": val.device} | other
    with val.fake_mode:
        return torch.empty(facts["size"], dtype=facts["dtype"], device=facts["device"])


@dataclass(frozen=True)
class Size:
    """The size of another node's value, for a shape that may be symbolic."""

    name: str
    dim: int


@dataclass(frozen=True, init=False)
class Shape:
    """Sets a different shape."""

    sizes: tuple[Any, ...]

    def __init__(self, *sizes: Any) -> None:
        object.__setattr__(self, "sizes", sizes)

    def __call__(self, node: fx.Node) -> None:
        """Edit the node."""
        nodes = {each.name: each for each in node.graph.nodes}
        sizes = [
            nodes[size.name].meta["val"].shape[size.dim] if isinstance(size, Size) else size
            for size in self.sizes
        ]
        node.meta["val"] = _like(node, size=sizes)


@dataclass(frozen=True)
class Dtype:
    """Sets a different dtype."""

    dtype: torch.dtype

    def __call__(self, node: fx.Node) -> None:
        """Edit the node."""
        node.meta["val"] = _like(node, dtype=self.dtype)


def no_val(node: fx.Node) -> None:
    """Remove the `val`."""
    del node.meta["val"]


def one_less(node: fx.Node) -> None:
    """Drop the last of several results."""
    node.meta["val"] = node.meta["val"][:-1]


def one_more(node: fx.Node) -> None:
    """Repeat the last of several results."""
    val = node.meta["val"]
    node.meta["val"] = (*val, val[-1])


def as_a_list(node: fx.Node) -> None:
    """Turn several results into a list."""
    node.meta["val"] = list(node.meta["val"])


@dataclass(frozen=True)
class Part:
    """Edits one of several results."""

    place: int
    edit: Edit

    def __call__(self, node: fx.Node) -> None:
        """Edit the node."""
        parts = node.meta["val"]
        node.meta["val"] = parts[self.place]
        self.edit(node)
        now = node.meta["val"]
        node.meta["val"] = type(parts)(now if i == self.place else p for i, p in enumerate(parts))


def turned(node: fx.Node) -> None:
    """Set the same shape with other strides."""
    val = node.meta["val"]
    with val.fake_mode:
        node.meta["val"] = torch.empty(val.shape[::-1], dtype=val.dtype).permute(
            *range(val.dim() - 1, -1, -1)
        )


def elsewhere(node: fx.Node) -> None:
    """Set another device."""
    node.meta["val"] = _like(node, device="meta")


@dataclass(frozen=True)
class Number:
    """Sets another value that is not a tensor."""

    number: Any

    def __call__(self, node: fx.Node) -> None:
        """Edit the node."""
        node.meta["val"] = self.number


# ------------------------------------------------------------------ cases


@dataclass(frozen=True)
class Graphs:
    """Builds the objects of a case of ``meta_lies(gm)``.

    Attributes:
        make: builds a module whose `forward` calls ATen operators.
        inputs: inputs of the example.
        edits: edits of nodes, by name.
        symbolic: for each input, the indices of its symbolic sizes.
    """

    make: Callable[[], nn.Module]
    inputs: tuple[T, ...]
    edits: tuple[tuple[str, Edit], ...] = ()
    symbolic: tuple[tuple[int, ...], ...] = ()

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, dtype=torch.float32)
        generator = torch.Generator().manual_seed(seed + 1)
        inputs = arguments(self.inputs, generator, torch.float32)
        gm = aten_graph(model, inputs, self.symbolic or ((),) * len(inputs))
        return about(model, edited(gm, dict(self.edits)))


@dataclass(frozen=True)
class Recorded:
    """Builds the objects of a case with the graph that `make_fx` records of a model.

    Attributes:
        make: builds the model.
        inputs: inputs of the example.
        edits: edits of nodes, by name.
    """

    make: Callable[[], nn.Module]
    inputs: tuple[T, ...]
    edits: tuple[tuple[str, Edit], ...] = ()

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, dtype=torch.float32)
        generator = torch.Generator().manual_seed(seed + 1)
        gm = recorded(model, arguments(self.inputs, generator, torch.float32))
        return about(model, edited(gm, dict(self.edits)))


def recorded(model: nn.Module, inputs: tuple[Any, ...]) -> fx.GraphModule:
    """The ATen graph of a model, with fake values."""
    from torch.fx.experimental.proxy_tensor import make_fx

    record = make_fx(model, tracing_mode="fake", _allow_non_fake_inputs=True)
    with torch.no_grad():
        return record(*inputs)


def edited(gm: fx.GraphModule, edits: dict[str, Edit]) -> fx.GraphModule:
    """Edit some nodes of a graph module."""
    nodes = {node.name: node for node in gm.graph.nodes}
    for name, edit in edits.items():
        edit(nodes[name])
    return gm


def about(model: nn.Module, gm: fx.GraphModule) -> Trial:
    """The trial of a graph; its nodes get another `meta` entry as well."""
    for i, node in enumerate(gm.graph.nodes):
        node.meta["mark"] = f"made as number {i}"
    return Trial(args=(Asked(gm),), model=model, inputs=((),), watch=(gm,))


@dataclass(frozen=True, eq=False)
class Asked:
    """Calls the answer with a graph module, and reports the result and changes."""

    gm: fx.GraphModule

    says = "{name}(gm), where gm is the graph of the model, after other passes"

    def __call__(self, answer: Any) -> Callable[..., Any]:
        """Call the answer; the run then returns the report."""
        entered = modes_entered()
        try:
            with nothing_logged():
                result = answer(self.gm)
        finally:
            left = leave_modes(entered)
        found = {
            "lies": result,
            "modes": left,
            "known": known_of(self.gm),
            "vals": vals_of(self.gm),
            "notes": notes_of(self.gm),
        }
        return lambda: found


# ------------------------------------------------------------------ graphs


class Chain(nn.Module):
    """`x` has the shape (2, 3)."""

    def forward(self, x):
        return aten.tanh.default(aten.relu.default(aten.neg.default(x)))


class Sums(nn.Module):
    """`x` and `y` have the shape (2, 3); some calls read values in lists and keywords."""

    def forward(self, x, y):
        a = aten.exp.default(x)
        b = aten.add.Tensor(a, other=y)
        c = aten.cat.default([a, b, y], 1)
        aten.sin.default(c)
        return aten.mul.Tensor(b, 2), {"c": [c, aten.sum.dim_IntList(c, [0], True)]}


class Products(nn.Module):
    """`x` has the shape (2, 3); reads parameters and buffers of submodules."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.register_buffer("mask", torch.ones(4, dtype=torch.bool))

    def forward(self, x):
        turned = aten.t.default(self.layer.weight)
        y = aten.addmm.default(self.layer.bias, x, turned)
        return aten.where.self(self.mask, y, aten.zeros_like.default(y))


class Several(nn.Module):
    """`x` has the shape (4, 6)."""

    def forward(self, x):
        best = aten.max.dim(x, 1)
        parts = aten.split.Tensor(x, 2, 1)
        normed = aten.native_layer_norm.default(x, [6], None, None, 1e-5)
        y = aten.add.Tensor(operator.getitem(parts, 0), operator.getitem(parts, 2))
        return operator.getitem(best, 1), aten.cos.default(y), operator.getitem(normed, 0)


class Sizes(nn.Module):
    """`x` has the shape (4, 3); some values are not tensors."""

    def forward(self, x):
        rows = aten.sym_size.int(x, 0)
        y = aten.full.default([operator.mul(rows, 2), 3], 1.0)
        return aten.view.default(aten.sin.default(x), [3, rows]), aten.relu.default(y)


class Kinds(nn.Module):
    """`x` has the shape (2, 3); values of several dtypes."""

    def forward(self, x):
        half = aten._to_copy.default(x, dtype=torch.float16)
        large = aten.gt.Scalar(half, 0)
        count = aten.sum.default(large)
        return aten.mul.Tensor(half, large), aten.add.Tensor(count, 1)


class ListByKeyword(nn.Module):
    def forward(self, x):
        return aten.cat.default(tensors=[aten.sin.default(x), x])


class MadeOfASize(nn.Module):
    """`x` has the shape (4, 3); its number of rows is a symbol."""

    def forward(self, x):
        rows = aten.sym_size.int(x, 0)
        return aten.add.Tensor(aten.zeros.default([rows, 3]), x)


class OfNoInputs(nn.Module):
    """Takes no inputs: everything comes from a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 3))

    def forward(self):
        return torch.tanh(self.weight.t())


class Asserted(nn.Module):
    """`x` has the shape (2, 3); the assertion returns `None`, which is its `val`."""

    def forward(self, x):
        aten._assert_tensor_metadata.default(x, None, None, torch.float32)
        return aten.relu.default(x)


class Symbols(nn.Module):
    """`x` has the sizes s0 and s1, `y` the sizes s2 and 4. All are 4 in the example."""

    def forward(self, x, y):
        a = aten.sin.default(x)
        b = aten.permute.default(aten.cos.default(x), [1, 0])
        c = aten.cat.default([y, y])
        d = aten.slice.Tensor(y, 0, 1, END)
        return aten.relu.default(a), aten.relu.default(b), aten.relu.default(c), d


class Halves(nn.Module):
    """`x` has the sizes s0 and s1. The first size decides the number of parts."""

    def forward(self, x):
        parts = aten.split.Tensor(aten.relu.default(x), 2)
        return operator.getitem(parts, 0), operator.getitem(parts, 1)


class TwoRows(nn.Module):
    """`x` and `y` have the sizes s0 and s1, and 3 columns."""

    def forward(self, x, y):
        a = aten.relu.default(x)
        return aten.add.Tensor(x, a), aten.relu.default(y)


# ------------------------------------------------------------------ random models


def of_random_model(trial: Trial, choice: int) -> Trial:
    """Edit some nodes of a random model's graph, and make its trial."""
    assert trial.model is not None
    gm = recorded(trial.model, trial.inputs[0])
    draw = random.Random(choice)
    nodes = [n for n in gm.graph.nodes if n.op in ("call_function", "get_attr")]
    count = min(len(nodes), (choice % 4 + 1) // 2)
    for i, node in enumerate(draw.sample(nodes, count)):
        _edit(node, draw, may_go=i == 0)
    return replace(about(trial.model, gm), functions=trial.functions)


def _edit(node: fx.Node, draw: random.Random, may_go: bool) -> None:
    """Edit a node's `val`. At most one node in a graph loses it."""
    if may_go and draw.random() < 0.2:
        no_val(node)
        return
    if isinstance(node.meta["val"], (tuple, list)):
        place = draw.randrange(len(node.meta["val"]))
        edit: Edit = draw.choice([one_less, one_more, Part(place, _of_a_tensor(draw))])
        edit(node)
    elif isinstance(node.meta["val"], torch.Tensor):
        _of_a_tensor(draw)(node)


def _of_a_tensor(draw: random.Random) -> Edit:
    return draw.choice([_one_longer, _one_dimension_more, Dtype(torch.int64), Dtype(torch.float16)])


def _one_longer(node: fx.Node) -> None:
    shape = node.meta["val"].shape
    node.meta["val"] = _like(node, size=[*shape[:-1], shape[-1] + 1] if len(shape) else [2])


def _one_dimension_more(node: fx.Node) -> None:
    node.meta["val"] = _like(node, size=[1, *node.meta["val"].shape])
