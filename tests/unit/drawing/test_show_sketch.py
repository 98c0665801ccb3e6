"""From graphs to boxes: labels, inputs, marks and folds."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import fx, nn

from autograder.core.node_label import MAX_LABEL, Ref, label
from autograder.core.verdict import NodeBox
from autograder.drawing.diff import compare
from autograder.drawing.diff_text import diff_text
from autograder.drawing.draw import draw
from autograder.drawing.folding import cells_of
from autograder.drawing.sketch import CannotTrace, sketch

X, Y = Ref("x"), Ref("y")


class Collector:
    """A callable object without a name."""

    def __call__(self, *args: Any) -> None: ...

    def note(self, *args: Any) -> None: ...


class Spiteful:
    """An object whose repr raises an exception."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("op", "target", "args", "kwargs", "said"),
    [
        ("call_function", torch.relu, (X,), {}, "torch.relu"),
        ("call_function", F.relu, (X,), {"inplace": False}, "F.relu(x, inplace=False)"),
        ("call_function", F.gelu, (X,), {}, "F.gelu"),
        ("call_function", F.linear, (X, Y), {}, "F.linear(x, y)"),
        ("call_function", torch.cat, ([X, Y],), {"dim": 1}, "torch.cat([x, y], dim=1)"),
        ("call_function", torch.einsum, ("ij->ji", X), {}, "torch.einsum('ij->ji', x)"),
        ("call_function", torch.ops.aten.add.Tensor, (X, Y), {}, "aten.add.Tensor(x, y)"),
        ("call_function", operator.add, (X, 2), {}, "x + 2"),
        ("call_function", operator.iadd, (X, Y), {}, "x += y"),
        ("call_function", operator.neg, (X,), {}, "-x"),
        ("call_function", operator.getitem, (X, 0), {}, "x[0]"),
        ("call_function", operator.getitem, (X, (slice(1, None), ...)), {}, "x[1:, ...]"),
        ("call_function", operator.getitem, (X, slice(None, Y, 2)), {}, "x[:y:2]"),
        ("call_function", operator.setitem, (X, 0, Y), {}, "x[0] = y"),
        ("call_function", getattr, (X, "shape"), {}, "x.shape"),
        ("call_function", len, (X,), {}, "len"),
        ("call_function", lambda v: v, (X,), {}, "<lambda>"),
        ("call_function", Collector(), (X,), {}, "Collector()"),
        ("call_function", Collector().note, ("relu", X), {}, "Collector.note('relu', x)"),
        ("call_function", [].append, (X,), {}, "list.append"),
        ("call_function", torch.add, (X, torch.ones(2)), {}, "torch.add(x, Tensor of shape (2,))"),
        ("call_function", torch.mul, (X, 8**0.5), {}, "torch.mul(x, 2.82843)"),
        ("call_method", "sum", (X,), {"dim": -1}, ".sum(dim=-1)"),
        ("call_method", "view", (X, -1, (2,)), {}, ".view(-1, (2,))"),
        ("call_module", "block.0", (X,), {}, "block.0 : Conv2d"),
        ("call_module", "block.0", (), {"input": X}, "block.0(input=x) : Conv2d"),
        ("placeholder", "x", (), {}, "x"),
        ("placeholder", "x", (2.0,), {}, "x = 2.0"),
        ("placeholder", "*args", (), {}, "*args"),
        ("get_attr", "block.shift", (), {}, "self.block.shift"),
        ("output", "output", (X,), {}, "output"),
        ("output", "output", ({"a": X, "b": (Y,)},), {}, "return {'a': x, 'b': (y,)}"),
        ("no_such_op", "t", (X,), {}, "t(x)"),
        ("call_function", torch.relu, None, None, "torch.relu(None)"),
        ("call_function", torch.add, (X, Spiteful()), {}, "call_function"),
    ],
)  # fmt: skip
def test_labels(op: str, target: Any, args: Any, kwargs: Any, said: str) -> None:
    assert label(op, target, args, kwargs, "Conv2d" if op == "call_module" else "") == said


def test_labels_are_short_and_on_one_line() -> None:
    many = label("call_function", torch.cat, ([Ref("x" * 40)] * 30,), {"name": "a\nb\x1b[31m"})
    assert len(many) <= MAX_LABEL and many.isprintable()


class Nested(nn.Module):
    """Nodes deep inside arguments."""

    def forward(self, x: torch.Tensor, i: int = 1) -> Any:
        parts = torch.cat([x, x.neg()], dim=0)
        return {"a": (parts[i : x.size(0)],), "b": [x]}


def test_inputs_are_found_however_deeply_nested() -> None:
    boxes = {box.name: box for box in sketch(Nested())}
    assert boxes["cat"].inputs == ("x", "neg")
    assert boxes["getitem"].inputs == ("cat", "i", "size")
    assert boxes["output"].inputs == ("getitem", "x")
    assert boxes["i"].label == "i = 1"


class MakesConstant(nn.Module):
    """A module on which tracing registers a constant."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(3)


def test_drawing_a_module_leaves_it_as_it_was() -> None:
    model = MakesConstant()
    before = dict(model.__dict__)
    assert [box.op for box in sketch(model)][1] == "get_attr"
    assert model.__dict__ == before and not list(model.buffers())


def test_what_can_be_drawn() -> None:
    def double(v: torch.Tensor) -> torch.Tensor:
        return v * 2

    traced = fx.symbolic_trace(double)
    assert sketch(double) == sketch(traced) == sketch(traced.graph) == sketch(sketch(double))
    orphan = fx.Graph()
    orphan.output(orphan.call_module("fc", (orphan.placeholder("x"),)))
    assert sketch(orphan)[1].label == "fc : module"
    missing = fx.symbolic_trace(nn.Sequential(nn.ReLU()))
    del missing._modules["0"]
    assert sketch(missing)[1].label == "0 : not found"


@pytest.mark.parametrize(("what", "word"), [(3, "int"), (None, "NoneType"), ([1], "list"),
                                            (nn.Linear, "class")])  # fmt: skip
def test_anything_else_is_refused(what: Any, word: str) -> None:
    with pytest.raises(TypeError, match=word):
        draw(what)


class Branches(nn.Module):
    """A module that cannot be traced."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x


