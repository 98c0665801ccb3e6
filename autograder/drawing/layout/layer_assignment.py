"""First step of a layered drawing: assign a row to each cell."""

from __future__ import annotations

from collections.abc import Sequence

Edges = Sequence[tuple[int, int]]


def layers_of(count: int, edges: Edges, last: Sequence[int] = ()) -> list[int]:
    """A layer for each of `count` cells, such that every edge leads downward.

    Args:
        count: number of cells.
        edges: pairs ``(u, v)`` with ``u < v``: cell ``v`` reads cell ``u``.
        last: cells that go to the last layer if no cell reads them.

    The longest path decides. Then a cell with fewer inputs than readers, such as a source, moves
    down to just above its first reader, so that edges are short.
    """
    inputs: list[list[int]] = [[] for _ in range(count)]
    readers: list[list[int]] = [[] for _ in range(count)]
    for u, v in edges:
        inputs[v].append(u)
        readers[u].append(v)
    layer = [0] * count
    for v in range(count):
        layer[v] = max((layer[u] + 1 for u in inputs[v]), default=0)
    for v in reversed(range(count)):
        if len(inputs[v]) < len(readers[v]):
            layer[v] = min(layer[r] for r in readers[v]) - 1
    bottom = max(layer, default=0)
    for v in last:
        if not readers[v]:
            layer[v] = bottom
    return _without_gaps(layer)


def _without_gaps(layer: list[int]) -> list[int]:
    used = {old: new for new, old in enumerate(sorted(set(layer)))}
    return [used[old] for old in layer]
