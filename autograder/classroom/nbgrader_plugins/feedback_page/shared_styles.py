"""Shrinks a page by writing each inline style that many elements share only once.

Cards have their styles on their elements, because notebooks drop style sheets. On a page, which can
have a style sheet, these repeated styles would be half of its size.
"""

from __future__ import annotations

import re
from collections import Counter

PLACE = "/* styles */"
"""The placeholder for the shared styles in the page's style sheet."""

_TAG = re.compile(r'<[a-z][a-z0-9]*(?:\s+[a-zA-Z][\w:-]*(?:="[^"]*")?)*\s*/?>')
_STYLE = re.compile(r'\sstyle="([^"]*)"')


def with_shared_styles(page: str) -> str:
    """Replace each style that more than one element has by a class.

    Text that students wrote is escaped, so it contains no tags that this could change.
    """
    styles = Counter(filter(None, map(_own_style, _TAG.finditer(page))))
    names = {
        style: f"s{place}"
        for place, (style, count) in enumerate(styles.most_common())
        if count > 1 and not set(style) & set("{}<")
    }

    def with_class(match: re.Match[str]) -> str:
        name = names.get(_own_style(match))
        return _STYLE.sub(f' class="{name}"', match[0], count=1) if name else match[0]

    rules = "".join(f".{name}.{name}{{{_unescaped(style)}}}" for style, name in names.items())
    return _TAG.sub(with_class, page).replace(PLACE, rules, 1)


def _own_style(tag: re.Match[str]) -> str:
    """The style of an element without a class."""
    found = _STYLE.search(tag[0]) if ' class="' not in tag[0] else None
    return found[1] if found else ""


def _unescaped(style: str) -> str:
    return style.replace("&#39;", "'").replace("&amp;", "&")
