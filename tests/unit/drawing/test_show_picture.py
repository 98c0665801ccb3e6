"""Pictures and text forms: size, speed, determinism, and no effect on other output."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import torchvision
from torch import fx, nn

from autograder.core.verdict import NodeBox
from autograder.drawing.draw import Picture, draw
from autograder.drawing.page_layout import panel_pages
from autograder.drawing.render import shown_width
from autograder.drawing.text import alt_text, graph_text
from tests.support.pace import at_most

KB = 1024


class Block(nn.Module):
    """All six opcodes."""

    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.Linear(4, 4)
        self.register_buffer("shift", torch.ones(4))

    def forward(self, x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
        return torch.relu(self.proj(x) * scale + self.shift).sum(dim=-1)


class Attention(nn.Module):
    """One layer of a small transformer encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8) for _ in range(4))
        self.before, self.between = nn.LayerNorm(8), nn.LayerNorm(8)
        self.feed = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.before(x)
        weights = torch.softmax(self.q(h) @ self.k(h).transpose(-2, -1), dim=-1)
        x = x + self.o(weights @ self.v(h))
        return x + self.feed(self.between(x))


class Rounds(nn.Module):
    """More than twenty nodes, which are not a chain."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for _ in range(4):
            a = torch.relu(x + y)
            x, y = a * torch.tanh(a), torch.cat([x, a])
        return x + y


def swapped(model: nn.Module) -> fx.GraphModule:
    """Replace every tanh of the model with a sigmoid."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is torch.tanh:
            node.target = torch.sigmoid
    return gm


def test_the_text_form_reads_like_python() -> None:
    assert repr(draw(Block(), "A block")) == "\n".join(
        [
            "A block",
            "A graph of 9 nodes: 2 placeholder, 1 get_attr, 3 call_function, 1 call_method, "
            "1 call_module, 1 output.",
            "  x                         placeholder",
            "  scale = 2.0               placeholder",
            "  proj = proj(x)            call_module    Linear",
            "  mul = proj * scale        call_function",
            "  shift = self.shift        get_attr",
            "  add = mul + shift         call_function",
            "  relu = torch.relu(add)    call_function",
            "  sum_1 = relu.sum(dim=-1)  call_method",
            "  return sum_1              output",
        ]
    )


def test_labels_without_arguments_get_their_inputs_back() -> None:
    boxes = [NodeBox("x", "placeholder", "x", ()),
             NodeBox("add", "call_function", "operator.add", ("x",)),
             NodeBox("s", "call_method", ".sum()", ("add",)),
             NodeBox("fc", "call_module", "fc", ("s",)),
             NodeBox("out", "output", "output", ("fc",))]  # fmt: skip
    text = graph_text(boxes)
    boxes += [
        NodeBox("size", "call_function", "x.shape", ("x",)),
        NodeBox("n", "call_function", "-x", ("x",)),
    ]
    text += graph_text(boxes[-2:])
    assert "size = x.shape " in text and "n = -x " in text
    for line in ("add = operator.add(x)", "s = add.sum()", "fc = fc(s)", "return fc"):
        assert line in text


def test_the_text_of_a_pair_is_a_diff() -> None:
    text = repr(draw.diff(Rounds(), swapped(Rounds())))
    assert text.startswith("Before: 24 nodes, 4 changed. After: 24 nodes, 4 changed.")
    assert "~ tanh = torch.tanh(relu)  becomes  tanh = torch.sigmoid(relu)" in text
    small = draw.diff(
        [NodeBox("x", "placeholder", "x", ()), NodeBox("a", "call_function", "torch.add", ("x",)),
         NodeBox("out", "output", "output", ("a",))],
        [NodeBox("x", "placeholder", "x", ()), NodeBox("m", "call_function", "torch.mul", ("x",)),
         NodeBox("out", "output", "output", ("m",))],
    )  # fmt: skip
    assert repr(small).splitlines()[1:] == [
        "  x", "- a = torch.add(x)", "+ m = torch.mul(x)", "~ return a  becomes  return m",
    ]  # fmt: skip


