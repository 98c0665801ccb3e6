"""Screenshots of the pictured cards, and of a film, in the colors of JupyterLab's themes."""

from __future__ import annotations

import inspect
import json
import linecache
from collections.abc import Callable
from typing import Any

import torch
from playwright.sync_api import Browser
from torch import nn

from autograder.cards.film import Film
from autograder.core.exercise import Trial
from autograder.core.limits import Limits
from autograder.learner.replay import film_of
from pictures import answers
from pictures.browser import chromium, new_page, save, theme_styles
from pictures.cards import CARDS, card_of, card_texts
from pictures.gallery import TEXTS, THEMES, descriptions

PAGE_COLORS = {"light": "#ffffff", "dark": "#0d1117"}
"""The background at the round corners of a card, which is the background of GitHub's pages."""


def take() -> None:
    """Make a picture of each card, and write its text form."""
    cards = {name: card_of(name)._repr_mimebundle_()["text/html"] for name in CARDS}
    cards["steps"] = _film()._repr_mimebundle_()["text/html"]
    with chromium() as browser:
        for theme in THEMES:
            for name, html in cards.items():
                save(_screenshot(browser, theme, html, descriptions()[name].width), name, theme)
    text = json.dumps(card_texts(), indent=1, ensure_ascii=False)
    TEXTS.write_text(text + "\n", encoding="utf-8", newline="\n")


def _screenshot(browser: Browser, theme: str, html: str, width: int) -> bytes:
    page = new_page(browser, theme, width)
    page.set_content(f"<!DOCTYPE html><style>{theme_styles(theme)}</style>{html}")
    if page.get_by_role("radio").count():  # from the first step of a film to the last
        page.get_by_role("radio").first.press("ArrowLeft")
    page.add_style_tag(content=f"body{{margin:0;background:{PAGE_COLORS[theme]}!important}}")
    png = page.locator("body > div").screenshot()
    page.close()
    return png


def _film() -> Film:
    """The film of a pass that makes a loop, with the line numbers of a cell."""

    class Model(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.add(x, y) * x

    answer = _in_a_cell(answers.relu_after_add)
    return Film(film_of("transform", answer, lambda seed: Trial((Model(),)), Limits()))


def _in_a_cell(answer: Callable[..., Any]) -> Any:
    """The function as if its text were a notebook's cell."""
    text, cell = inspect.getsource(answer), "<a cell>"
    linecache.cache[cell] = (len(text), None, text.splitlines(keepends=True), cell)
    names = dict(answer.__globals__)
    exec(compile(text, cell, "exec"), names)
    return names[answer.__name__]