def test_a_module_that_cannot_be_traced_is_named() -> None:
    with pytest.raises(CannotTrace, match=r"`Branches` cannot be traced.*TraceError.*control flow"):
        draw(Branches())


# ------------------------------------------------------------ marks and folds


def test_marks_follow_what_nodes_compute() -> None:
    before = [NodeBox("x", "placeholder", "x", ()),
              NodeBox("add", "call_function", "x + 1", ("x",)),
              NodeBox("output", "output", "output", ("add",))]  # fmt: skip
    after = [before[0], NodeBox("mul", "call_function", "x * 1", ("x",)),
             NodeBox("output", "output", "output", ("mul",))]  # fmt: skip
    old, new = compare(before, after)
    assert [box.mark for box in old] == ["", "removed", "changed"]
    assert [box.mark for box in new] == ["", "added", "changed"]
    assert compare(old, after) == (old, tuple(after))  # existing marks are kept


def traced(fn: Callable[..., Any]) -> tuple[NodeBox, ...]:
    return sketch(fx.symbolic_trace(fn))


def test_other_names_are_no_difference() -> None:
    gm = fx.symbolic_trace(lambda x: torch.relu(torch.relu(x) + 1) * x)
    before = sketch(gm)
    for i, node in enumerate(gm.graph.nodes):
        node.name = f"other{i}" if node.op.startswith("call") else node.name
    old, new = compare(before, sketch(gm))
    assert before != sketch(gm)
    assert not any(box.mark for box in (*old, *new))
    assert "removed" not in diff_text(before, sketch(gm))


def test_what_is_gone_is_marked_although_names_move_up() -> None:
    before = traced(lambda x: torch.relu(torch.sin(torch.relu(torch.relu(x)))))
    after = traced(lambda x: torch.relu(torch.sin(torch.relu(x))))
    old, new = compare(before, after)
    assert [box.name for box in old if box.mark == "removed"] == ["relu_1"]
    assert [box.name for box in new if box.mark] == ["sin"]  # its input changed
    text = diff_text(before, after)
    assert "- relu_1 = torch.relu(relu)" in text and text.count("\n-") == 1 and "\n+" not in text


def test_a_node_that_calls_something_else_now_keeps_its_name_and_is_changed() -> None:
    gm = fx.symbolic_trace(lambda x, y: torch.relu(torch.add(x, y)) + torch.sub(x, y))
    before = sketch(gm)
    next(n for n in gm.graph.nodes if n.name == "add").target = torch.mul
    old, new = compare(before, sketch(gm))
    for boxes in (old, new):
        assert {box.name: box.mark for box in boxes if box.mark} == {"add": "changed"}


def test_inputs_in_another_order_are_a_change() -> None:
    old, new = compare(traced(lambda x, y: x - y), traced(lambda x, y: y - x))
    assert [box.mark for box in old] == [box.mark for box in new] == ["", "", "changed", ""]


def test_long_graphs_are_compared_in_a_moment() -> None:
    before, after = chain(8_000), chain(8_000)
    for i in range(1000, 5000, 7):  # each of these calls another function
        after[i] = replace(after[i], label="torch.sin")
    old, new = compare(before, after)
    assert sum(box.mark == "changed" for box in new) == len(range(1000, 5000, 7))
    assert not any(box.mark in ("added", "removed") for box in (*old, *new))


def chain(count: int, **marks: str) -> list[NodeBox]:
    """A straight chain of calls between a placeholder and an output."""
    names = ["x", *(f"n{i}" for i in range(count))]
    calls = [NodeBox(b, "call_function", "torch.relu", (a,), marks.get(b, ""))
             for a, b in zip(names, names[1:], strict=False)]  # fmt: skip
    return [
        NodeBox("x", "placeholder", "x", ()),
        *calls,
        NodeBox("out", "output", "output", (names[-1],)),
    ]


def test_a_big_graph_is_folded_and_a_small_one_is_not() -> None:
    assert [len(cell.boxes) for cell in cells_of(chain(20))] == [1, 20, 1]
    assert len(cells_of(chain(9))) == 11


def test_marked_nodes_are_never_folded() -> None:
    sizes = [len(cell.boxes) for cell in cells_of(chain(20, n5="changed"))]
    assert sizes == [1, 5, 1, 14, 1]


def test_a_value_with_two_readers_ends_a_chain() -> None:
    boxes = chain(20)
    boxes[-1] = NodeBox("out", "output", "return (n19, n4)", ("n19", "n4"))
    cells = cells_of(boxes)
    assert [len(cell.boxes) for cell in cells] == [1, 5, 15, 1]
    assert cells[3].inputs == (2, 1)


def test_interleaved_chains_are_kept_apart() -> None:
    boxes = [NodeBox("x", "placeholder", "x", ())]
    for i in range(8):
        boxes += [NodeBox(f"{k}{i}", "call_function", "f", (f"{k}{i - 1}" if i else "x",))
                  for k in "ab"]  # fmt: skip
    boxes.append(NodeBox("out", "output", "output", ("a7", "b7")))
    assert [len(cell.boxes) for cell in cells_of(boxes)] == [1, 8, 8, 1]
