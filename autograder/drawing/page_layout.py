"""Layout of a picture: panels next to each other, each in one or more columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from autograder.core.verdict import NodeBox
from autograder.drawing.diff import SIGNS
from autograder.drawing.folding import BIG, Cell, cells_of
from autograder.drawing.layout.columns import MOST, columns_of, ends_of, outputs_of
from autograder.drawing.layout.islands import in_rows, islands_of
from autograder.drawing.layout.layer_assignment import layers_of
from autograder.drawing.layout.layered import Layout, layout
from autograder.drawing.neighbourhood import cropped
from autograder.drawing.node_box import BoxContent, content_of, rows_for
from autograder.drawing.style import SANS, SANS_BOLD, text_width

MARGIN = 16.0
COLUMN_GAP = 34.0
WIDE = 860.0  # maximum width of a picture with several columns
MOST_CELLS = 250
MOST_PASSES = 1_500  # rows crossed by edges, summed over all edges
LANE = 6.0  # between two edges that lead upward
LATE = 14.0  # space above and below for edges that lead upward
PANEL_GAP = 52.0
TITLE, HEADING, NOTE = 11.5, 10.5, 8.2
HEAD_HEIGHT = 38.0
LOOP = 27.0  # space next to a node that reads itself


@dataclass(frozen=True)
class Column:
    """A column of a graph with its layout; its offset on the page is ``(x, y)``."""

    cells: tuple[Cell, ...]
    faces: tuple[BoxContent, ...]
    drawing: Layout
    x: float
    y: float


@dataclass(frozen=True)
class Panel:
    """One graph of a picture, with a heading if there are two."""

    heading: str
    counts: tuple[tuple[str, int], ...]
    note: str
    x: float
    width: float
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Page:
    """A complete picture, in points."""

    title: str
    panels: tuple[Panel, ...]
    top: float
    width: float
    height: float
    focus: frozenset[str] = frozenset()


def too_large(
    graphs: Sequence[tuple[str, Sequence[NodeBox]]], around: Collection[str] = ()
) -> bool:
    """Whether a picture would be too large to read, or would take too long to draw."""
    fold = max((len(boxes) for _, boxes in graphs), default=0) > BIG
    cells_in_turn = [cells_of(boxes, fold, around) for _, boxes in graphs]
    drawn = [cells for cells, _ in cropped(cells_in_turn, around)]
    if max(map(len, drawn), default=0) > MOST_CELLS:
        return True
    passes = 0
    for cells in drawn:
        edges = [(u, v) for v, cell in enumerate(cells) for u in cell.inputs]
        layer = layers_of(len(cells), edges)
        passes += sum(layer[v] - layer[u] for u, v in edges)
    return passes > MOST_PASSES


def page_of(
    graphs: Sequence[tuple[str, Sequence[NodeBox]]],
    title: str = "",
    focus: Collection[str] = (),
    around: Collection[str] = (),
    compared: bool = True,
) -> Page:
    """Lay out one graph, or several next to each other.

    Args:
        graphs: pairs of a heading (may be empty) and a graph's boxes.
        title: the title above the picture.
        focus: names of nodes to point at.
        around: names of nodes whose surroundings are drawn, like those of nodes in focus.
        compared: whether to note graphs without differences.
    """
    near = {*focus, *around}
    fold = max((len(boxes) for _, boxes in graphs), default=0) > BIG
    most = MOST if len(graphs) == 1 else 2
    rows = rows_for(max((len(boxes) for _, boxes in graphs), default=0))
    drawn = cropped([cells_of(boxes, fold, near) for _, boxes in graphs], near)
    while True:
        parts = [_parts(cells, most, rows) for cells, _ in drawn]
        wide = sum(drawing.width + COLUMN_GAP for part in parts for _, _, drawing in part)
        if most == 1 or wide <= WIDE:
            break
        most -= 1
    headed = any(heading for heading, _ in graphs)
    top = MARGIN + (24.0 if title else 0.0)
    body = top + (HEAD_HEIGHT if headed else 0.0)
    x, panels = MARGIN, []
    for (heading, boxes), (_, left_out), columns in zip(graphs, drawn, parts, strict=True):
        note = _note(heading, boxes, left_out, graphs) if compared else ""
        panel = _panel(heading, boxes, note, columns, x, body)
        panels.append(panel)
        x += panel.width + PANEL_GAP
    width = max(x - PANEL_GAP, MARGIN + text_width(title, TITLE, SANS_BOLD)) + MARGIN
    return Page(title, tuple(panels), top, width, _height(panels, body), frozenset(focus))


def panel_pages(page: Page) -> Iterator[Page]:
    """A separate page for each panel, without the title."""
    for panel in page.panels:
        x, y = MARGIN - panel.x, MARGIN - page.top
        columns = tuple(replace(each, x=each.x + x, y=each.y + y) for each in panel.columns)
        moved = replace(panel, x=MARGIN, columns=columns)
        wide, tall = panel.width + 2 * MARGIN, _height([moved], MARGIN + HEAD_HEIGHT)
        yield Page("", (moved,), MARGIN, wide, tall, page.focus)


def _height(panels: Sequence[Panel], body: float) -> float:
    columns = [column for panel in panels for column in panel.columns]
    lowest = [each.y + each.drawing.height + _headroom(each.cells) for each in columns]
    return max(lowest, default=body) + MARGIN + 2


_Part = tuple[tuple[Cell, ...], tuple[BoxContent, ...], Layout]


def _parts(cells: tuple[Cell, ...], most: int, rows: int) -> list[_Part]:
    heights = [content_of(cell, rows).height for cell in cells]
    return [_part(column, rows) for column in columns_of(cells, heights, most)]


def _part(cells: tuple[Cell, ...], rows: int) -> _Part:
    faces = tuple(content_of(cell, rows, _warning(cells, v)) for v, cell in enumerate(cells))
    edges = [(u, v) for v, cell in enumerate(cells) for u in cell.inputs]
    sizes = [
        (face.width + (2 * LOOP if v in cells[v].late else 0.0), face.height)
        for v, face in enumerate(faces)
    ]
    outputs, ends = outputs_of(cells), ends_of(cells)

    def lay_out(boxes: Sequence[int]) -> Layout:
        number = {box: i for i, box in enumerate(boxes)}
        own = [(number[u], number[v]) for u, v in edges if u in number and v in number]
        last, leads = ([number[box] for box in some if box in number] for some in (outputs, ends))
        return layout([sizes[box] for box in boxes], own, last, leads)

    late = [(u, v) for v, cell in enumerate(cells) for u in cell.late]
    islands = islands_of(len(cells), [*edges, *late], outputs)
    return cells, faces, in_rows(lay_out(range(len(cells))), islands, lay_out)


def _panel(
    heading: str, boxes: Sequence[NodeBox], note: str, parts: list[_Part], left: float, top: float
) -> Panel:
    marks = [(mark, sum(box.mark == mark for box in boxes)) for mark in SIGNS]
    counts = tuple((mark, count) for mark, count in marks if count)
    x, columns = left, []
    for cells, faces, drawing in parts:
        columns.append(Column(cells, faces, drawing, x, top + _headroom(cells)))
        x += drawing.width + _room_for_late(cells) + COLUMN_GAP
    width = max(x - COLUMN_GAP - left, _heading_width(heading, counts, note))
    return Panel(heading, counts, note, left, width, tuple(columns))


def _note(
    heading: str,
    boxes: Sequence[NodeBox],
    hidden: int,
    graphs: Sequence[tuple[str, Sequence[NodeBox]]],
) -> str:
    """The note below a heading, after the counts of marks."""
    if hidden:
        return (
            f"{hidden} nodes as before, not drawn"
            if len(graphs) > 1
            else f"{hidden} nodes not drawn"
        )
    if not boxes:
        return "no graph"
    if any(box.mark for box in boxes):
        return ""
    if not any(box.mark for _, others in graphs for box in others):
        return "nothing differs"
    return f"nothing {'removed' if heading == graphs[0][0] else 'added'} or changed"


def _warning(cells: Sequence[Cell], index: int) -> str:
    """The warning for a node that reads a value too early."""
    late = cells[index].late
    if index in late:
        return "reads itself"
    return f"reads {cells[late[0]].boxes[0].name} too early" if late else ""


def _climbs(cells: Sequence[Cell]) -> int:
    """Number of edges that lead up to an earlier node."""
    return sum(late != v for v, cell in enumerate(cells) for late in cell.late)


def _headroom(cells: Sequence[Cell]) -> float:
    return LATE if _climbs(cells) else 0.0


def _room_for_late(cells: Sequence[Cell]) -> float:
    """Space on the right for edges that lead upward."""
    return 12.0 + LANE * _climbs(cells) if _climbs(cells) else 0.0


def _heading_width(heading: str, counts: Sequence[tuple[str, int]], about: str) -> float:
    note = sum(26 + text_width(f"{count} {mark}", NOTE, SANS) for mark, count in counts)
    note += text_width(about, NOTE, SANS)
    return max(text_width(heading, HEADING, SANS_BOLD), note, 60.0 if heading else 0.0)
