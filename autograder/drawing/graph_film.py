"""Draws the steps of a graph: all of them as a list, one as lines of text, or all as one picture.

A graph of FX is a list, so a picture has a row for each node, in graph order. Arcs at the left go
from a node to its readers; an arc from a later row is dashed. A row keeps its place in all steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from autograder.core.node_label import shorten
from autograder.drawing.graph_steps import GraphFilm, GraphRow, GraphStep, NodeChange
from autograder.drawing.html import INK, MONO, PAPER, QUIET, RULE, clean, escaped, tinted
from autograder.drawing.style import ALARM, MARKS
from autograder.drawing.text import SIGNS

MOST_ROWS = 40
"""Maximum number of rows of a picture; rows that change come first."""

MOST_CHANGES = 4
"""Maximum number of changes that a step names."""

WIDEST = 88
"""Maximum number of characters in a row."""

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_MARKS = {"new": "added", "erased": "removed"}

# ------------------------------------------------------------------ words


def place_of(film: GraphFilm, index: int) -> str:
    """The line of a step, such as ``line 7``."""
    if line := film.steps[index].line:
        return f"line {line}"
    return "before your first line" if index == 0 else "outside of your lines"


def title_of(film: GraphFilm, index: int) -> str:
    """The name of a step: ``Step 3 of 5, line 7``."""
    return f"Step {index + 1} of {len(film.steps)}, {place_of(film, index)}"


def sentences_of(film: GraphFilm, index: int) -> list[str]:
    """The changes of a step, with code in backticks."""
    step = film.steps[index]
    graphs = len({each.graph for each in film.steps})
    which = f"the {_ordinal(step.graph)} graph" if graphs > 1 else "the graph"
    if not step.changes:
        count = f"{len(step.rows)} node{'' if len(step.rows) == 1 else 's'}"
        is_first = all(each.graph != step.graph for each in film.steps[:index])
        return [f"{which} {'has' if is_first else 'is returned; it has'} {count}"]
    said = [change.says for change in step.changes[:MOST_CHANGES]]
    if left := len(step.changes) - len(said):
        said.append(f"and {left} more change{'' if left == 1 else 's'}")
    return [f"in {which}: {said[0]}", *said[1:]] if graphs > 1 else said


def film_text(film: GraphFilm) -> str:
    """The film as text: a list of the steps, then the last state of the graph."""
    lines = []
    for i, step in enumerate(film.steps):
        code = f": {step.text}" if step.text else ""
        lines.append(f"{title_of(film, i)}{code}")
        lines += [f"    {said.replace('`', '')}" for said in sentences_of(film, i)]
    if film.steps:
        lines += ["", "The graph after the last step:", *still_lines(film)]
    return clean("\n".join([*lines, *filter(None, (count_of(film), film.note))]))


def count_of(film: GraphFilm) -> str:
    """A sentence about steps that the film does not have, or ``""``."""
    shown = len(film.steps)
    return f"The first {shown} of {film.total:,} steps." if film.total > shown else ""


def still_lines(film: GraphFilm) -> list[str]:
    """The last state of the graph, one line for each node, with marks."""
    marks = _marks_of(film.steps[-1])
    rows = [f"{SIGNS[marks.get(row.key, '')]} {row.text}" for row in film.steps[-1].rows]
    left = len(rows) - MOST_ROWS
    return [*rows[:MOST_ROWS], f"  … and {left} more"] if left > 0 else rows


def _ordinal(number: int) -> str:
    return _ORDINALS[number - 1] if number <= len(_ORDINALS) else f"{number}th"


def _marks_of(step: GraphStep) -> dict[int, str]:
    """The mark of each node that the step changes, by its key."""
    return {change.key: _MARKS.get(change.kind, "changed") for change in step.changes}


# ------------------------------------------------------------------ places


@dataclass(frozen=True)
class _PlacedStep:
    """A step with the place of each row.

    Attributes:
        index: its index in the film.
        step: the step.
        places: places of its rows.
        erased: places and texts of the nodes that it erases.
    """

    index: int
    step: GraphStep
    places: tuple[int, ...]
    erased: tuple[tuple[int, NodeChange], ...]


def _place_rows(steps: Sequence[tuple[int, GraphStep]]) -> list[_PlacedStep]:
    """Give each row a place that it keeps in all steps of one graph."""
    order: list[int] = []
    for _, step in steps:
        order = _merged(order, [row.key for row in step.rows])
    found: list[_PlacedStep] = []
    before: dict[int, int] = {}
    for index, step in steps:
        places = _places_in(order, step.rows)
        gone = [change for change in step.changes if change.kind == "erased"]
        erased = tuple((before[each.key], each) for each in gone if each.key in before)
        found.append(_PlacedStep(index, step, places, erased))
        before = {row.key: place for row, place in zip(step.rows, places, strict=True)}
    return found


def _merged(order: list[int], keys: list[int]) -> list[int]:
    """A list with both lists in their order; a key that moves has two places."""
    merged: list[int] = []
    matcher = SequenceMatcher(None, order, keys, autojunk=False)
    for _, i, end_i, j, end_j in matcher.get_opcodes():
        merged += order[i:end_i]
        merged += [key for key in keys[j:end_j] if order[i:end_i] != keys[j:end_j]]
    return merged


def _places_in(order: Sequence[int], rows: Sequence[GraphRow]) -> tuple[int, ...]:
    places: list[int] = []
    for row in rows:
        places.append(order.index(row.key, places[-1] + 1 if places else 0))
    return tuple(places)


def _shown_places(placed: Sequence[_PlacedStep]) -> list[int]:
    """The places to draw: of rows that change, then of their inputs and readers, then others."""
    rank: dict[int, int] = {}
    for each in placed:
        marks = _marks_of(each.step)
        near = {key for row in each.step.rows if row.key in marks for key in row.reads}
        for row, place in zip(each.step.rows, each.places, strict=True):
            reads_it = not marks.keys().isdisjoint(row.reads)
            value = 0 if row.key in marks else 1 if row.key in near or reads_it else 2
            rank[place] = min(value, rank.get(place, 2))
        rank.update((place, 0) for place, _ in each.erased)
    return sorted(sorted(rank, key=lambda place: (rank[place], place))[:MOST_ROWS])


# ------------------------------------------------------------------ the picture

_ROW, _LEFT, _SIGN, _LETTER = 20, 48, 16, 7.7
"""Pixels: height of a row, width of the arcs, width of a sign, width of a letter."""

STYLE = (
    f"fieldset{{border:0;margin:4px 0 0 0;padding:0;display:flex;flex-wrap:wrap;gap:4px}}"
    f"legend{{float:left;padding:2px 4px 0 0;color:{QUIET}}}"
    "input{position:absolute;opacity:0;width:0;margin:0}"
    f"label span{{display:block;min-width:14px;padding:1px 6px;text-align:center;cursor:pointer;"
    f"border:1px solid {RULE};border-radius:4px}}"
    f"input:checked+span{{background:{INK};color:{PAPER};font-weight:600}}"
    "input:focus-visible+span{outline:2px solid #1f78ae;outline-offset:2px}"
    "p{margin:6px 0}"
    f"code{{{MONO};font-size:12.5px}}"
    f"summary{{cursor:pointer;color:{QUIET};font-size:13px}}"
    "div{overflow-x:auto}svg{display:block;overflow:visible}"
    f"svg text{{{MONO};font-size:12.5px;fill:{INK};white-space:pre}}"
    f"svg path{{fill:none;stroke:{QUIET}}}"
    f"svg .late{{stroke:{tinted(ALARM)};stroke-width:1.5;stroke-dasharray:3 2}}"
    + "".join(
        f"svg .{mark}{{fill:{tinted(look.colour)};font-weight:700}}" for mark, look in MARKS.items()
    )
    + "svg .removed{text-decoration:line-through}"
)


def controls(film: GraphFilm) -> str:
    """A radio button for each step, so that arrow keys go from step to step."""
    buttons = "".join(
        f'<label><input type="radio" name="step" value="{i}" aria-label="{title_of(film, i)}"'
        f"{' checked' if not i else ''}><span>{i + 1}</span></label>"
        for i in range(len(film.steps))
    )
    return f"<fieldset><legend>Step</legend>{buttons}</fieldset>"


def picture(film: GraphFilm) -> str:
    """All steps as one SVG picture. ``data-f`` of an element lists the steps that show it."""
    shown_in: dict[str, list[int]] = defaultdict(list)
    height = 0
    for placed in _placed_graphs(film):
        tops = {place: i for i, place in enumerate(_shown_places(placed))}
        height = max(height, len(tops) * _ROW)
        for each in placed:
            for element in _elements(each, tops):
                shown_in[element].append(each.index)
    inner = "".join(
        element.replace(" ", f' data-f="{_ranges(steps)}" ', 1)
        for element, steps in shown_in.items()
    )
    texts = (row.text for step in film.steps for row in step.rows)
    width = round(_LEFT + _SIGN + _LETTER * min(WIDEST, max(map(len, texts), default=0)))
    return f'<svg width="{width}" height="{height}">{inner}</svg>'


def rows_left_out(film: GraphFilm) -> str:
    """A sentence about rows that the picture does not have, or ``""``."""
    for placed in _placed_graphs(film):
        count = len({place for each in placed for place in each.places})
        if count > MOST_ROWS:
            return f"The picture shows {MOST_ROWS} of {count} rows."
    return ""


def _placed_graphs(film: GraphFilm) -> Iterator[list[_PlacedStep]]:
    for graph in dict.fromkeys(step.graph for step in film.steps):
        yield _place_rows([(i, step) for i, step in enumerate(film.steps) if step.graph == graph])


def _elements(placed: _PlacedStep, tops: dict[int, int]) -> Iterator[str]:
    """The SVG elements of a step."""
    marks = _marks_of(placed.step)
    at = dict(zip((row.key for row in placed.step.rows), placed.places, strict=True))
    for row in placed.step.rows:
        top = tops.get(at[row.key])
        if top is None:
            continue
        yield _line(top, row.text, marks.get(row.key, ""))
        sources = (tops.get(at[key]) for key in row.reads if key in at)
        yield from (_arc(source, top) for source in sources if source is not None)
    yield from (
        _line(tops[place], each.was, "removed") for place, each in placed.erased if place in tops
    )


def _line(row: int, text: str, mark: str) -> str:
    said = escaped(shorten(text, WIDEST))
    y = row * _ROW + 14
    if not mark:
        return f'<text x="{_LEFT + _SIGN}" y="{y}">{said}</text>'
    return f'<text class="{mark}" x="{_LEFT}" y="{y}">{SIGNS[mark]} {said}</text>'


def _arc(source: int, reader: int) -> str:
    """An arc from a definition to a reader; dashed if the definition comes later."""
    x, start, end = _LEFT - 6, source * _ROW + 13, reader * _ROW + 7
    wide = x - min(x - 2, 10 + 4 * abs(reader - source))
    late = ' class="late"' if source >= reader else ""
    if source == reader:  # a node that reads itself
        start, end, wide = start + 3, end - 3, x - 24
    return f'<path{late} d="M{x} {start}C{wide} {start} {wide} {end} {x} {end}m-4-3l4 3-4 3"/>'


def _ranges(steps: Sequence[int]) -> str:
    """Numbers in order as ranges: ``0-4,7-7``."""
    ranges: list[list[int]] = []
    for step in steps:
        if ranges and ranges[-1][1] == step - 1:
            ranges[-1][1] = step
        else:
            ranges.append([step, step])
    return ",".join(f"{first}-{last}" for first, last in ranges)
