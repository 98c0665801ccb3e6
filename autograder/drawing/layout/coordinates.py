"""Third step of a layered drawing: place each cell in its row.

The method of Brandes and Köpf: each cell is aligned with the median of its neighbors above or
below, and the drawing is packed to the left or to the right. A cell's position is the middle of its
four positions. A vertical line in all four drawings stays exactly straight: every chain, and the
inner part of every long edge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Rows = list[list[int]]
Links = Sequence[Sequence[int]]
Separation = Callable[[int, int], float]


def placed(
    rows: Rows, above: Links, below: Links, bend: Sequence[bool], aside: Sequence[bool],
    width: Sequence[float], separation: Separation,
) -> list[float]:  # fmt: skip
    """The horizontal center of each cell.

    Args:
        rows: the cells of each layer, in order.
        above: for each cell, its neighbors one layer up.
        below: for each cell, its neighbors one layer down.
        bend: whether the cell is only a point of a long edge.
        aside: whether the cell leaves the straight line to others if necessary; every bend does.
        width: the width of each cell.
        separation: the least distance between the centers of two neighbors in a row.
    """
    if not rows:
        return []
    conflicts = _conflicts(rows, below, bend)
    up, down = _straightest(above, below, aside), _straightest(below, above, aside)
    drawings = []
    for lines, links in ((rows, up), (rows[::-1], down)):
        for mirror in (False, True):
            turned = [row[::-1] for row in lines] if mirror else lines
            root = _aligned(turned, links, conflicts)
            xs = _packed(turned, root, separation)
            drawings.append([-x for x in xs] if mirror else xs)
    return _middle(_onto_narrowest(drawings, width))


def _straightest(links: Links, back: Links, aside: Sequence[bool]) -> list[list[int]]:
    """The neighbors to align with: if a cell has both kinds, only those that are not aside."""

    def follows(v: int, u: int) -> bool:
        rivals = back[u] if aside[v] else links[v]
        return aside[u] == aside[v] or all(aside[w] for w in rivals)

    return [[u for u in near if follows(v, u)] for v, near in enumerate(links)]


def _conflicts(rows: Rows, below: Links, bend: Sequence[bool]) -> set[tuple[int, int]]:
    """Edges that cross the inner part of a long edge, which has priority over them."""
    found: set[tuple[int, int]] = set()
    for upper, lower in zip(rows, rows[1:], strict=False):
        place = {v: i for i, v in enumerate(lower)}
        edges = [(i, place[v], u, v) for i, u in enumerate(upper) for v in below[u]]
        inner = [e for e in edges if bend[e[2]] and bend[e[3]]]
        for a, b, u, v in edges:
            if not (bend[u] and bend[v]) and any((a - c) * (b - d) < 0 for c, d, _, _ in inner):
                found |= {(u, v), (v, u)}
    return found


def _aligned(rows: Rows, links: Links, conflicts: set[tuple[int, int]]) -> list[int]:
    """For each cell, the first cell of its vertical block."""
    place = {v: i for row in rows for i, v in enumerate(row)}
    root = list(range(len(links)))
    taken: set[int] = set()
    for row in rows[1:]:
        reached = -1
        for v in row:
            near = sorted(links[v], key=place.__getitem__)
            for u in dict.fromkeys(near[i] for i in _medians(len(near))):
                free = u not in taken and (u, v) not in conflicts
                if root[v] == v and free and place[u] > reached:
                    root[v] = root[u]
                    taken.add(u)
                    reached = place[u]
    return root


def _medians(count: int) -> tuple[int, ...]:
    return ((count - 1) // 2, count // 2) if count else ()


def _packed(rows: Rows, root: list[int], separation: Separation) -> list[float]:
    """Pack the blocks to the left; then move each as close to its right neighbor as possible."""
    gaps: dict[int, dict[int, float]] = {r: {} for r in dict.fromkeys(root)}
    for row in rows:
        for u, v in zip(row, row[1:], strict=False):
            a, b = root[u], root[v]
            gaps[a][b] = max(gaps[a].get(b, 0.0), separation(u, v))
    order = _topological(gaps)
    x = dict.fromkeys(order, 0.0)
    for a in order:
        for b, gap in gaps[a].items():
            x[b] = max(x[b], x[a] + gap)
    for a in reversed(order):
        if gaps[a]:
            x[a] = max(x[a], min(x[b] - gap for b, gap in gaps[a].items()))
    return [x[r] for r in root]


def _topological(gaps: dict[int, dict[int, float]]) -> list[int]:
    waiting = dict.fromkeys(gaps, 0)
    for after in gaps.values():
        for b in after:
            waiting[b] += 1
    order = [a for a, count in waiting.items() if not count]
    for a in order:  # the loop extends the list
        for b in gaps[a]:
            waiting[b] -= 1
            if not waiting[b]:
                order.append(b)
    return order


def _onto_narrowest(drawings: list[list[float]], width: Sequence[float]) -> list[list[float]]:
    """Shift the drawings so that they share the edges of the narrowest."""

    def edges(xs: list[float]) -> tuple[float, float]:
        return (
            min(x - w / 2 for x, w in zip(xs, width, strict=True)),
            max(x + w / 2 for x, w in zip(xs, width, strict=True)),
        )

    spans = [edges(xs) for xs in drawings]
    low, high = min(spans, key=lambda span: span[1] - span[0])
    shifts = [high - b if i % 2 else low - a for i, (a, b) in enumerate(spans)]
    return [[x + shift for x in xs] for xs, shift in zip(drawings, shifts, strict=True)]


def _middle(drawings: list[list[float]]) -> list[float]:
    """The mean of the two middle values of each cell's four positions."""
    return [sum(sorted(places)[1:3]) / 2 for places in zip(*drawings, strict=True)]
