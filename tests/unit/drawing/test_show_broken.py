"""Learners make broken graphs, so these must be drawn too."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
import torch
from torch import fx, nn

from autograder.core.verdict import NodeBox
from autograder.drawing.draw import draw
from autograder.drawing.page_layout import page_of
from tests.unit.drawing.test_show_sketch import Spiteful


class Sums(nn.Module):
    """A small graph to be broken."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.add(x, y)) * x


def _self_loop(graph: fx.Graph) -> None:
    add = next(n for n in graph.nodes if n.target is torch.add)
    with graph.inserting_after(add):
        relu = graph.call_function(torch.relu, (add,))
    add.replace_all_uses_with(relu)


def _foreign(graph: fx.Graph) -> None:
    other = fx.symbolic_trace(Sums()).graph
    list(graph.nodes)[3].args = (next(n for n in other.nodes if n.name == "add"),)


def _erased(graph: fx.Graph) -> None:
    relu = next(n for n in graph.nodes if n.target is torch.relu)
    users = list(relu.users)
    for user in users:
        user.args = tuple(7 if a is relu else a for a in user.args)
    graph.erase_node(relu)
    users[0].args = (relu, 7)


def _two_outputs(graph: fx.Graph) -> None:
    graph.create_node("output", "output", (next(iter(graph.nodes)),))


def _no_output(graph: fx.Graph) -> None:
    graph.erase_node(list(graph.nodes)[-1])


def _too_early(graph: fx.Graph) -> None:
    nodes = list(graph.nodes)
    nodes[2].args = (nodes[4], nodes[3])


def _raw_tensor(graph: fx.Graph) -> None:
    list(graph.nodes)[2].args = (list(graph.nodes)[0], torch.eye(3))


def _same_name(graph: fx.Graph) -> None:
    for node in graph.nodes:
        node.name = "n"


def _odd_targets(graph: fx.Graph) -> None:
    nodes = list(graph.nodes)
    nodes[2].target, nodes[3].op, nodes[4].target = Spiteful(), "no_such_op", 5


def _odd_names(graph: fx.Graph) -> None:
    for i, node in enumerate(graph.nodes):
        node.name = ["$x^2$", "<b>&", "名前", "a\nb", "", "\ud800"][i]


BREAKS = [_self_loop, _foreign, _erased, _two_outputs, _no_output, _too_early, _raw_tensor,
          _same_name, _odd_targets, _odd_names]  # fmt: skip


@pytest.mark.parametrize("breaks", BREAKS)
def test_a_broken_graph_is_drawn(breaks: Callable[[fx.Graph], None]) -> None:
    gm = fx.symbolic_trace(Sums())
    breaks(gm.graph)
    for picture in (draw(gm), draw(gm.graph), draw.diff(Sums(), gm), draw.diff(gm, Sums())):
        bundle = picture._repr_mimebundle_()
        assert "<svg" in bundle["text/html"] and bundle["text/plain"]
        assert picture.svg().startswith("<?xml")


def test_broken_parts_are_said_in_words() -> None:
    def text(breaks: Callable[[fx.Graph], None]) -> str:
        gm = fx.symbolic_trace(Sums())
        breaks(gm.graph)
        return repr(draw(gm))

    assert "relu_1 = torch.relu(relu_1)  call_function  reads itself" in text(_self_loop)
    assert re.search(r"add \(other graph\) +foreign +not a node of this graph", text(_foreign))
    assert "relu (erased)" in text(_erased)
    assert "reads mul too early" in text(_too_early)
    assert text(_two_outputs).count("  output") == 2
    assert "Tensor of shape (3, 3)" in text(_raw_tensor)


@pytest.mark.parametrize("seed", range(40))
def test_any_boxes_can_be_laid_out(seed: int) -> None:
    pick = random.Random(seed)
    names = ["a", "b", "c", "d", "e", "f", "nowhere"]
    ops = ["placeholder", "call_function", "call_module", "output", "get_attr", "strange"]
    marks = ["", "", "added", "removed", "changed", "strange"]
    boxes = [
        NodeBox(pick.choice(names), pick.choice(ops), "f(a)",
            tuple(pick.sample(names, pick.randint(0, 3))), pick.choice(marks))
        for _ in range(pick.randint(0, 30))
    ]  # fmt: skip
    picture = draw(boxes)
    assert picture.text and picture.alt and page_of(picture.graphs).width > 0
    assert draw.diff(boxes, boxes[::-1]).text
