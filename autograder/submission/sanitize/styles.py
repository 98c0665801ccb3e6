"""Keeps the harmless declarations of inline styles.

Nothing here parses CSS. A declaration stays only if all of it has one simple form, which every
browser reads in the same way: a known name, then words, numbers, colors and short texts. In this
form it cannot load anything, contain escapes or comments, or draw outside of its box.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NAMES = frozenset(
    "align-items background background-color border-collapse border-radius border-spacing "
    "box-sizing clear color cursor display empty-cells flex flex-direction flex-wrap float font "
    "font-family font-size font-style font-variant font-weight gap height justify-content "
    "letter-spacing line-height list-style list-style-type max-height max-width min-height "
    "min-width overflow overflow-wrap overflow-x overflow-y scrollbar-color scrollbar-width "
    "table-layout text-align text-decoration text-decoration-color text-indent text-transform "
    "vertical-align white-space width word-break word-spacing word-wrap".split()
)
_BOXES = re.compile(r"(margin|padding|border)(-(top|right|bottom|left))?(-(color|style|width))?"
                    r"|border-(color|style|width)")  # fmt: skip

_BETWEEN = r"(?:\s*[,/]\s*|\s+)"
_PLAIN = (
    r"(?:#[0-9A-Fa-f]{3,8}"
    r"|\+?(?:\d+(?:\.\d+)?|\.\d+)(?:%|[A-Za-z]{1,4})?"
    r"|-?[A-Za-z_][\w-]*"
    r"|\"[\w ,.+-]*\"|'[\w ,.+-]*')"
)
_COLOUR = rf"(?:rgba?|hsla?)\(\s*{_PLAIN}(?:{_BETWEEN}{_PLAIN})*\s*\)"
_OF_THEME = rf"var\(\s*--[\w-]+\s*(?:,\s*(?:{_COLOUR}|{_PLAIN})\s*)?\)"
_SHARE = rf"(?:{_COLOUR}|{_OF_THEME}|{_PLAIN})(?:\s+\d+%)?"
_MIX = rf"color-mix\(\s*in\s+[a-z-]+\s*,\s*{_SHARE}\s*,\s*{_SHARE}\s*\)"
_STOP = rf"(?:{_COLOUR}|{_OF_THEME}|{_MIX}|{_PLAIN})"
_PART = rf"(?:linear-gradient\(\s*{_STOP}(?:{_BETWEEN}{_STOP})*\s*\)|{_STOP})"
_VALUE = re.compile(rf"\s*{_PART}(?:{_BETWEEN}{_PART})*\s*(?:!\s*important\s*)?", re.A | re.I)
_BELOW_ZERO = re.compile(r"\s*-(?:\d+(?:\.\d+)?|\.\d+)(?:%|[A-Za-z]{1,4})\s*", re.A)
_LONGEST = 1_000
_BLANKS = " \t\n\r\f"


@lru_cache(maxsize=4096)
def kept_style(style: str) -> str:
    """Drop the declarations of a `style` that load something or draw outside of their box."""
    if is_harmless_style(style):
        return style
    parts = style.split(";") if len(style) <= _LONGEST else []
    return ";".join(part.strip(_BLANKS) for part in parts if _is_kept(part))


@lru_cache(maxsize=4096)
def is_harmless_style(style: str) -> bool:
    """Whether all declarations of a `style` can be kept."""
    # No part that is kept contains a `;`, so browsers see the same parts.
    return len(style) <= _LONGEST and all(
        _is_kept(part) for part in style.split(";") if part.strip(_BLANKS)
    )


def _is_kept(declaration: str) -> bool:
    before, _, value = declaration.partition(":")
    name = before.strip(_BLANKS).lower()
    if name == "vertical-align" and _BELOW_ZERO.fullmatch(value):
        return True
    known = name in _NAMES or _BOXES.fullmatch(name)
    return bool(known and _VALUE.fullmatch(value))
