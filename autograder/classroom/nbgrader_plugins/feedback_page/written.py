"""Renders a person's markdown as HTML without external resources; formulas become pictures."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import mistune
from markupsafe import Markup, escape
from mistune.plugins.math import math

from autograder.drawing.html import block, clean, rich
from autograder.submission.sanitize.policy import PICTURE

_EXTERNAL_LINK = re.compile(r"(https?://|mailto:)[^\s\\]+$")

MAX_FORMULA = 400
"""The most characters of a formula; a longer one is shown as it was typed."""

_SYNONYMS = {
    r"\le": r"\leq",
    r"\ge": r"\geq",
    r"\land": r"\wedge",
    r"\lor": r"\vee",
    r"\iff": r"\Leftrightarrow",
    r"\implies": r"\Rightarrow",
    r"\lVert": r"\|",
    r"\rVert": r"\|",
    r"\lvert": "|",
    r"\rvert": "|",
}
"""Commands that matplotlib knows only under another name."""

_COMMAND = re.compile(r"\\[A-Za-z]+")

_SIZE = 100.0
"""The height of a line of text, in units of a formula's picture."""


class _Renderer(mistune.HTMLRenderer):
    """Escapes HTML, and shows a picture only if its data is in the text."""

    def __init__(self) -> None:
        super().__init__(escape=True)

    def block_code(self, code: str, info: str | None = None) -> str:
        return block(code)

    def codespan(self, text: str) -> str:
        return rich(f"``{text}``" if "`" in text else f"`{text}`")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Keep a link to another site; other addresses would point into the reader's own files."""
        if not _EXTERNAL_LINK.match(url):
            return text
        return f'<a href="{escape(url)}" rel="noopener noreferrer">{text}</a>'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        if not PICTURE.fullmatch(url):
            return f"[{escape(text or 'a picture')}]"
        return f'<img alt="{escape(text or "a picture")}" src="{escape(url)}">'

    def inline_math(self, text: str) -> str:
        return formula(text)

    def block_math(self, text: str) -> str:
        return f'<div class="formula">{formula(text)}</div>'


_markdown = mistune.Markdown(_Renderer(), plugins=[math])


def written(text: str) -> Markup:
    """Render markdown as HTML that makes no network requests."""
    return Markup(_markdown(clean(text).strip() + "\n"))


@lru_cache(maxsize=512)
def formula(tex: str) -> Markup:
    """Draw a formula as a picture in the color of the text; as code if it cannot be drawn."""
    tex = " ".join(tex.split())
    path = _path(tex) if tex and len(tex) <= MAX_FORMULA else None
    if path is None:
        return Markup(rich(f"``{tex}``" if "`" in tex else f"`{tex}`"))
    left, bottom, width, height, drawn = path
    size = f"width:{width / _SIZE:.3f}em;height:{height / _SIZE:.3f}em"
    place = f"vertical-align:{bottom / _SIZE:.3f}em"
    box = f"{left:.1f} {-(bottom + height):.1f} {width:.1f} {height:.1f}"
    return Markup(
        '<svg role="img" aria-label="{}" viewBox="{}" style="{};{}"><path fill="currentColor" '
        'transform="scale(1 -1)" d="{}"/></svg>'
    ).format(tex, box, size, place, drawn)


def _path(tex: str) -> tuple[float, float, float, float, str] | None:
    """Left, bottom, width, height and outline of a formula; ``None`` if it cannot be drawn."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    known = _COMMAND.sub(lambda match: _SYNONYMS.get(match[0], match[0]), tex)
    try:
        found: Any = TextPath((0, 0), f"${known}$", size=_SIZE, prop=FontProperties())
    except (ValueError, RuntimeError):  # not a formula, or one that matplotlib cannot draw
        return None
    if not len(found.vertices):
        return None
    signs = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}
    parts, last = [], None
    for (x, y), code in zip(found.vertices, found.codes, strict=True):
        if code == Path.CLOSEPOLY:
            parts.append("Z")
            last = None
            continue
        sign = signs[code]
        # A curve has several points, one after the other; its letter comes before the first.
        count = {"Q": 2, "C": 3}.get(sign, 1)
        if last is None or last[0] != sign or last[1] == 0:
            parts.append(sign)
            last = (sign, count)
        parts.append(f"{x:.0f} {y:.0f}")
        last = (sign, last[1] - 1)
    box = found.get_extents().padded(2.0)
    return box.x0, box.y0, box.width, box.height, " ".join(parts)