def test_a_big_diff_leaves_out_what_is_as_before() -> None:
    from torchvision.models import resnet18

    model = resnet18()
    gm = fx.symbolic_trace(model)
    node = next(n for n in gm.graph.nodes if n.name == "layer2_0_relu")
    node.op, node.target = "call_function", torch.tanh
    picture = draw.diff(model, gm)
    assert "… 19 nodes as before …" in picture.text and len(picture.text.splitlines()) < 12
    assert picture.page.height < 700
    assert all("not drawn" in panel.note for panel in picture.page.panels)


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2"])
def test_networks_are_readable_and_small(name: str) -> None:
    import torchvision

    picture = draw(getattr(torchvision.models, name)())
    assert picture.page.width < 900 and picture.page.height < 1200  # points
    assert len(picture.png()) < 150 * KB
    assert len(picture.alt) < 2000
    nodes = sum(len(cell.boxes) for column in picture.page.panels[0].columns
                for cell in column.cells if cell.boxes[0].op != "reference")  # fmt: skip
    assert nodes == len(picture.graphs[0][1])  # every node is drawn, in any column


@pytest.mark.parametrize("model", [Block(), Attention(), Rounds()])
def test_small_pictures_are_small(model: nn.Module) -> None:
    picture = draw(model)
    assert picture.png().startswith(b"\x89PNG") and len(picture.png()) < 60 * KB
    assert picture.page.width < 800


def test_the_same_graph_gives_the_same_bytes() -> None:
    pictures = [draw.diff(Rounds(), swapped(Rounds()), "twice") for _ in range(2)]
    assert pictures[0].png() == pictures[1].png()
    assert pictures[0].svg() == pictures[1].svg()
    assert pictures[0].html() == pictures[1].html()


def test_the_bytes_do_not_depend_on_the_readers_settings() -> None:
    import matplotlib

    first = draw(Block())
    before = first.png(), first.svg()
    with matplotlib.rc_context({"text.color": "red", "font.size": 30, "lines.linewidth": 9,
                                "figure.facecolor": "black", "savefig.dpi": 20,
                                "path.sketch": (1, 100, 2), "text.hinting": "none",
                                "axes.grid": True}):  # fmt: skip
        settings = dict(matplotlib.rcParams)
        again = draw(Block())
        assert (again.png(), again.svg()) == before
        assert dict(matplotlib.rcParams) == settings


def test_a_pair_of_twenty_nodes_is_drawn_in_a_moment() -> None:
    draw(Block()).png()
    with at_most(units=150):
        draw.diff(Rounds(), swapped(Rounds())).png()


def test_a_picture_can_point_at_nodes_that_would_be_folded() -> None:
    names = ["x", *(f"n{i}" for i in range(30))]
    boxes = [NodeBox("x", "placeholder", "x", ())]
    boxes += [NodeBox(b, "call_function", "f", (a,)) for a, b in pairwise(names)]
    plain, pointed = Picture([("", boxes)]), Picture([("", boxes)], focus=("n7",))
    assert plain.png() != pointed.png()
    cells = pointed.page.panels[0].columns[0].cells
    assert any([box.name for box in cell.boxes] == ["n7"] for cell in cells)


