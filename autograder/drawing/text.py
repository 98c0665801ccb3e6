"""Text form of a graph: one line for each node, for terminals and for screen readers.

x                        placeholder
proj = proj(x)           call_module    Linear
relu = torch.relu(proj)  call_function
return relu              output
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from autograder.core.node_label import shorten
from autograder.core.verdict import NodeBox
from autograder.drawing.folding import BIG, Cell, cells_of
from autograder.drawing.sketch import GHOSTS

SIGNS = {"": " ", "added": "+", "removed": "-", "changed": "~"}
OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")
WIDEST = 64
LONGEST_ALT = 1_500


def graph_text(boxes: Sequence[NodeBox]) -> str:
    """A graph with one line for each node, grouped by the chains that a picture folds.

    A line contains the node in Python, such as ``relu = torch.relu(add)``, then the opcode, the
    module's class, inputs that the line does not show yet, and the mark.
    """
    cells = cells_of(boxes)
    lines = _aligned([_line(box, _too_early(cells, i)) for i, cell in enumerate(cells)
                      for box in cell.boxes])  # fmt: skip
    if len(boxes) <= BIG:
        return "\n".join([summary(boxes), *lines])
    rest, found = iter(lines), [summary(boxes)]
    for cell in cells:
        if len(cell.boxes) > 1:
            found.append(f"  {len(cell.boxes)} nodes in a row:")
        found += [("  " if len(cell.boxes) > 1 else "") + next(rest) for _ in cell.boxes]
    return "\n".join(found)


def alt_text(boxes: Sequence[NodeBox]) -> str:
    """A graph in a text that is short enough for a picture's alternative text."""
    lines = [summary(boxes)]
    for cell in cells_of(boxes):
        lines.append(_short(cell))
        if sum(map(len, lines)) > LONGEST_ALT:
            lines.append("The whole graph is in the text form below the picture.")
            break
    return "\n".join(lines)


def summary(boxes: Sequence[NodeBox]) -> str:
    """``A graph of 4 nodes: 1 placeholder, 2 call_function, 1 output.``"""
    nodes = [box for box in boxes if box.op not in GHOSTS]
    counts = Counter(box.op for box in nodes)
    kinds = [op for op in OPS if op in counts] + sorted(set(counts) - set(OPS))
    parts = ", ".join(f"{counts[op]} {op}" for op in kinds)
    total = f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}"
    return f"A graph of {total}: {parts}." if parts else f"A graph of {total}."


def statement(box: NodeBox) -> str:
    """A node as a line of Python, as closely as its label allows."""
    if box.op in GHOSTS:
        return box.name
    if box.op == "placeholder":
        return box.label if box.label.startswith(box.name) else f"{box.name} = {box.label}"
    if box.op == "output":
        value = box.label.removeprefix("return ")
        return f"return {', '.join(box.inputs) if value == 'output' else value}".rstrip()
    return f"{box.name} = {_call(box)}"


def notes(box: NodeBox) -> list[str]:
    """The notes after the opcode of a line: class, further inputs, mark."""
    found = []
    _, colon, owner = box.label.partition(" : ")
    if colon and box.op == "call_module":
        found.append(owner)
    if box.op in GHOSTS:
        found.append(box.label)
    said = statement(box).partition("return " if box.op == "output" else " = ")[2]
    unsaid = [n for n in box.inputs if not re.search(rf"(?<!\w){re.escape(n)}(?!\w)", said)]
    if box.name in box.inputs:
        found.append("reads itself")
        unsaid = [n for n in unsaid if n != box.name]
    if unsaid:
        found.append(f"reads {', '.join(unsaid)}")
    return [*found, box.mark] if box.mark else found


def _call(box: NodeBox) -> str:
    """A label with its inputs inserted: ``torch.relu`` becomes ``torch.relu(add)``."""
    text = box.label
    if box.op == "call_method" and text.startswith(".") and box.inputs:
        return box.inputs[0] + text
    if box.op == "call_module":
        text = text.partition(" : ")[0]
    head, dot, _ = text.partition(".")
    bare = re.fullmatch(r"[\w.<>]+", text) and not (dot and head in box.inputs)
    if bare and box.op in ("call_function", "call_module"):
        return f"{text}({', '.join(box.inputs)})"
    return text


_Line = tuple[str, str, str, str]


def _line(box: NodeBox, warnings: list[str]) -> _Line:
    return SIGNS.get(box.mark, "?"), statement(box), box.op, ", ".join([*warnings, *notes(box)])


def _too_early(cells: Sequence[Cell], index: int) -> list[str]:
    """Warnings about inputs that come after their reader; `notes` reports a reader of itself."""
    late = (i for i in cells[index].late if i != index)
    return [f"reads {cells[i].boxes[0].name} too early" for i in late]


def _aligned(lines: Sequence[_Line]) -> list[str]:
    first = min(max((len(line[1]) for line in lines), default=0), WIDEST)
    second = max((len(line[2]) for line in lines), default=0)
    return [f"{a} {b:<{first}}  {c:<{second}}  {d}".rstrip() for a, b, c, d in lines]


def _short(cell: Cell) -> str:
    if len(cell.boxes) > 1:
        names = f"{cell.boxes[0].name} to {cell.boxes[-1].name}"
        return f"{len(cell.boxes)} nodes in a row, {names}."
    box = cell.boxes[0]
    if box.op == "placeholder":
        return f"{statement(box)}, a placeholder."
    extra = f" ({', '.join(notes(box))})" if notes(box) else ""
    return f"{shorten(statement(box), 80)}{extra}."
