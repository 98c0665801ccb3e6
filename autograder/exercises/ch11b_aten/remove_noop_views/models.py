"""Graphs of ATen operators for `remove_noop_views`: views that do nothing, or seem to."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import T, Trial, arguments, fresh
from autograder.models.aten_graphs import aten_graph, known_of
from autograder.models.graph_reports import (
    SameTrial,
    attempt,
    is_recompiled,
    lint_text,
    row_of,
)

aten = torch.ops.aten
END = sys.maxsize


class SameShape(nn.Module):
    """`x` has the shape (2, 3)."""

    def forward(self, x):
        y = aten.view.default(x, [2, 3])
        return aten.relu.default(y)


class FourKinds(nn.Module):
    """`x` has the shape (2, 3); the last of four views is the result."""

    def forward(self, x):
        a = aten.reshape.default(aten.sin.default(x), [2, -1])
        b = aten.slice.Tensor(aten.cos.default(a), 1, 0, END)
        c = aten.expand.default(aten.tan.default(b), [-1, 3])
        return aten.view.default(aten.exp.default(c), [2, 3])


class ManyReaders(nn.Module):
    """`x` has the shape (2, 3); a list, a keyword and the result read one value."""

    def forward(self, x):
        y = aten.slice.Tensor(x, 0, 0, 5)
        z = aten.add.Tensor(aten.cat.default([y, x, y]), other=1)
        return {"y": y, "more": [aten.mul.Tensor(x, other=y), z]}


class WholeSlices(nn.Module):
    """`x` has the shape (1, 3): full slices, from the end, with steps, and empty ones."""

    def forward(self, x):
        a = aten.slice.Tensor(x, 1, -3, 9)
        b = aten.slice.Tensor(aten.sin.default(a), 0, 0, 5, 2)
        c = aten.slice.Tensor(aten.cos.default(b), 1, 0, 0)
        return b, aten.slice.Tensor(aten.exp.default(c), 1, 0, -1)


class ViewOfView(nn.Module):
    """`x` has the shape (2, 6)."""

    def forward(self, x):
        y = aten.view.default(aten.view.default(x, [12]), [3, 4])
        return aten.relu.default(y)


class DeadFromTheStart(nn.Module):
    """`x` has the shape (2, 3); nothing reads these views."""

    def forward(self, x):
        y = aten.view.default(x, [6])
        aten.slice.Tensor(y, 0, 0, 2)
        aten.expand.default(x, [4, 2, 3])
        return aten.relu.default(x)


class Transposed(nn.Module):
    """`x` has the shape (2, 6): the reshape copies, as a view is impossible."""

    def forward(self, x):
        y = aten.permute.default(x, [1, 0])
        return aten.relu.default(aten.view.default(aten.reshape.default(y, [12]), [3, 4]))


class StillRead(nn.Module):
    """`x` has the shape (2, 6); another operator reads the middle value; a slice reads another."""

    def forward(self, x):
        y = aten.view.default(x, [12])
        z = aten.view.default(y, [4, 3])
        w = aten.view.default(z, [6, 2])
        return aten.sin.default(y), aten.slice.Tensor(z, 0, 1, END), aten.cos.default(w)


class ReadByDeadCode(nn.Module):
    """`x` has the shape (2, 6); the reader of the middle value has no reader."""

    def forward(self, x):
        y = aten.view.default(x, [12])
        aten.sin.default(y)
        return aten.cos.default(aten.view.default(y, [4, 3]))


class TransposedBackAndOn(nn.Module):
    """`x` has the shape (2, 6): the second of three restores the shape of the first one's input."""

    def forward(self, x):
        y = aten.permute.default(x, [1, 0])
        z = aten.view.default(aten.reshape.default(y, [12]), [6, 2])
        return aten.cos.default(aten.view.default(z, [3, 4]))


class ReshapeThenViews(nn.Module):
    """`x` has the shape (2, 6): the reshape copies, is still read, and is followed by two views."""

    def forward(self, x):
        y = aten.reshape.default(aten.permute.default(x, [1, 0]), [12])
        z = aten.view.default(aten.view.default(y, [4, 3]), [3, 4])
        return aten.sin.default(y), aten.cos.default(z)


