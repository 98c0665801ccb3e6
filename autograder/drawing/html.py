"""Small pieces of HTML: everything that comes from outside is escaped here.

Styles stand on the elements: JupyterLab takes away ``<style>`` and scripts. Each piece
that carries text says its own colours, so that it is readable in light and dark themes.
"""

from __future__ import annotations

import base64
import html
import re

INK, QUIET, RULE, PAPER, WELL = "#1d2430", "#566272", "#d5dae1", "#ffffff", "#f3f5f8"
SANS = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"
MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"

_ANSI = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)?")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f]")
_BROKEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def clean(text: object) -> str:
    """The text without terminal colours, control characters and changes of direction."""
    plain = str(text).replace("\r\n", "\n").replace("\r", "\n")
    return _BROKEN.sub("\N{REPLACEMENT CHARACTER}", _BIDI.sub("", _ANSI.sub("", plain)))


def bounded(text: str, lines: int, width: int = 400) -> str:
    """At most so many lines of at most so many characters; says how much is left out."""
    every = clean(text).strip("\n").split("\n")
    shown = [line if len(line) <= width else line[: width - 1] + "…" for line in every[:lines]]
    left = len(every) - len(shown)
    if left:
        shown.append(f"… and {left} more line{'' if left == 1 else 's'}")
    return "\n".join(shown)


def escaped(text: object) -> str:
    """The text, ready to stand in HTML."""
    return html.escape(clean(text), quote=True)


def rich(text: str) -> str:
    """A message as HTML: what stands in backticks is shown as code."""
    parts = re.split(r"(`+)(?=\S)(.+?)(?<=\S)\1(?!`)", clean(text), flags=re.S)
    out = [escaped(parts[0])]
    for _, inner, rest in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        out += [code(inner), escaped(rest)]
    return "".join(out)


def plain(text: str) -> str:
    """A message as plain text: as it is, backticks too."""
    return clean(text)


def code(text: str) -> str:
    """A piece of code within a line."""
    style = (f"{MONO};font-size:92%;background:#e8ecf1;color:{INK};"
             "padding:1px 4px;border-radius:3px;white-space:pre-wrap")  # fmt: skip
    return f'<code style="{style}">{escaped(text)}</code>'


def sheet(inner: str) -> str:
    """A white sheet as wide as what stands on it."""
    style = (f"{SANS};font-size:14px;background:{PAPER};color:{INK};border:1px solid {RULE};"
             "border-radius:6px;padding:4px 10px 8px 10px;margin:4px 0;display:inline-block;"
             "max-width:100%;box-sizing:border-box")  # fmt: skip
    return f'<div style="{style}">{inner}</div>'


def block(text: str, lines: int = 60) -> str:
    """Lines of code or output."""
    style = (
        f"{MONO};font-size:12.5px;line-height:1.45;background:{WELL};color:{INK};"
        f"border:1px solid {RULE};border-radius:4px;padding:7px 10px;margin:3px 0 0 0;"
        "overflow-x:auto;white-space:pre"
    )
    return f'<pre style="{style}">{escaped(bounded(text, lines))}</pre>'


def folded(summary: str, body: str) -> str:
    """A fold, closed; `body` is HTML already."""
    head = f"cursor:pointer;color:{QUIET};font-size:13px"
    return (f'<details style="margin:4px 0 0 0;color:{INK}"><summary style="{head}">'
            f"{escaped(summary)}</summary>{body}</details>")  # fmt: skip


def image(png: bytes, alt: str, width: int) -> str:
    """A picture as part of the page; a wide one shrinks a little, then scrolls."""
    data = base64.b64encode(png).decode()
    style = (f"display:block;width:{width}px;max-width:100%;min-width:{round(width * 0.7)}px;"
             f"height:auto;background:{PAPER};border-radius:4px;margin:0")  # fmt: skip
    return (f'<div style="overflow-x:auto;margin:4px 0"><img style="{style}" '
            f'alt="{escaped(alt)}" src="data:image/png;base64,{data}"></div>')  # fmt: skip
