"""Crops big graphs to the surroundings of their differences."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from autograder.drawing.folding import Cell, stand_in

DRAWN_WHOLE = 22  # cells: a graph with at most this many is drawn whole
EDGES_AROUND = 2  # edges


def cropped(
    graphs: Sequence[tuple[Cell, ...]], focus: Collection[str] = ()
) -> list[tuple[tuple[Cell, ...], int]]:
    """For each graph, the cells to draw and the number of nodes left out.

    Graphs that are small, or in which nothing is marked or in focus, are kept whole. A stand-in
    names each cell that is left out next to a drawn one.
    """
    near = [_near_a_mark(cells, focus) for cells in graphs]
    names = {box.name for kept, cells in zip(near, graphs, strict=True)
             for i in kept for box in cells[i].boxes}  # fmt: skip
    if not names or all(len(cells) <= DRAWN_WHOLE for cells in graphs):
        return [(tuple(cells), 0) for cells in graphs]
    edges = ("as before", "goes on as before") if len(graphs) > 1 else ("not drawn", "goes on")
    return [_only(cells, names, *edges) for cells in graphs]


def _near_a_mark(cells: Sequence[Cell], focus: Collection[str]) -> set[int]:
    """The cells at most `EDGES_AROUND` edges away from one that is marked or in focus."""
    linked: list[set[int]] = [set() for _ in cells]
    for v, cell in enumerate(cells):
        for u in (*cell.inputs, *cell.late):
            linked[u].add(v)
            linked[v].add(u)
    found = {
        i
        for i, cell in enumerate(cells)
        if any(box.mark or box.name in focus for box in cell.boxes)
    }
    for _ in range(EDGES_AROUND):
        found |= {j for i in found for j in linked[i]}
    return found


def _only(
    cells: Sequence[Cell], names: set[str], above: str, below: str
) -> tuple[tuple[Cell, ...], int]:
    """The cells that contain these names, with stand-ins for their inputs and readers."""
    kept = [i for i, cell in enumerate(cells) if any(box.name in names for box in cell.boxes)]
    inside = set(kept)
    read = sorted({u for v in kept for u in cells[v].inputs} - inside)
    goes_on = [u for u in kept if any(u in c.inputs and v not in inside
                                      for v, c in enumerate(cells))]  # fmt: skip
    number = {u: i for i, u in enumerate([*read, *kept])}
    made = [stand_in(cells[u], above, ()) for u in read]
    for v in kept:
        late = tuple(number[u] for u in cells[v].late if u in number)
        inputs = tuple(number[u] for u in cells[v].inputs)
        made.append(replace(cells[v], inputs=inputs, late=late))
    made += [stand_in(cells[u], below, (number[u],)) for u in goes_on]
    left_out = sum(len(cell.boxes) for i, cell in enumerate(cells) if i not in inside)
    return tuple(made), left_out