class Scalars(nn.Module):
    """`x` has the shape (2, 3); the sum has the shape ()."""

    def forward(self, x):
        a = aten.view.default(aten.sum.default(x), [])
        b = aten.expand.default(aten.sin.default(a), [])
        return aten.reshape.default(aten.cos.default(b), [])


class Needed(nn.Module):
    """`x` has the shape (4, 3); all of these change the shape."""

    def forward(self, x):
        a = aten.slice.Tensor(x, 0, 0, -1)
        b = aten.slice.Tensor(x, 0, 1, END)
        c = aten.slice.Tensor(x, 0, 0, END, 2)
        d = aten.expand.default(aten.sum.dim_IntList(x, [0], True), [4, 3])
        e = aten.reshape.default(x, [3, 4])
        return a, b, c, d, aten.view.default(e, [2, 6])


class OneDimensionMore(nn.Module):
    """`x` has the shape (2, 3): the sizes of two shapes agree, up to the end of the shorter."""

    def forward(self, x):
        a = aten.sin.default(aten.view.default(x, [2, 3, 1]))
        b = aten.cos.default(aten.view.default(a, [2, 3]))
        c = aten.exp.default(aten.reshape.default(b, [1, 2, 3]))
        d = aten.tan.default(aten.reshape.default(c, [2, 3]))
        e = aten.expand.default(aten.sum.dim_IntList(d, [0], True), [1, 1, 3])
        f = aten.expand.default(aten.sum.dim_IntList(d, [0, 1], True), [1, 1, 1])
        return a, c, e, aten.cos.default(f)


class SliceOfSlice(nn.Module):
    """`x` has the shape (6, 3): slices and expands are not merged."""

    def forward(self, x):
        y = aten.slice.Tensor(aten.slice.Tensor(x, 0, 1, END), 0, 1, END)
        z = aten.expand.default(aten.expand.default(y, [2, 4, 3]), [5, 2, 4, 3])
        return aten.view.default(aten.slice.Tensor(z, 0, 2, END), [6, 12])


class Relatives(nn.Module):
    """`x` has the shape (2, 3); all of these stay, though some keep the shape of their input."""

    def forward(self, x):
        a = aten.view.dtype(x, torch.int32)
        b = aten._unsafe_view.default(x, [2, 3])
        c = aten.permute.default(b, [0, 1])
        d = aten.squeeze.dim(aten.unsqueeze.default(c, 0), 0)
        e = aten.alias.default(aten.clone.default(d))
        aten.tan.default(e)
        aten.sym_size.int(x, 0)
        aten.view.dtype(e, torch.int32)
        aten.unsqueeze.default(e, 0)
        aten.permute.default(e, [1, 0])
        aten.select.int(e, 0, 0)
        f = aten._unsafe_view.default(aten.view.default(e, [6]), [3, 2])
        return a, aten.select.int(f, 0, 0), aten.view.dtype(aten.view.default(f, [6]), torch.int32)


class Namesakes(Relatives):
    """`x` has the shape (2, 3); two more have names that begin like a slice and an expand."""

    def forward(self, x):
        first = aten.sum.dim_IntList(x, [0], True)
        y = aten.slice_scatter.default(x, first, 0, 0, 1)
        return super().forward(aten.expand_copy.default(y, [2, 3]))


class TwoSizes(nn.Module):
    """`x` has the sizes s0 and s1. They are 4 in the example, but not known to be equal."""

    def forward(self, x):
        rows, columns = aten.sym_size.int(x, 0), aten.sym_size.int(x, 1)
        y = aten.view.default(x, [columns, rows])
        return aten.relu.default(y), aten.relu.default(aten.view.default(x, [rows, columns]))


class SizeOfAView(nn.Module):
    """`x` has the sizes s0 and s1; only a size of the view is read."""

    def forward(self, x):
        rows, columns = aten.sym_size.int(x, 0), aten.sym_size.int(x, 1)
        y = aten.view.default(x, [rows, columns])
        return aten.view.default(aten.exp.default(x), [columns, aten.sym_size.int(y, 0)])


