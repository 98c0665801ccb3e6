"""The committed pictures: their files, their descriptions, and their HTML on a page."""

from __future__ import annotations

import html
import os
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.builder.paths import ROOT

PICTURES = ROOT / "docs" / "_static" / "pictures"
TEXTS = PICTURES / "cards.json"
"""The text form of each pictured card. A test compares it with the current card."""

LIGHT, DARK = THEMES = ("light", "dark")
MAX_BYTES = 200_000
"""The size limit of one picture, because a page with a few of them must load quickly."""


@dataclass(frozen=True)
class Description:
    """One entry of ``alt.toml``.

    Attributes:
        alt: the picture in words, for readers who cannot see it.
        width: the width on a page, in CSS pixels.
    """

    alt: str
    width: int


@cache
def descriptions() -> dict[str, Description]:
    """The pictures by name; each has a light and a dark form."""
    texts = tomllib.loads((ROOT / "pictures" / "alt.toml").read_text(encoding="utf-8"))
    return {
        name: Description(" ".join(row["alt"].split()), row["width"]) for name, row in texts.items()
    }


def path_of(name: str, theme: str) -> Path:
    """The file of a picture in a theme."""
    return PICTURES / f"{name}-{theme}.png"


def picture_html(name: str, page: Path) -> str:
    """The HTML of a picture on a page, in the reader's theme.

    Args:
        name: a name in ``alt.toml``.
        page: the Markdown file; the links are relative to it.
    """
    light, dark = (
        Path(os.path.relpath(path_of(name, theme), page.parent)).as_posix() for theme in THEMES
    )
    return two_themes(light, dark, descriptions()[name].alt, descriptions()[name].width)


def two_themes(light: str, dark: str, alt: str, width: int) -> str:
    """A ``<picture>`` that GitHub and browsers show in the reader's theme."""
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img src="{light}" alt="{html.escape(alt)}" width="{width}"></picture>'
    )
