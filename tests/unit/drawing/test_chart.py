"""Figures of matplotlib in the colors of a notebook's theme."""

from __future__ import annotations

import re

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import select_figure_formats
from matplotlib.figure import Figure

from autograder import api
from autograder.drawing.html import INK, PAPER
from autograder.environment import notebook_kernel
from tests.unit.cards.test_show_card import Reader


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> InteractiveShell:
    """A kernel's shell in which the course's `check` is imported."""
    found = InteractiveShell()
    found.kernel = None
    monkeypatch.setattr(notebook_kernel, "shell", lambda: found)
    api.Check().begin()
    select_figure_formats(found, {"png"})  # as matplotlib does for the first figure
    return found


def shown(shell: InteractiveShell, figure: Figure) -> str:
    return str(shell.display_formatter.format(figure)[0].get("text/html", ""))


def test_a_figure_has_the_paper_and_the_ink_of_the_theme(shell: InteractiveShell) -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([1, 2], color="#3b6ea5")
    axes.set(title="How <long>?", xlabel="call", ylabel="milliseconds")
    html = shown(shell, figure)
    assert 'aria-label="Chart: How &lt;long&gt;?; milliseconds by call"' in html
    assert f"fill: {PAPER}" in html and f"stroke: {INK}" in html and f";fill:{INK};" in html
    fixed = html.replace(INK, "").replace(PAPER, "")
    assert "#000000" not in fixed and "#ffffff" not in fixed and "stroke: #3b6ea5" in fixed
    # The figure has no page-wide style, and its ids are unique.
    assert "<style" not in html and "<metadata" not in html
    ids = set(re.findall(r' id="([^"]+)"', html))
    assert ids and all(f"#{each}" in html for each in ids)
    reader = Reader()
    reader.feed(html)
    assert not reader.open


def test_black_and_white_that_are_values_stay(shell: InteractiveShell) -> None:
    figure = Figure()
    figure.subplots().pcolormesh([[0.0, 1.0]], cmap="gray")
    assert shown(shell, figure) == ""
