"""Islands: parts of a graph that no edge connects. A wide drawing places them below each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from autograder.drawing.layout.layered import Layout, Spot, Wire

WIDEST_ROW = 480.0
"""Maximum width of a row of islands in points, so that it fits next to a file browser."""

GAP_ISLANDS = 26.0

Edge = tuple[int, int]


def islands_of(count: int, edges: Sequence[Edge], first: Sequence[int] = ()) -> list[list[int]]:
    """The boxes of each island, in their order.

    Args:
        count: the number of boxes.
        edges: pairs of boxes.
        first: boxes whose islands come first.
    """
    island = list(range(count))
    for u, v in edges:
        old, new = sorted((island[u], island[v]), reverse=True)
        island = [new if each == old else each for each in island]
    members: dict[int, list[int]] = {}
    for box, each in enumerate(island):
        members.setdefault(each, []).append(box)
    return sorted(members.values(), key=lambda boxes: (not {*first} & {*boxes}, boxes[0]))


def in_rows(
    whole: Layout, islands: Sequence[Sequence[int]], lay_out: Callable[[Sequence[int]], Layout]
) -> Layout:
    """The drawing with its islands in several rows, if it is too wide and this makes it narrower.

    Args:
        whole: the drawing with all islands next to each other.
        islands: the boxes of each island.
        lay_out: draws one island, given its boxes.
    """
    if whole.width <= WIDEST_ROW or len(islands) < 2:
        return whole
    drawings = [lay_out(boxes) for boxes in islands]
    widest = max(WIDEST_ROW, *(drawing.width for drawing in drawings))
    spots: dict[int, Spot] = {}
    wires: list[Wire] = []
    width = height = 0.0
    for boxes, drawing, x, y in _placed(islands, drawings, widest):
        spots |= {boxes[i]: _moved(spot, x, y) for i, spot in enumerate(drawing.spots)}
        wires += [_moved_wire(wire, boxes, x, y) for wire in drawing.wires]
        width, height = max(width, x + drawing.width), max(height, y + drawing.height)
    if width >= whole.width:
        return whole
    return Layout(width, height, tuple(spots[box] for box in sorted(spots)), tuple(wires))


def _placed(
    islands: Sequence[Sequence[int]], drawings: Sequence[Layout], widest: float
) -> Iterator[tuple[Sequence[int], Layout, float, float]]:
    """Each island with its offset: an island that does not fit begins a new row."""
    x = y = tallest = 0.0
    for boxes, drawing in zip(islands, drawings, strict=True):
        if x and x + drawing.width > widest:
            x, y, tallest = 0.0, y + tallest + GAP_ISLANDS, 0.0
        yield boxes, drawing, x, y
        x, tallest = x + drawing.width + GAP_ISLANDS, max(tallest, drawing.height)


def _moved(spot: Spot, x: float, y: float) -> Spot:
    top, low = spot.row
    return replace(spot, x=spot.x + x, y=spot.y + y, row=(top + y, low + y))


def _moved_wire(wire: Wire, boxes: Sequence[int], x: float, y: float) -> Wire:
    points = tuple((px + x, py + y) for px, py in wire.points)
    return Wire(boxes[wire.source], boxes[wire.target], points)
