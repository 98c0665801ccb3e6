"""A layered drawing of boxes and arrows: pure geometry, in points, ``y`` downward.

The steps: layers, bends for edges that pass a layer, an order with few crossings, and positions
that keep chains straight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.drawing.layout.compaction import relaxed
from autograder.drawing.layout.coordinates import placed
from autograder.drawing.layout.crossing_reduction import by_operands, ordered
from autograder.drawing.layout.layer_assignment import layers_of

GAP_X = 22.0  # between two boxes of a row
GAP_BEND = 20.0  # between a box and a passing edge, or two passing edges
GAP_Y = 24.0  # the least between two rows
PORT = 15.0  # between two arrow heads on one box

Point = tuple[float, float]


@dataclass(frozen=True)
class Spot:
    """The place of a box: its center, its size, and the top and bottom of its row."""

    x: float
    y: float
    width: float
    height: float
    row: Point = (0.0, 0.0)


@dataclass(frozen=True)
class Wire:
    """An edge: straight from point 0 to 1, curved from 1 to 2, straight from 2 to 3 …"""

    source: int
    target: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Layout:
    """A drawing between the origin and ``(width, height)``."""

    width: float
    height: float
    spots: tuple[Spot, ...]
    wires: tuple[Wire, ...]


class _Net:
    """The layered graph with a bend for each layer that an edge passes."""

    def __init__(
        self, sizes: Sequence[Point], edges: Sequence[tuple[int, int]], layer: list[int]
    ) -> None:
        self.width = [w for w, _ in sizes]
        self.height = [h for _, h in sizes]
        self.above: list[list[int]] = [[] for _ in sizes]
        self.below: list[list[int]] = [[] for _ in sizes]
        self.rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
        for v, row in enumerate(layer):
            self.rows[row].append(v)
        self.paths = {edge: self._path(edge, layer) for edge in dict.fromkeys(edges)}
        self.bend = [v >= len(sizes) for v in range(len(self.width))]

    def _path(self, edge: tuple[int, int], layer: list[int]) -> list[int]:
        u, v = edge
        path = [u]
        for row in range(layer[u] + 1, layer[v]):
            path.append(len(self.width))
            self.rows[row].append(path[-1])
            self.width.append(0.0)
            self.height.append(0.0)
            self.above.append([])
            self.below.append([])
        path.append(v)
        for a, b in zip(path, path[1:], strict=False):
            self.below[a].append(b)
            self.above[b].append(a)
        return path

    def separation(self, u: int, v: int) -> float:
        gap = GAP_BEND if self.bend[u] or self.bend[v] else GAP_X
        return (self.width[u] + self.width[v]) / 2 + gap


def layout(
    sizes: Sequence[Point],
    edges: Sequence[tuple[int, int]],
    last: Sequence[int] = (),
    ends: Sequence[int] = (),
) -> Layout:
    """Place boxes so that every edge leads downward.

    Args:
        sizes: width and height of each box.
        edges: pairs ``(u, v)``, ``u < v``: an arrow from box ``u`` down to box ``v``.
        last: boxes for the last row.
        ends: boxes to which the main line leads. Boxes from which no path leads to them, such as
            probes, are placed aside. Without ends, all boxes are equal.

    Raises:
        ValueError: an edge does not lead from an earlier box to a later one.
    """
    if any(not 0 <= u < v < len(sizes) for u, v in edges):
        raise ValueError("an edge must lead from an earlier box to a later one")
    net = _Net(sizes, edges, layers_of(len(sizes), edges, last))
    net.rows = ordered(by_operands(net.rows, net.above, ends), net.above, net.below)
    aside = _aside(net, ends)
    x = placed(net.rows, net.above, net.below, net.bend, aside, net.width, net.separation)
    x = relaxed(x, net.rows, net.below, net.separation)
    left = min((x[v] - net.width[v] / 2 for v in range(len(x))), default=0.0)
    x = [value - left for value in x]
    bands = _bands(net, x)
    row_of = {v: band for row, band in zip(net.rows, bands, strict=True) for v in row}
    spots = tuple(Spot(x[v], sum(row_of[v]) / 2, w, h, row_of[v]) for v, (w, h) in enumerate(sizes))
    return Layout(
        max((x[v] + net.width[v] / 2 for v in range(len(x))), default=0.0),
        bands[-1][1] if bands else 0.0,
        spots,
        _wires(net, x, spots, bands),
    )


def _aside(net: _Net, ends: Sequence[int]) -> list[bool]:
    """The bends, and the boxes from which no path leads to an end."""
    if not ends:
        return list(net.bend)
    leads = set(ends)
    for row in reversed(net.rows):
        leads |= {v for v in row if leads.intersection(net.below[v])}
    return [bend or v not in leads for v, bend in enumerate(net.bend)]


def _bands(net: _Net, x: list[float]) -> list[Point]:
    """Top and bottom of each row, with more space below rows whose edges are long."""
    bands, top = [], 0.0
    for row in net.rows:
        low = top + max(net.height[v] for v in row)
        bands.append((top, low))
        reach = max((abs(x[u] - x[v]) for u in row for v in net.below[u]), default=0.0)
        top = low + min(GAP_Y + 0.07 * reach, 2.2 * GAP_Y)
    return bands


def _wires(
    net: _Net, x: list[float], spots: Sequence[Spot], bands: list[Point]
) -> tuple[Wire, ...]:
    band = {v: bands[i] for i, row in enumerate(net.rows) for v in row}
    ports = _ports(net, x)
    wires = []
    for (u, v), path in net.paths.items():
        points = [(x[u], spots[u].y + spots[u].height / 2), (x[u], band[u][1])]
        for bend in path[1:-1]:
            points += [(x[bend], edge) for edge in band[bend]]
        end = x[v] + ports[u, v]
        points += [(end, band[v][0]), (end, spots[v].y - spots[v].height / 2)]
        wires.append(Wire(u, v, tuple(points)))
    return tuple(wires)


def _ports(net: _Net, x: list[float]) -> dict[tuple[int, int], float]:
    """Distance of each arrow's tip from the middle of a box's upper side."""
    arriving: dict[int, list[tuple[float, int]]] = {}
    for (u, v), path in net.paths.items():
        arriving.setdefault(v, []).append((x[path[-2]] - x[v], u))
    ports = {}
    for v, ends in arriving.items():
        ends.sort()
        step = min(PORT, (net.width[v] - 16) / max(len(ends), 1))
        straight = [i for i, (dx, _) in enumerate(ends) if abs(dx) < 0.5]
        middle = straight[0] if straight else (len(ends) - 1) / 2
        room = (net.width[v] / 2 - 8) / max(middle, len(ends) - 1 - middle, 1e-9)
        for i, (_, u) in enumerate(ends):
            ports[u, v] = (i - middle) * min(step, room)
    return ports
