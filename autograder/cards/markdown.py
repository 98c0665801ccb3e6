"""The little markdown that hints are written in, as HTML: paragraphs, lists, code, bold."""

from __future__ import annotations

import re

from autograder.drawing.html import INK, block, clean, rich

_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```[ \t]*$", re.M | re.S)
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")


def markdown_html(text: str) -> str:
    """Markdown as HTML; whatever is not known here stands as it was written."""
    parts = _FENCE.split(clean(text).strip() + "\n")
    out = []
    for i, part in enumerate(parts):
        if i % 2:
            out.append(block(part))
        else:
            out += [_paragraph(p) for p in re.split(r"\n\s*\n", part) if p.strip()]
    return "".join(out)


def _paragraph(text: str) -> str:
    lines = text.strip("\n").split("\n")
    if not any(_ITEM.match(line) for line in lines):
        return f'<div style="margin:5px 0;color:{INK}">{_inline(" ".join(lines))}</div>'
    before, items = [], []
    for line in lines:
        if _ITEM.match(line):
            items.append(_ITEM.sub("", line))
        elif items:
            items[-1] += " " + line.strip()
        else:
            before.append(line)
    rows = "".join(f'<li style="margin:1px 0">{_inline(item)}</li>' for item in items)
    lead = _paragraph("\n".join(before)) if before else ""
    tag = "ol" if re.match(r"\s*\d+\.", lines[len(before)]) else "ul"
    return f'{lead}<{tag} style="margin:2px 0 5px 22px;padding:0;color:{INK}">{rows}</{tag}>'


def _inline(text: str) -> str:
    return _BOLD.sub(r"<strong>\1</strong>", rich(text))
