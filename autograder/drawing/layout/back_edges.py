"""Draws edges that a valid graph does not have: a value is read before it exists."""

from __future__ import annotations

from typing import Any

from autograder.drawing.canvas import HEAD
from autograder.drawing.page_layout import LANE, LATE, Column
from autograder.drawing.style import ALARM

_DASH = (3.0, 1.6)


def draw_late(pen: Any, column: Column) -> None:
    """Draw a column's edges from a node to itself or up to an earlier one."""
    lane = 0
    for v, cell in enumerate(column.cells):
        for u in cell.late:
            if u == v:
                _loop(pen, column, v)
            else:
                _detour(pen, column, u, v, lane)
                lane += 1


def _loop(pen: Any, column: Column, index: int) -> None:
    from matplotlib.path import Path

    spot, face = column.drawing.spots[index], column.faces[index]
    x, y = column.x + spot.x + face.width / 2, column.y + spot.y
    low, high = y + spot.height / 4, y - spot.height / 4
    codes = [Path.MOVETO] + [Path.CURVE4] * 3
    loop = Path([(x, low), (x + 24, low + 3), (x + 24, high - 3), (x + HEAD, high)], codes)
    pen.path(loop, edge=ALARM, width=1.8, dash=_DASH)
    pen.path(Path([(x + 1, high), (x + HEAD + 2, high - 4), (x + HEAD + 2, high + 4)]), fill=ALARM)


def _detour(pen: Any, column: Column, source: int, target: int, lane: int) -> None:
    """A path below the source, up on the right of all cells, and down into the target."""
    from matplotlib.path import Path

    from autograder.drawing.shapes import head

    start, end = column.drawing.spots[source], column.drawing.spots[target]
    shift = LANE * (lane % 3)
    right = column.drawing.width + 10 + LANE * lane
    below, above = start.row[1] + 6 + shift / 2, end.row[0] - LATE + 2 + shift / 2
    out_x, in_x = start.x + start.width / 4, end.x + end.width / 2 - 12
    bottom, top = start.y + start.height / 2, end.y - end.height / 2
    points = [(out_x, bottom), (out_x, below), (right, below), (right, above), (in_x, above),
              (in_x, top - HEAD + 1)]  # fmt: skip
    moved = [(x + column.x, y + column.y) for x, y in points]
    pen.path(Path(moved), edge=ALARM, width=1.8, dash=_DASH)
    pen.path(head(in_x, top - 0.6, HEAD + 1), column.x, column.y, fill=ALARM)
