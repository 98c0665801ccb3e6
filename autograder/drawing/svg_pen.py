"""Writes a page as inline SVG, in which words stay words and colors follow JupyterLab's theme.

Each color is given twice: as an attribute, for a page without themes, and in the style, mixed with
the theme's background or ink, so that a picture has no white area in a dark notebook.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograder.drawing import style
from autograder.drawing.html import INK_VALUE, PAPER_VALUE, SMALLEST, escaped
from autograder.drawing.style import INK, MONO, MONO_BOLD, SANS, SANS_BOLD, text_width

_FAMILIES = {
    SANS: "DejaVu Sans,Verdana,sans-serif",
    SANS_BOLD: "DejaVu Sans,Verdana,sans-serif",
    MONO: "DejaVu Sans Mono,Menlo,Consolas,monospace",
    MONO_BOLD: "DejaVu Sans Mono,Menlo,Consolas,monospace",
}
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}
_EDGES = {look.fill: look.edge for look in (*style.LOOKS.values(), style.FOLDED, style.UNKNOWN)}
"""Each pale fill with the strong color that it is a tint of."""


class SvgPen:
    """Has the methods of `canvas.Pen`, and collects elements of SVG."""

    def __init__(self) -> None:
        self.layer = 1.0
        self._parts: list[tuple[float, str]] = []

    def path(
        self, path: Any, x: float = 0.0, y: float = 0.0, fill: str = "none",
        edge: str = "none", width: float = 1.0, dash: tuple[float, ...] | None = None,
    ) -> None:  # fmt: skip
        """Draw a path; coordinates are points from the upper left corner."""
        steps = f' stroke-dasharray="{" ".join(f"{d * width:g}" for d in dash)}"' if dash else ""
        self._add(
            f'<path d="{_data(path, x, y)}" fill="{fill[:7]}" stroke="{edge[:7]}" '
            f'stroke-width="{width:g}"{_opacity(edge)} stroke-linejoin="round"{steps} '
            f"{_style(fill, edge)}/>"
        )

    def line(self, points: list[tuple[float, float]], colour: str, width: float) -> None:
        """Draw a line. A line in the paper's color is on a badge, like words of that color."""
        stroke = f"stroke:{_ink(colour[:7])}"
        data = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._add(
            f'<polyline points="{data}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            f'style="{stroke}"/>'
        )

    def text(
        self, text: str, x: float, y: float, size: float, name: str = SANS,
        colour: str = INK, align: str = "left",
    ) -> None:  # fmt: skip
        """Draw words, as wide as in the layout, whatever font the reader has."""
        bold = ' font-weight="700"' if name in (SANS_BOLD, MONO_BOLD) else ""
        wide = f' textLength="{text_width(text, size, name):.1f}"' if len(text) > 1 else ""
        self._add(
            f'<text x="{x:.1f}" y="{y + size * 0.36:.1f}" font-size="{size:g}" '
            f'font-family="{_FAMILIES[name]}" text-anchor="{_ANCHORS[align]}"{bold}{wide} '
            f'lengthAdjust="spacingAndGlyphs" fill="{colour}" style="fill:{_ink(colour)}">'
            f"{escaped(text)}</text>",
            0.5,
        )

    def _add(self, element: str, above: float = 0.0) -> None:
        self._parts.append((self.layer + above, element))

    def svg(self, width: float, height: float, scale: float, alt: str) -> str:
        """The picture for a page. It is as wide as its box, but not smaller than `SMALLEST`.

        Args:
            width: of the page, in points.
            height: of the page, in points.
            scale: CSS pixels for a point.
            alt: a short description for readers who do not see it.
        """
        inner = "".join(element for _, element in sorted(self._parts, key=lambda part: part[0]))
        return (
            f'<svg role="img" aria-label="{escaped(alt)}" viewBox="0 0 {width:.1f} {height:.1f}" '
            f'width="{round(width * scale)}" height="{round(height * scale)}" '
            f'style="display:block;width:100%;height:auto;'
            f'min-width:{round(width * scale * SMALLEST)}px">{inner}</svg>'
        )


def _ink(colour: str) -> str:
    """A dark color that becomes lighter in a dark theme."""
    if colour == INK:
        return INK_VALUE
    if colour == style.PAPER:
        return "#ffffff"  # words on a badge, whose color is the same in all themes
    return f"color-mix(in srgb,{colour} 55%,{INK_VALUE})"


def _style(fill: str, edge: str) -> str:
    badge = {mark.colour for mark in style.MARKS.values()} | {style.ALARM}
    parts = []
    if fill == style.PAPER:
        parts.append(f"fill:{PAPER_VALUE}")
    elif fill in _EDGES:
        parts.append(f"fill:color-mix(in srgb,{_EDGES[fill]} 16%,{PAPER_VALUE})")
    elif fill != "none" and fill not in badge:
        parts.append(f"fill:{_ink(fill)}")
    if edge == style.PAPER:
        parts.append(f"stroke:{PAPER_VALUE}")
    elif edge != "none":
        parts.append(f"stroke:{_ink(edge[:7])}")
    return f'style="{";".join(parts)}"' if parts else ""


def _opacity(colour: str) -> str:
    return f' stroke-opacity="{int(colour[7:9], 16) / 255:.2f}"' if len(colour) == 9 else ""


def _data(path: Any, x: float, y: float) -> str:
    """A matplotlib path as the data of an SVG path."""
    return " ".join(_steps(path.vertices, path.codes, x, y))


def _steps(vertices: Any, codes: Any, x: float, y: float) -> Iterator[str]:
    points = [(px + x, py + y) for px, py in vertices]
    if codes is None:
        codes = [1] + [2] * (len(points) - 1)
    curve: list[tuple[float, float]] = []
    for (px, py), code in zip(points, codes, strict=True):
        if code == 79:
            yield "Z"
        elif code in (1, 2):
            yield f"{'M' if code == 1 else 'L'}{px:.1f} {py:.1f}"
        else:  # three points of a cubic curve, or two of a quadratic one
            curve.append((px, py))
            if len(curve) == (3 if code == 4 else 2):
                corners = " ".join(f"{cx:.1f} {cy:.1f}" for cx, cy in curve)
                yield f"{'C' if code == 4 else 'Q'}{corners}"
                curve = []
