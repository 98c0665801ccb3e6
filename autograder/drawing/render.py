"""Draws a page with matplotlib.

It uses only `Figure` and the Agg and SVG writers, so it does not change the reader's backend, open
figures and settings. The same page gives the same bytes.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autograder.drawing.canvas import HEAD, Pen
from autograder.drawing.diff import SIGNS
from autograder.drawing.layout.back_edges import draw_late
from autograder.drawing.page_layout import HEADING, NOTE, TITLE, Column, Page, Panel
from autograder.drawing.style import (
    ALARM,
    MARKS,
    PAPER,
    QUIET,
    RULE,
    SANS,
    SANS_BOLD,
    WIRE,
    text_width,
)

DPI = 110  # a picture is shown at this scale
SHARP = 1.5  # small pictures have this factor more pixels, for screens with a high resolution
SMALL = 300_000.0  # square points
COLOURS = 256
_OURS = {"svg.hashsalt": "autograder", "path.simplify": False}
_THEIRS = ("backend", "interactive", "toolbar", "webagg", "datapath", "timezone")


def shown_width(page: Page) -> int:
    """The width at which to show the picture, in CSS pixels."""
    return round(page.width * DPI / 72)


def png_of(page: Page) -> bytes:
    """The page as a PNG picture with a small palette."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    with _settings(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a glyph that the font does not have
        dpi = DPI * (SHARP if page.width * page.height < SMALL else 1)
        canvas = FigureCanvasAgg(_figure(page, dpi))
        canvas.draw()
        pixels = Image.frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba()))
    out = io.BytesIO()
    method, dither = Image.Quantize.FASTOCTREE, Image.Dither.NONE
    small = pixels.convert("RGB").quantize(COLOURS, method=method, dither=dither)
    small.save(out, "PNG", compress_level=6, dpi=(dpi, dpi))
    return out.getvalue()


def inline_svg(page: Page, alt: str) -> str:
    """The page as inline SVG for a notebook, in the colors of the theme."""
    from autograder.drawing.svg_pen import SvgPen

    pen = SvgPen()
    _paint(pen, page)
    return pen.svg(page.width, page.height, DPI / 72, alt)


def svg_of(page: Page) -> str:
    """The page as an SVG picture."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    out = io.BytesIO()
    with _settings(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure = _figure(page, 72)
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})
    return out.getvalue().decode()


@contextmanager
def _settings() -> Iterator[None]:
    """Use matplotlib's defaults, and restore the reader's settings afterwards."""
    import matplotlib

    defaults = matplotlib.rcParamsDefault
    ours = (key for key in defaults if not key.startswith(_THEIRS))
    settings: dict[Any, Any] = {key: defaults[key] for key in ours}
    with matplotlib.rc_context(settings | _OURS):
        yield


def _figure(page: Page, dpi: float) -> Any:
    from matplotlib.figure import Figure

    figure = Figure((page.width / 72, page.height / 72), dpi=dpi, facecolor=PAPER)
    _paint(Pen(figure, page.height), page)
    return figure


def _paint(pen: Any, page: Page) -> None:
    if page.title:
        pen.text(page.title.replace("`", ""), 16, 22, TITLE, SANS_BOLD)
    for i, panel in enumerate(page.panels):
        if i:
            pen.line([(panel.x - 26, page.top), (panel.x - 26, page.height - 14)], RULE, 1.0)
        if panel.heading:
            _heading(pen, panel, page.top)
        for column in panel.columns:
            _column(pen, column, page.focus)


def _heading(pen: Any, panel: Panel, y: float) -> None:
    pen.text(panel.heading, panel.x, y + 5, HEADING, SANS_BOLD)
    x = panel.x
    for mark, count in panel.counts:
        words = f"{count} {mark}"
        _badge(pen, mark, x + 5, y + 21, 5.0)
        pen.text(words, x + 14, y + 21, NOTE, SANS, QUIET)
        x += 26 + text_width(words, NOTE)
    if panel.note:
        pen.text(panel.note, x, y + 21, NOTE, SANS, QUIET)


def _badge(pen: Any, mark: str, x: float, y: float, radius: float = 6.5) -> None:
    from autograder.drawing.shapes import rounded

    pen.path(rounded(radius, radius, radius), x, y, MARKS[mark].colour, PAPER, 1.0)
    arm = radius * 0.55
    if mark == "changed":
        pen.text(SIGNS[mark], x, y - 0.2, radius * 1.9, SANS_BOLD, PAPER, "center")
        return
    pen.layer += 1
    pen.line([(x - arm, y), (x + arm, y)], PAPER, radius / 3.4)
    if mark == "added":
        pen.line([(x, y - arm), (x, y + arm)], PAPER, radius / 3.4)
    pen.layer -= 1


def _column(pen: Any, column: Column, focus: frozenset[str]) -> None:
    from autograder.drawing import shapes

    x, y = column.x, column.y
    for wire in column.drawing.wires:
        end_x, end_y = wire.points[-1]
        pen.path(shapes.wire(wire.points, HEAD - 1), x, y, edge=WIRE, width=1.15)
        pen.path(shapes.head(end_x, end_y - 0.6, HEAD), x, y, fill=WIRE)
    pen.layer = 3
    for index in range(len(column.cells)):
        _shape(pen, column, index)
        if any(box.name in focus for box in column.cells[index].boxes):
            _point_at(pen, column, index)
    draw_late(pen, column)
    pen.layer = 1


def _shape(pen: Any, column: Column, index: int) -> None:
    from autograder.drawing import shapes

    face, spot = column.faces[index], column.drawing.spots[index]
    box = column.cells[index].boxes[0]
    look, x, y = face.look, column.x + spot.x, column.y + spot.y
    mark = MARKS.get(box.mark)
    path = shapes.outline(look.shape, face.width, face.height)
    for sheet in shapes.backdrop(look.shape, face.width, face.height):
        pen.path(sheet, x, y, look.fill, look.edge, 0.8)
    if mark:
        pen.path(path, x, y, edge=mark.colour + "30", width=7.0)
    edge, width, dash = (mark.colour, 2.4, mark.dash) if mark else (look.edge, 1.1, None)
    if look.edge in (ALARM, QUIET):
        dash, width = (2.5, 2.0), 1.4 if look.edge == ALARM else 0.9
    pen.path(path, x, y, look.fill, edge, width, dash)
    for detail in shapes.details(look.shape, face.width, face.height):
        pen.path(detail, x, y, edge=look.edge, width=1.0)
    for dot in face.dots:
        small = shapes.outline(dot.look.shape, 9.0, 6.5)
        pen.path(small, x + dot.x, y + dot.y, dot.look.fill, dot.look.edge, 0.8)
    for word in face.words:
        pen.text(word.text, x + word.x, y + word.y, word.size, word.font, word.colour, word.align)
    if mark:
        pen.layer += 1
        _badge(pen, box.mark, x - face.width / 2 + 1, y - face.height / 2 + 1)
        pen.layer -= 1


def _point_at(pen: Any, column: Column, index: int) -> None:
    """Draw the badge of a node that a message is about."""
    from autograder.drawing.shapes import rounded

    spot, face = column.drawing.spots[index], column.faces[index]
    x, y = column.x + spot.x + face.width / 2 - 1, column.y + spot.y - face.height / 2 + 1
    pen.layer += 1
    pen.path(rounded(7.0, 7.0, 7.0), x, y, ALARM, PAPER, 1.0)
    pen.text("!", x, y, 11.0, SANS_BOLD, PAPER, "center")
    pen.layer -= 1
