"""Folds long straight chains of a big graph into one cell that lists its nodes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from autograder.core.verdict import NodeBox

BIG = 12  # a graph with at most this many nodes is drawn node by node
REFERENCE = "reference"  # opcode of a stand-in for a node drawn in another column

_CALLS = ("call_function", "call_method", "call_module")


@dataclass(frozen=True)
class Cell:
    """A part of a graph that is drawn as one shape.

    Attributes:
        boxes: one node, or a chain of nodes in the order in which they run.
        inputs: indices of the cells that it reads and that come before it.
        late: indices of the cells that it reads too early: itself, or a later cell. A valid
            graph has none.
        places: positions of the nodes in the graph, counted from 1; empty for a stand-in.
    """

    boxes: tuple[NodeBox, ...]
    inputs: tuple[int, ...]
    late: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


def cells_of(
    boxes: Sequence[NodeBox], fold: bool | None = None, focus: Collection[str] = ()
) -> tuple[Cell, ...]:
    """The cells of a graph, in an order in which all inputs come before their readers.

    Args:
        boxes: the graph, in graph order.
        fold: whether to fold chains; by default only in a big graph.
        focus: names of nodes that must not be hidden.

    A chain is folded if each value has one reader and each reader one input. Nodes with a mark,
    placeholders, attributes, outputs and broken nodes are never hidden.
    """
    reads = _resolve(boxes)
    chains = _chains(boxes, reads, focus) if (len(boxes) > BIG if fold is None else fold) else []
    chain_of = {i: chain for chain in chains for i in chain}
    groups: list[list[int]] = []
    for i in range(len(boxes)):
        chain = chain_of.get(i, [i])
        if chain[0] == i:
            groups.append(chain)
    where = {i: g for g, group in enumerate(groups) for i in group}
    return tuple(_cell(boxes, reads, group, where) for group in groups)


def _cell(
    boxes: Sequence[NodeBox], reads: list[list[int]], group: list[int], where: dict[int, int]
) -> Cell:
    here = where[group[0]]
    read = dict.fromkeys(where[i] for i in reads[group[0]])
    return Cell(
        tuple(boxes[i] for i in group),
        tuple(i for i in read if i < here),
        tuple(i for i in read if i >= here),
        tuple(i + 1 for i in group),
    )


def _resolve(boxes: Sequence[NodeBox]) -> list[list[int]]:
    """For each box, the indices of its inputs: the last before it, or one after it."""
    everywhere: dict[str, list[int]] = {}
    for i, box in enumerate(boxes):
        everywhere.setdefault(box.name, []).append(i)

    def find(name: str, reader: int) -> int | None:
        places = everywhere.get(name)
        if places is None:
            return None
        return max((i for i in places if i < reader), default=places[0])

    found = [[find(name, i) for name in box.inputs] for i, box in enumerate(boxes)]
    return [list(dict.fromkeys(i for i in row if i is not None)) for row in found]


def _chains(
    boxes: Sequence[NodeBox], reads: list[list[int]], focus: Collection[str]
) -> list[list[int]]:
    """Maximal runs of at least two plain nodes, each the only reader of the previous one."""
    readers: list[list[int]] = [[] for _ in boxes]
    for i, row in enumerate(reads):
        for read in row:
            readers[read].append(i)
    plain = [
        box.op in _CALLS
        and not box.mark
        and box.name not in focus
        and all(read < i for read in reads[i])
        for i, box in enumerate(boxes)
    ]
    plain = [ok and all(r > i for r in readers[i]) for i, ok in enumerate(plain)]

    def after(i: int) -> int | None:
        if plain[i] and len(readers[i]) == 1:
            reader = readers[i][0]
            if plain[reader] and reads[reader] == [i]:
                return reader
        return None

    follows = {i: nxt for i in range(len(boxes)) if (nxt := after(i)) is not None}
    chains = []
    for head in follows.keys() - set(follows.values()):
        chain = [head]
        while chain[-1] in follows:
            chain.append(follows[chain[-1]])
        chains.append(chain)
    return chains


def stand_in(cell: Cell, label: str, inputs: tuple[int, ...]) -> Cell:
    """A small cell that names a node which is drawn elsewhere or not drawn."""
    return Cell((NodeBox(cell.boxes[-1].name, REFERENCE, label, ()),), inputs)
