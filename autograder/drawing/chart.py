"""Shows matplotlib figures in the colors of JupyterLab's theme, so that none is white in the dark.

A PNG has one background. Inline SVG can use the variables of the theme: background and black lines
of a figure get the colors of the page, and its data keep theirs.
"""

from __future__ import annotations

import io
import re
from typing import Any

from autograder.drawing.html import INK, PAPER, SMALLEST, clean, escaped, pictures_row, sheet

PIXELS_PER_POINT = 100 / 72
"""Scale at which a figure is as large as its PNG in a notebook."""

IMAGE_DPI = 150

MOST_CHARACTERS = 400_000
"""Maximum length of a figure's SVG. A longer one, such as of very many points, stays a PNG."""

_INK, _PAPER = "#000000", "#ffffff"
_SIZE = re.compile(r'<svg [^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>')
_HEAD = re.compile(r"<metadata>.*?</metadata>|<style .*?</style>", re.S)
_ID = re.compile(r' id="([^"]+)"')


def begin(shell: Any) -> None:
    """Show each figure of a notebook's kernel in the colors of the theme.

    Args:
        shell: IPython's shell in the kernel; None if this is not a notebook.
    """
    if shell is not None:  # by name: chapters without figures do not import matplotlib
        formatter = shell.display_formatter.formatters["text/html"]
        # For the base class, because IPython drops all formatters of `Figure` at the first figure.
        formatter.for_type_by_name("matplotlib.figure", "FigureBase", chart_html)


def chart_html(figure: Any) -> str | None:
    """A figure as HTML; None if only its PNG shows it well.

    Args:
        figure: a `matplotlib.figure.Figure`.
    """
    if not figure.axes or _has_color_scale(figure):
        return None
    try:
        svg = _svg(figure)
    except Exception:  # its PNG remains
        return None
    size = _SIZE.search(svg)
    if size is None or len(svg) > MOST_CHARACTERS:
        return None
    width, height = (round(float(each) * PIXELS_PER_POINT) for each in size.groups())
    inner = _HEAD.sub("", svg[size.end() :]).strip()
    used = set(re.findall(r"#(\w[^\")]*)", inner))
    inner = _ID.sub(lambda found: found[0] if found[1] in used else "", inner)
    inner = inner.replace(_INK, INK).replace(_PAPER, PAPER)
    # matplotlib does not write black if it is the default of SVG.
    style = (
        f"display:block;width:100%;height:auto;min-width:{round(width * SMALLEST)}px;fill:{INK};"
        "stroke-linejoin:round;stroke-linecap:butt"
    )
    head = (
        f'<svg role="img" aria-label="{escaped(chart_name(figure))}" '
        f'viewBox="0 0 {size[1]} {size[2]}" width="{width}" height="{height}" style="{style}">'
    )
    return sheet(pictures_row([(head + inner, width)]))


def chart_name(figure: Any) -> str:
    """``Chart: the title; milliseconds by call``, for a reader who does not see it."""
    said = [part for axes in figure.axes for part in _said_by(axes)]
    return clean("Chart" + (f": {'; '.join(dict.fromkeys(said))}" if said else ""))


def _said_by(axes: Any) -> list[str]:
    """The title of a pair of axes, and their labels."""
    labels = [label for label in (axes.get_ylabel(), axes.get_xlabel()) if label]
    return [part for part in (axes.get_title(), " by ".join(labels)) if part]


def _has_color_scale(figure: Any) -> bool:
    """Whether colors represent numbers, so that black and white are values too."""
    parts = (part for axes in figure.axes for part in axes.collections)
    return any(part.get_array() is not None for part in parts)


def _svg(figure: Any) -> str:
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": None}):
        figure.savefig(
            out, format="svg", bbox_inches="tight", dpi=IMAGE_DPI, metadata={"Date": None}
        )
    return out.getvalue()
