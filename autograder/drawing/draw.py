"""`draw(gm)` and its methods for two graphs: pictures of graphs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import fx

from autograder.core.verdict import NodeBox
from autograder.drawing.diff import compare
from autograder.drawing.diff_text import diff_alt, diff_text
from autograder.drawing.html import block, bold_line, folded, pictures_row, sheet
from autograder.drawing.neighbourhood import DRAWN_WHOLE
from autograder.drawing.sketch import Drawable, sketch
from autograder.drawing.text import alt_text, graph_text
from autograder.environment import extras

NOTE = (
    "This graph is too large for a picture that one can read, even with its straight chains "
    "folded. Here is its text form. To see a picture of a part, name a node of it, "
    "as in draw(gm, around='add_1'), or draw one of the model's submodules."
)
SAME = "Nothing differs: node by node, both graphs compute the same. Names may differ."
DRAWS = "matplotlib"
WIDEST, TALLEST = 2_600, 9_000  # points


class Picture:
    """A drawn graph, or a pair of graphs.

    A notebook shows the picture with its text form folded below; printing it gives the
    text form.

    Attributes:
        title: the title above the picture; may be empty.
        graphs: pairs of a heading and the boxes of a graph.
        focus: names of nodes that the picture points at.
        around: names of nodes; in a big graph, only their surroundings are drawn.
        compared: whether the two graphs are one before and after a change.
        text: the text form.
    """

    def __init__(
        self,
        graphs: Sequence[tuple[str, Sequence[NodeBox]]],
        title: str = "",
        focus: Collection[str] = (),
        around: Collection[str] = (),
        compared: bool = True,
    ) -> None:
        self.title, self.compared = title, compared
        self.focus, self.around = frozenset(focus), frozenset(around)
        self.graphs = tuple((heading, tuple(boxes)) for heading, boxes in graphs)

    @property
    def text(self) -> str:
        """The text form of the picture."""
        body = self._said_of_each(graph_text)
        if self._is_a_diff:
            body = diff_text(*(boxes for _, boxes in self.graphs))
        return f"{self.title}\n{body}" if self.title else body

    def _said_of_each(self, say: Callable[[Sequence[NodeBox]], str]) -> str:
        parts = [(heading, say(boxes)) for heading, boxes in self.graphs]
        return "\n\n".join(f"{heading}: {text}" if heading else text for heading, text in parts)

    @property
    def _is_a_diff(self) -> bool:
        return len(self.graphs) == 2 and self.compared

    @property
    def alt(self) -> str:
        """A short text form of the picture."""
        if self._is_a_diff:
            return diff_alt(*(boxes for _, boxes in self.graphs))
        return self._said_of_each(alt_text)

    @cached_property
    def missing(self) -> str:
        """The line that says which package to install, or ``""`` if pictures can be drawn."""
        return "" if extras.is_installed(DRAWS) else extras.how_to_install(DRAWS)

    @cached_property
    def note(self) -> str:
        """The reason why there is no picture, or ``""`` if there is one."""
        if self.missing:
            return self.missing
        if self._is_the_same_twice:
            return SAME
        large = self._large or self.page.width > WIDEST or self.page.height > TALLEST
        return NOTE if large else ""

    @cached_property
    def _large(self) -> bool:
        from autograder.drawing.page_layout import too_large

        return too_large(self.graphs, self.focus | self.around)

    @property
    def _is_the_same_twice(self) -> bool:
        """Whether both graphs are equal, and too big to be drawn as a whole."""
        boxes = [box for _, boxes in self.graphs for box in boxes]
        big = len(boxes) > 2 * DRAWN_WHOLE and self._is_a_diff
        return big and not self.focus and not any(box.mark for box in boxes)

    @cached_property
    def page(self) -> Any:
        """The picture's layout."""
        extras.require(DRAWS)
        from autograder.drawing.page_layout import page_of

        return page_of(self.graphs, self.title, self.focus, self.around, self.compared)

    @cached_property
    def _png(self) -> bytes:
        from autograder.drawing.render import png_of

        return png_of(self.page)

    def png(self) -> bytes:
        """The picture in the PNG format."""
        return self._png

    def svg(self) -> str:
        """The picture in the SVG format."""
        from autograder.drawing.render import svg_of

        return svg_of(self.page)

    def save(self, path: str | Path) -> None:
        """Write the picture to a file whose name ends in ``.png`` or ``.svg``.

        Raises:
            ValueError: the name has another ending.
        """
        path = Path(path)
        if path.suffix == ".svg":
            path.write_text(self.svg(), encoding="utf-8")
        elif path.suffix == ".png":
            path.write_bytes(self.png())
        else:
            raise ValueError(f"A picture is saved as .png or .svg, not as `{path.name}`.")

    def inline(self) -> str:
        """The picture as inline SVG, without its text form."""
        from autograder.drawing.page_layout import panel_pages
        from autograder.drawing.render import inline_svg, shown_width

        if len(self.graphs) == 1:
            return pictures_row([(inline_svg(self.page, self.alt), shown_width(self.page))])
        alts = [f"{heading}: {alt_text(boxes)}" for heading, boxes in self.graphs]
        if self._is_a_diff:  # it describes the differences of both graphs
            alts[0] = self.alt
        pages = zip(panel_pages(self.page), alts, strict=True)
        row = pictures_row([(inline_svg(page, alt), shown_width(page)) for page, alt in pages])
        return bold_line(self.title) + row

    def html(self) -> str:
        """The picture as HTML, with its text form folded below it."""
        text = block(self.text, lines=400)
        if self.note:
            return sheet(f'<div style="margin:0 0 4px 0">{self.note}</div>{text}')
        return sheet(self.inline() + folded("The same as text", text))

    def __repr__(self) -> str:
        if self._is_the_same_twice:
            return f"{SAME}\n{self.text}"
        return f"{NOTE}\n{self.text}" if self._large else self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}