def test_too_large_a_graph_is_shown_as_text() -> None:
    class Wide(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return sum(torch.relu(x * i) + x for i in range(200))  # type: ignore[return-value]

    with at_most(units=300):
        picture = draw(Wide())
        html = picture._repr_mimebundle_()["text/html"]
        said = repr(picture)
    assert "too large" in html and "<svg" not in html and "torch.relu" in html
    assert "too large" in said


def test_the_alternative_text_is_escaped_and_bounded() -> None:
    box = NodeBox('"><script>', "call_function", "<b>", ())
    html = draw([box])._repr_mimebundle_()["text/html"]
    assert "<script" not in html and "<b>" not in html
    many = [NodeBox(f"node_{i}", "call_function", "f", ()) for i in range(200)]
    assert len(alt_text(many)) < 1700


def test_saving(tmp_path: Path) -> None:
    picture = draw(Block())
    picture.save(tmp_path / "a.png")
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.png").read_bytes() == picture.png()
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    with pytest.raises(ValueError, match=r"a\.txt"):
        picture.save(tmp_path / "a.txt")


def test_pictures_do_not_touch_pyplot_or_the_backend() -> None:
    code = (
        "import sys, autograder.cards.card, autograder.drawing.draw as d, autograder.cards.hints\n"
        "assert not [m for m in sys.modules if m.startswith('matplotlib')]\n"
        "p = d.draw(lambda x: x + 1); text = repr(p), p.alt\n"
        "assert 'matplotlib' not in sys.modules, 'text needs no matplotlib'\n"
        "import matplotlib; before = matplotlib.rcParams._get('backend')\n"
        "p._repr_mimebundle_(); p.svg()\n"
        "assert matplotlib.rcParams._get('backend') == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_empty_graph() -> None:
    picture = draw(fx.Graph())
    assert picture.text == "A graph of 0 nodes."
    assert picture.png() and isinstance(picture, Picture)


def test_a_big_graph_is_not_drawn_twice_where_nothing_differs() -> None:
    gm = fx.symbolic_trace(torchvision.models.densenet121())
    picture = draw.diff(gm, fx.Transformer(gm).transform())
    assert "Nothing differs" in picture.note and "Nothing differs" in repr(picture)
    assert "too large" not in picture.html() and "<svg" not in picture.html()


def test_of_a_big_graph_what_is_near_a_node_is_drawn() -> None:
    gm = fx.symbolic_trace(torchvision.models.densenet121())
    assert "around=" in draw(gm).note
    node = next(node for node in gm.graph.nodes if node.target is torch.cat)
    for around in (node, node.name, [node, "features_pool0"]):
        picture = draw(gm, around=around)
        assert not picture.note and f">{node.name}<" in picture.inline()
        (panel,) = picture.page.panels
        assert panel.heading.startswith("near cat") and "not drawn" in panel.note
    with pytest.raises(LookupError, match="no node 'features_nrm5'. Did you mean 'features_norm5'"):
        draw(gm, around="features_nrm5")


def test_two_graphs_beside_each_other_are_not_compared() -> None:
    one = fx.symbolic_trace(lambda x: torch.relu(x))
    other = fx.symbolic_trace(lambda x: torch.sin(x) * 2)
    picture = draw.beside(one, other, headings=("eager", "exported"))
    assert "eager: A graph of 3 nodes" in picture.text and "exported: A graph" in picture.alt
    assert [panel.heading for panel in picture.page.panels] == ["eager", "exported"]
    for word in ("added", "removed", "differs"):
        assert word not in picture.html()


def test_two_graphs_are_two_pictures_that_shrink_and_wrap() -> None:
    picture = draw.diff(Rounds(), swapped(Rounds()), "Twice")
    html = picture.inline()
    assert html.count("<svg role=") == 2 and "flex-wrap:wrap" in html and "Twice" in html
    for page, svg in zip(panel_pages(picture.page), html.split("<svg")[1:], strict=True):
        width = shown_width(page)
        assert f'width="{width}"' in svg and f"min-width:{round(width * 0.75)}px" in svg
        assert page.width < picture.page.width
    before, after = re.findall('aria-label="([^"]*)"', html)
    assert before.startswith("Before: 24 nodes") and after.startswith("after: A graph of 24 nodes")


def test_signs_on_badges_are_white_in_all_themes() -> None:
    """A badge has the same dark color in all themes, but the paper is dark in dark themes."""
    before, after = map(fx.symbolic_trace, (lambda x: x + 1, lambda x: torch.sin(x + 1)))
    html = draw.diff(before, after).inline()
    signs = [line for line in re.findall("<polyline[^>]*>", html) if 'stroke="#FFFFFF"' in line]
    assert signs and all('style="stroke:#ffffff"' in line for line in signs)


def test_boxes_carry_their_place_in_the_order_in_which_the_graph_runs() -> None:
    gm = fx.symbolic_trace(lambda x, y: torch.relu(x) + torch.sin(y))
    words = draw(gm).inline()
    for said in ("placeholder · 1", "placeholder · 2", "call_function · 3", "call_function · 5"):
        assert f">{said}<" in words
    chain = fx.symbolic_trace(nn.Sequential(*(nn.ReLU() for _ in range(14))))
    assert ">14 nodes in a row · 2\N{EN DASH}15<" in draw(chain).inline()


def test_two_graphs_are_not_drawn_as_one() -> None:
    gm = fx.symbolic_trace(lambda x: x + 1)
    with pytest.raises(TypeError, match=r"draw\.beside\(left, right\) show two"):
        draw(gm, gm)
