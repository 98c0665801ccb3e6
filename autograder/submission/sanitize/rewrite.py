"""Rebuilds the HTML and SVG of outputs from their harmless parts."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import nh3

from autograder.submission.sanitize.policy import (
    EMPTY,
    FREE,
    MAY_STAY_OPEN,
    PICTURE,
    PROTOCOLS,
    TAGS,
    allowed,
)
from autograder.submission.sanitize.reader import Html
from autograder.submission.sanitize.styles import kept_style

_MOST_ENTITIES = 100_000
"""Most entities in a text; the time of `nh3` grows with the square of their number."""
_DEEPEST = 200
_BOX = '<div style="overflow:auto">{}</div>'


def clean_html(text: str) -> str | None:
    """Rebuild HTML of an output, in a box of its own; ``None`` if it is too large or unbalanced."""
    for name in ("script", "style", "title", "head"):
        text = _replaced(text, name, lambda part: "")
    text = _replaced(text, "svg", _as_picture)
    # The reader escapes incomplete markup, so its limits apply to exactly the tags that `nh3` sees.
    # Only `nh3` and our policy decide whether something is harmless.
    reader = Html()
    text = reader.read(text)
    if reader.is_too_much() or text.count("&") > _MOST_ENTITIES:
        return None
    text = _CLEANER.clean(_FIRST_LINE.sub(r"\1\n\n", text))
    if not stays_inside(text):
        return None
    return _BOX.format(text) if "style=" in text else text


_FIRST_LINE = re.compile(r"(<pre\b[^<>]*>)\n", re.I)
"""Parsers ignore a newline there, and `nh3` drops it."""


def _kept(tag: str, name: str, value: str) -> str | None:
    if name == "style":
        return kept_style(value) or None
    return value if allowed(tag, name, value) else None


_CLEANER = nh3.Cleaner(
    tags=TAGS,
    clean_content_tags=set(),
    attributes={
        "*": FREE | {"class", "style", "cite"},
        "a": {"href", "rel", "target"},
        "img": {"src"},
    },
    attribute_filter=_kept,
    url_schemes={*PROTOCOLS, "data"},
    link_rel=None,  # `policy` decides which relations may stay
)

_BEGIN, _LAST, _END = "<main><div>", '<wbr title="end">', "</div></main>"
_ENDS = re.compile(rf"(?:</(?:{'|'.join(sorted(MAY_STAY_OPEN))})>)*{_END}")
_ONLY_TAGS = nh3.Cleaner(
    tags=TAGS,
    clean_content_tags=set(),
    attributes={"wbr": {"title"}},
    attribute_filter=lambda tag, name, value: value if value == "end" else None,
    link_rel=None,
)


def stays_inside(html: str) -> bool:
    """Whether HTML inserted into a page closes only the tags that it opens, as browsers read it.

    In `<h1><div></h1></div>` the second end tag of a `div` would close one of the page's own.
    """
    made, _, end = _ONLY_TAGS.clean(f"{_BEGIN}{html}{_LAST}{_END}").rpartition(_LAST)
    if not made.startswith(_BEGIN) or not _ENDS.fullmatch(end):
        return False
    depth = 0
    for tag in re.finditer(r"<(/?)([a-z0-9]+)", made.removeprefix(_BEGIN)):
        if tag[2] not in EMPTY:
            depth += -1 if tag[1] else 1
            if depth < 0:
                return False
    return depth == end.removesuffix(_END).count("</")


def _replaced(text: str, name: str, by: Callable[[str], str]) -> str:
    """Replace every element of this name, from its start tag to the next end tag."""
    begins, ends = re.compile(rf"<{name}\b", re.I), re.compile(rf"</{name}\s*>", re.I)
    out, at = [], 0
    while (begin := begins.search(text, at)) and (end := ends.search(text, begin.end())):
        out += [text[at : begin.start()], by(text[begin.start() : end.end()])]
        at = end.end()
    return "".join([*out, text[at:]])


def _as_picture(svg: str) -> str:
    """A drawing within HTML, as a picture, in which no script can run."""
    cleaned = clean_svg(svg)
    if cleaned is None:
        return ""
    return f'<img src="data:image/svg+xml;base64,{base64.b64encode(cleaned.encode()).decode()}">'


_SVG_TAGS = frozenset(
    "svg g path rect circle ellipse line polyline polygon text tspan textPath defs use clipPath "
    "linearGradient radialGradient stop marker pattern symbol title desc mask style image".split()
)
_SVG_NAME = "http://www.w3.org/2000/svg"


def clean_svg(text: str) -> str | None:
    """Keep only shapes, text and pictures of a drawing; ``None`` if it is not a drawing."""
    text = re.sub(r"^\s*(<\?xml[^>]*\?>)?\s*(<!--.*?-->\s*)*(<!DOCTYPE[^>\[]*>)?", "", text,
                  count=1, flags=re.S)  # fmt: skip
    if re.search(r"<!(DOCTYPE|ENTITY)", text, re.I):
        return None
    if "xlink:" in text and "xmlns:xlink" not in text:
        text = text.replace("xlink:", "")
    try:
        root = ElementTree.fromstring(text)
        drawn = _drawn(root, 0) if root.tag.rpartition("}")[2] == "svg" else ""
    except (ElementTree.ParseError, ValueError, RecursionError):
        return None
    return drawn.replace("<svg", f'<svg xmlns="{_SVG_NAME}"', 1) or None


def _drawn(element: Any, depth: int) -> str:
    name = str(element.tag).rpartition("}")[2]
    if name not in _SVG_TAGS or depth > _DEEPEST:
        return ""
    pairs = ((key.rpartition("}")[2], value) for key, value in element.attrib.items())
    attributes = "".join(f" {k}={quoteattr(v)}" for k, v in pairs if _may_be_drawn(name, k, v))
    text = element.text or ""
    if name == "style" and not _harmless_in_svg(text):
        return ""
    inner = escape(text) + "".join(
        _drawn(child, depth + 1) + escape(child.tail or "") for child in element
    )
    return f"<{name}{attributes}>{inner}</{name}>"


def _may_be_drawn(tag: str, name: str, value: str) -> bool:
    if name == "href":
        return value.startswith("#") or (tag == "image" and bool(PICTURE.fullmatch(value)))
    known = re.fullmatch(r"[A-Za-z][\w-]*", name) and not name.lower().startswith("on")
    return bool(known) and name not in ("base", "src") and _harmless_in_svg(value)


_LOADS = re.compile(
    r"url\(\s*+[\"']?+\s*+[^#\"'\s]|image|cross-fade|src\b|//|@|\\|(java|vb)script:|expression",
    re.I,
)
"""Constructs by which a style or attribute of a drawing loads or runs something."""


def _harmless_in_svg(text: str) -> bool:
    return not _LOADS.search(text)
