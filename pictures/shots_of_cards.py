"""Screenshots of the pictured cards, in the colors of JupyterLab's themes."""

from __future__ import annotations

import json

from playwright.sync_api import Browser

from pictures.browser import chromium, new_page, save, theme_styles
from pictures.cards import CARDS, card_of, card_texts
from pictures.gallery import TEXTS, THEMES, descriptions

PAGE_COLORS = {"light": "#ffffff", "dark": "#0d1117"}
"""The background at the round corners of a card, which is the background of GitHub's pages."""


def take() -> None:
    """Make a picture of each card, and write its text form."""
    cards = {name: card_of(name)._repr_mimebundle_()["text/html"] for name in CARDS}
    with chromium() as browser:
        for theme in THEMES:
            for name, html in cards.items():
                save(_screenshot(browser, theme, html, descriptions()[name].width), name, theme)
    text = json.dumps(card_texts(), indent=1, ensure_ascii=False)
    TEXTS.write_text(text + "\n", encoding="utf-8", newline="\n")


def _screenshot(browser: Browser, theme: str, html: str, width: int) -> bytes:
    page = new_page(browser, theme, width)
    page.set_content(f"<!DOCTYPE html><style>{theme_styles(theme)}</style>{html}")
    page.add_style_tag(content=f"body{{margin:0;background:{PAGE_COLORS[theme]}!important}}")
    png = page.locator("body > div").screenshot()
    page.close()
    return png
