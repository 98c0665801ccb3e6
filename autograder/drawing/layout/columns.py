"""Cuts a tall graph into columns next to each other, like a newspaper.

The cuts are at rows that few values cross. A value that crosses a cut leaves its column in a
stand-in, and enters the next column through another.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.drawing.folding import REFERENCE, Cell, stand_in
from autograder.drawing.layout.layer_assignment import layers_of

COLUMN_HEIGHT = 690.0  # points: a graph that is not higher stays in one column
MOST = 4
GAP = 26.0


def columns_of(
    cells: Sequence[Cell], heights: Sequence[float], most: int = MOST
) -> list[tuple[Cell, ...]]:
    """The cells in one or more columns, each of which is a separate graph.

    Args:
        cells: all cells, inputs before their readers.
        heights: the height of each cell's drawing.
        most: the maximum number of columns.
    """
    edges = [(u, v) for v, cell in enumerate(cells) for u in cell.inputs]
    layer = layers_of(len(cells), edges, outputs_of(cells))
    rows = max(layer, default=-1) + 1
    tall = [0.0] * rows
    for v, row in enumerate(layer):
        tall[row] = max(tall[row], heights[v])
    total = sum(tall) + GAP * rows
    count = min(most, rows, max(1, -int(-total // COLUMN_HEIGHT)))
    if count == 1 or any(cell.late for cell in cells):
        return [tuple(cells)]
    cuts = _cuts(tall, _crossing(edges, layer, rows), count)
    column = [sum(row >= cut for cut in cuts) for row in layer]
    return [_column(cells, column, here) for here in range(len(cuts) + 1)]


def outputs_of(cells: Sequence[Cell]) -> list[int]:
    """The output cells, which are at the bottom."""
    return [i for i, cell in enumerate(cells) if cell.boxes[0].op == "output"]


def ends_of(cells: Sequence[Cell]) -> list[int]:
    """The last cells of a graph: its outputs, and values that are read elsewhere."""
    leads = [i for i, cell in enumerate(cells) if cell.boxes[0].op in ("output", REFERENCE)]
    return leads if outputs_of(cells) or any(cells[i].inputs for i in leads) else []


def _crossing(edges: Sequence[tuple[int, int]], layer: list[int], rows: int) -> list[int]:
    """For each row, the number of values that enter or pass it from above."""
    last: dict[int, int] = {}
    for u, v in edges:
        last[u] = max(last.get(u, 0), layer[v])
    return [sum(layer[u] < row <= end for u, end in last.items()) for row in range(rows)]


def _cuts(tall: list[float], crossing: list[int], count: int) -> list[int]:
    """The rows at which a new column starts."""
    top, tops = 0.0, []
    for height in tall:
        tops.append(top)
        top += height + GAP
    cuts: list[int] = []
    for part in range(1, count):
        first = (cuts[-1] if cuts else 0) + 1
        wish = top * part / count
        cost = {
            row: abs(tops[row] - wish) / (top / count) + 0.25 * (crossing[row] - 1)
            for row in range(first, len(tall) - (count - part) + 1)
        }
        if cost:
            cuts.append(min(cost, key=cost.__getitem__))
    return cuts


def _column(cells: Sequence[Cell], column: list[int], here: int) -> tuple[Cell, ...]:
    inside = [i for i, at in enumerate(column) if at == here]
    entering = sorted({u for v in inside for u in cells[v].inputs if column[u] != here})
    leaving = [
        u for u in inside
        if any(u in cell.inputs and column[v] > here for v, cell in enumerate(cells))
    ]  # fmt: skip
    number = {u: i for i, u in enumerate([*entering, *inside])}
    made = [stand_in(cells[u], "from the left", ()) for u in entering]
    made += [Cell(cells[v].boxes, tuple(number[u] for u in cells[v].inputs)) for v in inside]
    made += [stand_in(cells[u], "goes on at the right", (number[u],)) for u in leaving]
    return tuple(made)
