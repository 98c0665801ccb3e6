"""Graph pictures in a narrow window: nothing is cut off without a scroll bar."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torchvision
from torch import fx

from autograder.drawing.draw import Picture, draw
from tests.browser.desk import CHROMIUM

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]

WIDTHS = (560, 960)
"""CSS pixels of an output in JupyterLab, with windows of 1000 and 1440 pixels."""

CUT = """() => {
    const box = document.querySelector('main'), cut = [];
    if (box.scrollWidth > box.clientWidth) cut.push('the page');
    for (const svg of box.querySelectorAll('svg')) {
        const own = svg.parentElement, scrolls = own.offsetHeight > own.clientHeight;
        if (own.scrollWidth > own.clientWidth && !scrolls) cut.push('without a scroll bar');
        if (svg.getBoundingClientRect().width < 0.74 * svg.getAttribute('width'))
            cut.push('too small to read');
    }
    return cut;
}"""


def _islands(x: Any, y: Any) -> Any:
    _ = [torch.relu(torch.add(y, i)) * torch.sin(y) for i in range(3)]
    return torch.sigmoid(x) + torch.cos(x)


def _wide(x: Any) -> Any:
    return torch.cat([torch.relu(torch.add(x, i, alpha=2)) for i in range(9)], dim=-1)


def _two_resnets() -> Picture:
    model = torchvision.models.resnet18()
    gm = fx.symbolic_trace(model)
    node = next(each for each in gm.graph.nodes if each.name == "layer2_0_relu")
    node.op, node.target = "call_function", torch.tanh
    return draw.diff(model, gm, "Two models")


def _self_loop() -> Picture:
    gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y) + torch.sin(y))
    relu = next(node for node in gm.graph.nodes if node.target is torch.relu)
    with gm.graph.inserting_after(relu):
        neg = gm.graph.call_function(torch.neg, (relu,))
    relu.replace_all_uses_with(neg)
    return draw.diff(lambda x, y: torch.relu(x + y) + torch.sin(y), gm)


PICTURES: dict[str, Callable[[], Picture]] = {
    "two resnets": _two_resnets,
    "resnet": lambda: draw(torchvision.models.resnet18()),
    "self-loop": _self_loop,
    "islands": lambda: draw(_islands),
    "wide": lambda: draw(_wide),
}


def test_no_picture_is_cut_without_a_sign() -> None:
    from playwright.sync_api import sync_playwright

    shown = {name: make().html() for name, make in PICTURES.items()}
    with sync_playwright() as playwright:
        # Headless Chromium hides scroll bars by default.
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox"],
            ignore_default_args=["--hide-scrollbars"],
        )
        page = browser.new_page()
        for width in WIDTHS:
            for name, html in shown.items():
                style = f"width:{width}px;overflow:hidden"
                page.set_content(f'<main style="{style}">{html}</main>')
                assert page.evaluate(CUT) == [], (name, width)
        browser.close()
