"""What a person wrote in markdown, as HTML that loads nothing: a formula becomes a picture."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import mistune
from markupsafe import Markup, escape
from mistune.plugins.math import math

from autograder.drawing.html import block, clean, rich
from autograder.submission.sanitize.policy import PICTURE

_ELSEWHERE = re.compile(r"(https?://|mailto:)[^\s\\]+$")

MAX_FORMULA = 400
"""Characters of a formula; a longer one is shown as it was typed."""

_ALSO = {
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
"""Commands that matplotlib knows under another name only."""

_COMMAND = re.compile(r"\\[A-Za-z]+")

_SIZE = 100.0
"""Units of a formula's picture that are as high as a line of text."""


class _Writing(mistune.HTMLRenderer):
    """HTML is escaped; a picture is shown only if it stands in the text itself."""

    def __init__(self) -> None:
        super().__init__(escape=True)

    def block_code(self, code: str, info: str | None = None) -> str:
        return block(code)

    def codespan(self, text: str) -> str:
        return rich(f"``{text}``" if "`" in text else f"`{text}`")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """A link to another site; any other address would be one of the reader's own."""
        if not _ELSEWHERE.match(url):
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


_markdown = mistune.Markdown(_Writing(), plugins=[math])


def written(text: str) -> Markup:
    """Markdown as HTML that asks no network for anything."""
    return Markup(_markdown(clean(text).strip() + "\n"))


@lru_cache(maxsize=512)
def formula(tex: str) -> Markup:
    """A formula as a picture in the colour of the text; as code where it cannot be drawn."""
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
    """Left, bottom, width, height and outline of a formula; ``None`` where it cannot be drawn."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    known = _COMMAND.sub(lambda match: _ALSO.get(match[0], match[0]), tex)
    try:
        found: Any = TextPath((0, 0), f"${known}$", size=_SIZE, prop=FontProperties())
    except (ValueError, RuntimeError):  # no formula, or one that matplotlib cannot set
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
        # The points of a curve come one by one; its letter stands before the first of them.
        count = {"Q": 2, "C": 3}.get(sign, 1)
        if last is None or last[0] != sign or last[1] == 0:
            parts.append(sign)
            last = (sign, count)
        parts.append(f"{x:.0f} {y:.0f}")
        last = (sign, last[1] - 1)
    box = found.get_extents().padded(2.0)
    return box.x0, box.y0, box.width, box.height, " ".join(parts)