class SizeComesLater(nn.Module):
    """`x` has the sizes s0 and 6; a size of the second view comes after the first one."""

    def forward(self, x):
        flat = aten.reshape.default(x, [-1])
        rows = aten.sym_size.int(x, 0)
        return aten.relu.default(aten.view.default(flat, [rows, 3, 2]))


class SameSizeOtherwise(nn.Module):
    """`x` has the sizes s0 and s1; `s0 * (s1 + 1)` is `s0 * s1 + s0`."""

    def forward(self, x):
        rows, columns = aten.sym_size.int(x, 0), aten.sym_size.int(x, 1)
        wider = aten.cat.default([x, aten.slice.Tensor(x, 1, 0, 1)], 1)
        flat = aten.sin.default(aten.reshape.default(wider, [-1]))
        size = operator.add(operator.mul(rows, columns), rows)
        return aten.cos.default(aten.view.default(flat, [size]))


class SymbolicSlices(nn.Module):
    """`x` has the sizes s0 and s1, `y` the size s2."""

    def forward(self, x, y):
        a = aten.slice.Tensor(x, 0, 0, END)
        b = aten.slice.Tensor(x, 1, 0, -1)
        c = aten.slice.Tensor(x, 0, 0, aten.sym_size.int(y, 0))
        rows = aten.sym_size.int(x, 0)
        d = aten.expand.default(aten.sum.dim_IntList(x, [0], True), [rows, -1])
        e = aten.expand.default(x, [rows, -1])
        return [aten.sin.default(each) for each in (a, b, c, d, e)]


# ------------------------------------------------------------------ random graphs


def of_random_model(trial: Trial, choice: int) -> Trial:
    """A trial with the graph that `make_fx` records of a random model."""
    gm = copy.deepcopy(_recorded(SameTrial(trial)))
    return Trial(args=(Asked(gm),), model=trial.model, inputs=trial.inputs)


@lru_cache(maxsize=32)
def _recorded(same: SameTrial) -> fx.GraphModule:
    from torch.fx.experimental.proxy_tensor import make_fx

    trial = same.trial
    model, inputs = copy.deepcopy((trial.model, trial.inputs[0]))
    record = make_fx(
        model, tracing_mode="fake", pre_dispatch=True, _allow_non_fake_inputs=True
    )  # parameters keep their values
    with torch.no_grad():
        return record(*inputs)


# ------------------------------------------------------------------ from a class to a graph


@dataclass(frozen=True)
class Graphs:
    """Builds the objects of a case of ``remove_noop_views(gm)``.

    Attributes:
        make: builds a module whose `forward` calls ATen operators.
        inputs: for recording the example, and for the run.
        symbolic: for each input, the indices of its symbolic sizes.
        more: inputs of further runs.
    """

    make: Callable[[], nn.Module]
    inputs: tuple[T, ...]
    symbolic: tuple[tuple[int, ...], ...] = ()
    more: tuple[tuple[T, ...], ...] = ()

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, dtype=torch.float32)
        generator = torch.Generator().manual_seed(seed + 1)
        inputs = tuple(
            arguments(specs, generator, torch.float32) for specs in (self.inputs, *self.more)
        )
        symbolic = self.symbolic or ((),) * len(self.inputs)
        gm = aten_graph(model, inputs[0], symbolic)
        return Trial(args=(Asked(gm),), model=model, inputs=inputs)


@dataclass(frozen=True, eq=False)
class Asked:
    """Calls the answer with a graph module, and reports on the changed module."""

    gm: fx.GraphModule

    says = "{name}(gm), where gm is the graph of the model"

    def __call__(self, answer: Any) -> Callable[..., Any]:
        """Call the answer; each run then calls the changed graph module."""
        before = known_of(self.gm)
        count = answer(self.gm)
        found = {
            "count": count,
            "known": (before, known_of(self.gm)),
            "rows": [row_of(node) for node in self.gm.graph.nodes],
            "recompiled": is_recompiled(self.gm),
            "lint": lint_text(self.gm),
        }
        return lambda *inputs: {**found, "result": attempt(lambda: self.gm, inputs)}
