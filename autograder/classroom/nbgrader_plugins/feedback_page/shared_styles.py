"""Makes a page smaller: a style that many elements carry is written once.

Cards carry their styles on their elements, because notebooks drop style sheets. A page of its own
has a style sheet, and half of what it weighs would be the same few styles.
"""

from __future__ import annotations

import re
from collections import Counter

PLACE = "/* styles */"
"""Where the style sheet of the page gets the shared ones."""

_TAG = re.compile(r'<[a-z][a-z0-9]*(?:\s+[a-zA-Z][\w:-]*(?:="[^"]*")?)*\s*/?>')
_STYLE = re.compile(r'\sstyle="([^"]*)"')


def with_shared_styles(page: str) -> str:
    """The page with a class for each style that stands on more than one element.

    What students wrote is escaped, and has no tags that this could change.
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
    """The style of an element that has no class."""
    found = _STYLE.search(tag[0]) if ' class="' not in tag[0] else None
    return found[1] if found else ""


def _unescaped(style: str) -> str:
    return style.replace("&#39;", "'").replace("&amp;", "&")
