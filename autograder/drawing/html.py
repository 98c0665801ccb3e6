"""Small pieces of HTML, which escape everything that comes from outside.

Styles are inline, because JupyterLab removes ``<style>`` and scripts. Colors are those of the
theme, so that nothing is white in a dark theme; each piece with text sets its own.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

INK_VALUE = "var(--jp-content-font-color1,#1d2430)"
PAPER_VALUE = "var(--jp-layout-color1,#ffffff)"
# Colors of JupyterLab's theme, or ours if there is none.
INK, PAPER = INK_VALUE, PAPER_VALUE
QUIET = f"color-mix(in srgb,{INK_VALUE} 76%,{PAPER_VALUE})"
RULE = "var(--jp-border-color2,#d5dae1)"
WELL = "var(--jp-layout-color2,#f3f5f8)"
SANS = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"
MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"

_ANSI = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)?")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f]")
_BROKEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def clean(text: object) -> str:
    """The text without terminal colors, control characters and changes of direction."""
    plain = str(text).replace("\r\n", "\n").replace("\r", "\n")
    return _BROKEN.sub("\N{REPLACEMENT CHARACTER}", _BIDI.sub("", _ANSI.sub("", plain)))


def bounded(text: str, lines: int, width: int = 400) -> str:
    """At most `lines` lines of at most `width` characters, with the number of lines left out."""
    every = clean(text).strip("\n").split("\n")
    shown = [line if len(line) <= width else line[: width - 1] + "…" for line in every[:lines]]
    left = len(every) - len(shown)
    if left:
        shown.append(f"… and {left} more line{'' if left == 1 else 's'}")
    return "\n".join(shown)


def escaped(text: object) -> str:
    """The text, escaped for HTML."""
    return html.escape(clean(text), quote=True)


def rich(text: str) -> str:
    """A message as HTML; text in backticks becomes code."""
    parts = re.split(r"(`+)(?=\S)(.+?)(?<=\S)\1(?!`)", clean(text), flags=re.S)
    out = [escaped(parts[0])]
    for _, inner, rest in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        out += [code(inner), escaped(rest)]
    return "".join(out)


def plain(text: str) -> str:
    """A message as plain text, with its backticks."""
    return clean(text)


def code(text: str) -> str:
    """A piece of code within a line."""
    style = (f"{MONO};font-size:92%;background:{WELL};color:{INK};"
             "padding:1px 4px;border-radius:3px;white-space:pre-wrap")  # fmt: skip
    return f'<code style="{style}">{escaped(text)}</code>'


def bold_line(text: str) -> str:
    """A bold line above something; empty if there is no text."""
    return f'<div style="font-weight:600;color:{INK}">{rich(text)}</div>' if text else ""


def sheet(inner: str) -> str:
    """A frame as wide as its content."""
    style = (f"{SANS};font-size:14px;background:{PAPER};color:{INK};border:1px solid {RULE};"
             "border-radius:6px;padding:4px 10px 8px 10px;margin:4px 0;display:inline-block;"
             "max-width:100%;box-sizing:border-box")  # fmt: skip
    return f'<div style="{style}">{inner}</div>'


def framed(inner: str, *, edge: str = "#1f78ae", label: str = "") -> str:
    """A box with a colored left edge, such as the box of a hint.

    Args:
        inner: its content as HTML.
        edge: the color of the edge.
        label: if given, a screen reader announces the box as a region of this name.
    """
    style = (f"{SANS};font-size:14px;line-height:1.45;background:{PAPER};color:{INK};"
             f"border:1px solid {RULE};border-left:6px solid {edge};border-radius:6px;"
             "padding:8px 16px 9px 14px;margin:4px 0;max-width:900px;box-sizing:border-box;"
             "overflow-x:auto")  # fmt: skip
    region = f'role="region" aria-label="{escaped(label)}" ' if label else ""
    return f'<div {region}style="{style}">{inner}</div>'


_BLOCK = (
    f"{MONO};font-size:12.5px;line-height:1.45;background:{WELL};color:{INK};"
    f"border:1px solid {RULE};border-radius:4px;padding:7px 10px;margin:3px 0 0 0"
)


def block(text: str, lines: int = 60) -> str:
    """Lines of code or output; long lines scroll, so that a reader can copy them unchanged."""
    style = f"{_BLOCK};overflow-x:auto;white-space:pre"
    return f'<pre style="{style}">{escaped(bounded(text, lines))}</pre>'


def wrapped(inner: str) -> str:
    """Lines of code or output, in which long lines wrap; `inner` is HTML already."""
    return f'<pre style="{_BLOCK};white-space:pre-wrap;overflow-wrap:anywhere">{inner}</pre>'


def folded(summary: str, body: str) -> str:
    """A closed fold; `body` is HTML already."""
    head = f"cursor:pointer;color:{QUIET};font-size:13px"
    return (f'<details style="margin:4px 0 0 0;color:{INK}"><summary style="{head}">'
            f"{escaped(summary)}</summary>{body}</details>")  # fmt: skip


def tinted(colour: str) -> str:
    """A dark color for words and signs that is lighter in a dark theme."""
    return f"color-mix(in srgb,{colour} 60%,{INK_VALUE})"


SMALLEST = 0.75
"""The smallest scale of a picture. If that is still too wide, the picture scrolls."""

_EDGE_OF_MORE = f"color-mix(in srgb,{INK_VALUE} 30%,{PAPER_VALUE})"
_SCROLLS = (
    f"overflow-x:auto;scrollbar-width:thin;scrollbar-color:{QUIET} {WELL};"
    f"background:linear-gradient({PAPER_VALUE},{PAPER_VALUE}) right/20px 100% no-repeat local,"
    f"linear-gradient(to left,{_EDGE_OF_MORE},{PAPER_VALUE}) right/12px 100% no-repeat scroll"
)
"""Some systems hide scroll bars. A shade at the right edge shows that there is more: the first
layer moves with the content, and covers the shade at the end."""


def pictures_row(pictures: Sequence[tuple[str, int]]) -> str:
    """Pictures in a row, or below each other if the page is too narrow.

    Args:
        pictures: each as SVG, with its width in CSS pixels. The SVG scales with its box.
    """
    boxes = "".join(
        f'<div style="flex:{width} 1 {round(width * SMALLEST)}px;min-width:0;max-width:{width}px;'
        f'{_SCROLLS}">{svg}</div>'
        for svg, width in pictures
    )
    style = "display:flex;flex-wrap:wrap;align-items:flex-start;margin:4px 0"
    return f'<div style="{style}">{boxes}</div>'
