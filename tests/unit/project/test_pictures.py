"""The committed pictures exist, are small, and match the current product."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from PIL import Image

from autograder.builder.paths import ROOT
from pictures.cards import CARDS, card_of
from pictures.gallery import MAX_BYTES, PICTURES, TEXTS, THEMES, descriptions, path_of

STALE = "is not up to date. Run: make pictures PICTURES_ARGS=cards"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

_IMAGE = re.compile(
    r'<img src="(?P<src>[^"]+)" alt="(?P<alt>[^"]*)"|!\[(?P<alt_>[^]]*)\]\((?P<src_>[^)]+)\)'
)


def test_every_picture_has_a_light_and_a_dark_form() -> None:
    assert {path.name for path in PICTURES.glob("*.png")} == {
        path_of(name, theme).name for name in descriptions() for theme in THEMES
    }


@pytest.mark.parametrize("name", descriptions())
def test_a_picture_is_small_and_sharp(name: str) -> None:
    for theme in THEMES:
        path = path_of(name, theme)
        assert path.stat().st_size <= MAX_BYTES
        with Image.open(path) as picture:
            picture.verify()
            width, height = picture.size
        assert picture.format == "PNG"
        assert descriptions()[name].width <= width <= 3 * descriptions()[name].width
        assert 60 <= height <= 2 * width


@pytest.mark.parametrize("name", CARDS)
def test_a_card_is_that_of_today(name: str) -> None:
    pictured = json.loads(TEXTS.read_text(encoding="utf-8"))
    assert pictured.get(name) == str(card_of(name)), f"{name} {STALE}"


@pytest.mark.parametrize("name", CARDS)
def test_the_words_for_a_card_are_true(name: str) -> None:
    text, alt = str(card_of(name)), descriptions()[name].alt
    assert set(re.findall(r"\d+", alt)) <= set(re.findall(r"\d+", text))
    assert CARDS[name].exercise in alt
    assert ("green" in alt) == text.startswith("✓ Passed")


def _alts_in(page: Path) -> dict[str, str]:
    """The alternative text of each committed picture on a page."""
    found = _IMAGE.finditer(page.read_text(encoding="utf-8"))
    pairs = ((one["src"] or one["src_"], one["alt"] or one["alt_"] or "") for one in found)
    return {Path(src).stem: html.unescape(alt) for src, alt in pairs if "_static/pictures/" in src}


def test_pages_describe_a_picture_in_the_same_words() -> None:
    wrong = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in PAGES
        for name, alt in _alts_in(page).items()
        if alt != descriptions()[re.sub(r"-(light|dark)$", "", name)].alt
    ]
    assert wrong == [], "alt.toml in the folder pictures has the words for each picture"
