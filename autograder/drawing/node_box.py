"""Content of each shape: the words, their places and sizes, and the size of the shape."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.core.node_label import shorten
from autograder.core.verdict import NodeBox
from autograder.drawing.folding import REFERENCE, Cell
from autograder.drawing.style import (
    ALARM,
    FOLDED,
    INK,
    MONO,
    MONO_BOLD,
    QUIET,
    SANS,
    SANS_BOLD,
    Look,
    look_of,
    text_width,
)

NAME, LABEL, TAG, ROW = 9.4, 9.0, 6.6, 8.0  # sizes of type, in points
LINE = 13.0
ROWS = ((160, 9), (350, 5))  # (nodes of a graph at most, rows of a folded chain)
FEWEST_ROWS = 3
LONGEST, LONGEST_ROW = 40, 24  # characters of a name or label in a picture

_PAD = {"stadium": 13.0, "slanted": 15.0, "barred": 13.0, "cylinder": 11.0, "cut": 12.0,
        "stacked": 10.0, "pentagon": 12.0}  # fmt: skip
_HEAD = {"cylinder": 6.0}  # extra space above the words
_FOOT = {"cylinder": 2.0, "pentagon": 7.0}  # extra space below the words


@dataclass(frozen=True)
class Text:
    """A piece of text at a place relative to the shape's center; ``y`` is its middle."""

    text: str
    x: float
    y: float
    size: float
    font: str
    colour: str = INK
    align: str = "left"


@dataclass(frozen=True)
class Bullet:
    """The little shape at the start of a row in a folded chain."""

    look: Look
    x: float
    y: float


@dataclass(frozen=True)
class BoxContent:
    """A shape's size and content."""

    look: Look
    width: float
    height: float
    words: tuple[Text, ...]
    dots: tuple[Bullet, ...] = ()


def rows_for(count: int) -> int:
    """The number of rows that a folded chain shows, in a graph with this many nodes."""
    return next((rows for most, rows in ROWS if count <= most), FEWEST_ROWS)


def content_of(cell: Cell, rows: int = ROWS[0][1], warning: str = "") -> BoxContent:
    """The content of a cell: of one node, of a folded chain, or of a stand-in.

    Args:
        cell: the cell.
        rows: the number of nodes that a chain shows.
        warning: the error of a node, shown in a separate line.
    """
    if len(cell.boxes) > 1:
        return _chain(cell.boxes, cell.places, rows)
    box = cell.boxes[0]
    if box.op == REFERENCE:
        return _reference(box)
    return _single(box, cell.places[0] if cell.places else 0, warning)


def fitting(box: NodeBox, limit: int) -> str:
    """A label that fits: in a long one, dots replace the inputs, because arrows show them."""
    text = box.label
    if len(text) > limit:
        for name in sorted(box.inputs, key=len, reverse=True):
            text = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", "\N{MIDDLE DOT}", text)
    if len(text) > limit and text.endswith(")"):
        return text[: limit - 2].rstrip(", ") + "…)"
    return shorten(text, limit)


def row_label(box: NodeBox) -> str:
    """A label in a chain, without the node's name: ``Conv2d`` for ``conv1 : Conv2d``."""
    target, colon, owner = box.label.partition(" : ")
    if colon and "(" not in target:
        return shorten(owner, LONGEST_ROW)
    return fitting(box, LONGEST_ROW)


def _single(box: NodeBox, place: int, warning: str) -> BoxContent:
    look = look_of(box.op)
    name, label = shorten(box.name, LONGEST), fitting(box, LONGEST)
    one_line = label in (name, box.op) or label.startswith(f"{name} = ")
    title = label if label.startswith(name) and one_line else name
    tag = "not in this graph" if look.edge == ALARM else box.op
    tag = "" if tag == title else f"{tag} \N{MIDDLE DOT} {place}" if place else tag
    pad = _PAD.get(look.shape, 10.0)
    top_width = text_width(title, NAME, MONO_BOLD) + (12 + text_width(tag, TAG) if tag else 0)
    inner = max(top_width, 0.0 if one_line else text_width(label, LABEL))
    inner = max(inner, text_width(warning, LABEL, SANS_BOLD))
    head, foot = _HEAD.get(look.shape, 0.0), _FOOT.get(look.shape, 0.0)
    lines = 1 if one_line or look.edge == ALARM else 2
    height = 10 + (lines + bool(warning)) * LINE + head + foot
    width = max(inner, 62.0) + 2 * pad
    left, y = -width / 2 + pad, -height / 2 + 5 + head + LINE / 2
    if not tag and lines == 1 and not warning:
        return BoxContent(
            look, width, height, (Text(title, 0.0, y, NAME, MONO_BOLD, INK, "center"),)
        )
    words = [
        Text(title, left, y, NAME, MONO_BOLD),
        Text(tag, -left, y, TAG, SANS, look.edge, "right"),
    ]
    if lines == 2:
        words.append(Text(label, left, y + LINE, LABEL, SANS))
    if warning:
        words.append(Text(warning, left, y + lines * LINE, LABEL, SANS_BOLD, ALARM))
    return BoxContent(look, width, height, tuple(words))


def _chain(boxes: tuple[NodeBox, ...], places: tuple[int, ...], rows: int) -> BoxContent:
    shown: list[NodeBox | None] = list(boxes)
    if len(boxes) > rows:
        half = (rows - 1) // 2
        shown = [*boxes[:half], None, *boxes[-half:]]
    names = [shorten(box.name, LONGEST_ROW) if box else "" for box in shown]
    labels = [row_label(box) if box else "" for box in shown]
    column = max(text_width(name, ROW, MONO) for name in names) + 10
    right = max(text_width(label, ROW) for label in labels)
    head = f"{len(boxes)} nodes in a row"
    if places and places[-1] - places[0] == len(boxes) - 1:
        head += f" \N{MIDDLE DOT} {places[0]}\N{EN DASH}{places[-1]}"
    pad, lead, line = _PAD["stacked"], 13.0, 12.0
    width = 2 * pad + max(lead + column + right, text_width(head, TAG))
    height = 10 + 11 + line * len(shown)
    left, y = -width / 2 + pad, -height / 2 + 10
    words, dots = [Text(head, left, y, TAG, SANS, QUIET)], []
    for i, box in enumerate(shown):
        middle = y + 12.5 + i * line
        if box is None:
            more = f"… {len(boxes) - len(shown) + 1} more …"
            words.append(Text(more, left + lead, middle, ROW, SANS, QUIET))
            continue
        dots.append(Bullet(look_of(box.op), left + 4, middle))
        words.append(Text(names[i], left + lead, middle, ROW, MONO))
        words.append(Text(labels[i], left + lead + column, middle, ROW, SANS))
    return BoxContent(FOLDED, width, height, tuple(words), tuple(dots))


def _reference(box: NodeBox) -> BoxContent:
    look = look_of(REFERENCE)
    name, where = shorten(box.name, LONGEST), box.label
    name_width = text_width(name, ROW, MONO_BOLD)
    width = name_width + 8 + text_width(where, TAG) + 2 * _PAD["stadium"]
    left = -width / 2 + _PAD["stadium"]
    words = (
        Text(name, left, 0.0, ROW, MONO_BOLD, QUIET),
        Text(where, -left, 0.0, TAG, SANS, QUIET, "right"),
    )
    return BoxContent(look, width, 18.0, words)
