"""Renders the markdown of hints as HTML in the cards' own style."""

from __future__ import annotations

from typing import Any

import mistune

from autograder.drawing.html import INK, block, clean, rich


class _InOurStyle(mistune.HTMLRenderer):
    """A renderer with inline styles, because notebooks drop style sheets. HTML is escaped."""

    def __init__(self) -> None:
        super().__init__(escape=True)

    def paragraph(self, text: str) -> str:
        return f'<div style="margin:5px 0;color:{INK}">{text}</div>'

    def block_code(self, code: str, info: str | None = None) -> str:
        return block(code)

    def codespan(self, text: str) -> str:
        return rich(f"``{text}``" if "`" in text else f"`{text}`")

    def list(self, text: str, ordered: bool, **attrs: Any) -> str:
        tag = "ol" if ordered else "ul"
        return f'<{tag} style="margin:2px 0 5px 22px;padding:0;color:{INK}">{text}</{tag}>'

    def list_item(self, text: str) -> str:
        return f'<li style="margin:1px 0">{text}</li>'


_markdown = mistune.Markdown(_InOurStyle())


def markdown_html(text: str) -> str:
    """Render markdown as HTML."""
    return str(_markdown(clean(text).strip() + "\n")).strip()