class Draw:
    """The learner's `draw`: call it with one graph; its `diff` takes two."""

    def __call__(
        self,
        what: Drawable,
        title: str | None = None,
        around: str | fx.Node | Collection[str | fx.Node] = (),
    ) -> Picture:
        """Draw a graph.

        Args:
            what: a `GraphModule`, a `Graph`, a module or a function. A module or function that is
                not traced yet is traced for the picture.
            title: the title above the picture.
            around: a node, its name, or several. In a big graph, only their surroundings are drawn.

        Raises:
            TypeError: for anything else, or a title that is not a text.
            CannotTrace: (a ValueError) `fx.symbolic_trace` cannot trace it.
            LookupError: the graph has no node with a name in `around`.
        """
        boxes = sketch(what)
        names = _names(around, boxes)
        heading = f"near {', '.join(sorted(names))}" if names else ""
        return Picture([(heading, boxes)], _text(title), around=names)

    def diff(self, before: Drawable, after: Drawable, title: str | None = None) -> Picture:
        """Draw two graphs next to each other and mark the differences.

        Nodes are compared by what they compute, so different names alone do not count. A node is
        added, removed, or changed in opcode, target or arguments.

        Args:
            before: the first graph; see `draw`.
            after: the second one.
            title: the title above the picture.
        """
        return pair(sketch(before), sketch(after), _text(title))

    def beside(
        self, left: Drawable, right: Drawable, title: str | None = None,
        headings: tuple[str, str] = ("left", "right"),
    ) -> Picture:  # fmt: skip
        """Draw two unrelated graphs next to each other, without marks.

        Args:
            left: the one graph; see `draw`.
            right: the other one.
            title: the title above the picture.
            headings: the headings above the graphs.
        """
        graphs = zip(headings, (sketch(left), sketch(right)), strict=True)
        return Picture([*graphs], _text(title), compared=False)

    def __repr__(self) -> str:
        return "draw(module), draw.diff(before, after), or draw.beside(left, right)"


def _text(title: str | None) -> str:
    """The title as text; if it is a graph, the error explains how to draw two."""
    if title is None or isinstance(title, str):
        return title or ""
    kind = type(title).__name__
    raise TypeError(
        f"The title must be a text, and is a {kind}. draw shows one graph; "
        "draw.diff(before, after) and draw.beside(left, right) show two."
    )


def _names(
    nodes: str | fx.Node | Collection[str | fx.Node], boxes: Sequence[NodeBox]
) -> frozenset[str]:
    """The names of these nodes of a graph."""
    several = [nodes] if isinstance(nodes, str | fx.Node) else list(nodes)
    names = frozenset(node if isinstance(node, str) else node.name for node in several)
    known = [box.name for box in boxes]
    for name in sorted(names - set(known)):
        near = get_close_matches(name, known, n=3)
        hint = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
        raise LookupError(f"The graph has no node {name!r}.{hint}")
    return names


def pair(
    before: Sequence[NodeBox],
    after: Sequence[NodeBox],
    title: str = "",
    focus: Collection[str] = (),
) -> Picture:
    """The picture of two graphs with their differences marked; see `Draw.diff`."""
    return Picture([*zip(("before", "after"), compare(before, after), strict=True)], title, focus)


draw = Draw()
