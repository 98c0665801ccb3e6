"""Second step of a layered drawing: find an order within each row with few crossings."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

SWEEPS = 12

Rows = list[list[int]]
Links = Sequence[Sequence[int]]


def by_operands(rows: Rows, above: Links, ends: Sequence[int] = ()) -> Rows:
    """A first order: inputs of a cell are from left to right in the order in which it reads them.

    Cells from which a path leads to the `ends` are to the left of the others.
    """
    rank: dict[int, int] = {}
    for end in (*ends, *(v for row in reversed(rows) for v in row)):
        waiting = [(end, False)]
        while waiting:
            v, seen_inputs = waiting.pop()
            if v in rank:
                continue
            if seen_inputs:
                rank[v] = len(rank)
                continue
            waiting.append((v, True))
            waiting += [(u, False) for u in reversed(above[v])]
    return [sorted(row, key=rank.__getitem__) for row in rows]


def ordered(rows: Rows, above: Links, below: Links) -> Rows:
    """The rows, each in an order with few crossing edges.

    Args:
        rows: the cells of each layer, in a first order.
        above: for each cell, its neighbors one layer up.
        below: for each cell, its neighbors one layer down.

    Sweeps down and up move each cell to the mean position of its neighbors, then swap adjacent
    cells if that helps. The best order found is returned. The same input gives the same order.
    """
    best, fewest = [list(row) for row in rows], crossings(rows, below)
    current = [list(row) for row in rows]
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        indices = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
        for i in indices:
            fixed = current[i - 1] if down else current[i + 1]
            current[i] = _by_mean(current[i], fixed, above if down else below)
        _swap(current, above, below)
        found = crossings(current, below)
        if found < fewest:
            best, fewest = [list(row) for row in current], found
    return best


def crossings(rows: Rows, below: Links) -> int:
    """Number of pairs of edges that cross."""
    total = 0
    for upper, lower in zip(rows, rows[1:], strict=False):
        place = {v: i for i, v in enumerate(lower)}
        seen: list[int] = []
        for u in upper:
            ends = sorted(place[v] for v in below[u])
            total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _by_mean(row: list[int], fixed: list[int], links: Links) -> list[int]:
    place = {v: i for i, v in enumerate(fixed)}
    means = {v: sum(place[u] for u in links[v]) / len(links[v]) for v in row if links[v]}
    moving = sorted(means, key=means.__getitem__)  # stable: ties keep their order
    free = iter(moving)
    return [next(free) if v in means else v for v in row]


def _swap(rows: Rows, above: Links, below: Links) -> None:
    """Swap adjacent cells if that reduces the crossings."""
    for i, row in enumerate(rows):
        up = {v: n for n, v in enumerate(rows[i - 1])} if i else {}
        down = {v: n for n, v in enumerate(rows[i + 1])} if i + 1 < len(rows) else {}
        for j in range(len(row) - 1):
            left, right = row[j], row[j + 1]
            now = _pairs(left, right, above, up) + _pairs(left, right, below, down)
            then = _pairs(right, left, above, up) + _pairs(right, left, below, down)
            if then < now:
                row[j], row[j + 1] = right, left


def _pairs(left: int, right: int, links: Links, place: dict[int, int]) -> int:
    """Number of crossings between edges of the left cell and edges of the right one."""
    ends = sorted(place[v] for v in links[right])
    return sum(bisect_left(ends, place[v]) for v in links[left])
