"""`draw(gm)` and `draw.diff(before, after)`: pictures of graphs for a notebook."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.core.verdict import Box
from autograder.drawing.diff import compare
from autograder.drawing.diff_text import diff_alt, diff_text
from autograder.drawing.html import block, folded, scrolled, sheet
from autograder.drawing.sketch import Drawable, sketch
from autograder.drawing.text import alt_text, graph_text

NOTE = (
    "This graph is too large for a picture that one can read, even with its straight chains "
    "folded. Here is its text form. To see a picture, draw one of the model's submodules."
)
WIDEST, TALLEST = 2_600, 9_000  # points


class Picture:
    """A drawn graph, or a pair of graphs.

    A notebook shows the picture with its text form folded below; printing it gives the
    text form.

    Attributes:
        title: stands above the picture; may be empty.
        graphs: pairs of a heading and the boxes of a graph.
        focus: names of nodes that the picture points at.
        text: the text form.
    """

    def __init__(
        self,
        graphs: Sequence[tuple[str, Sequence[Box]]],
        title: str = "",
        focus: Collection[str] = (),
    ) -> None:
        self.title = title
        self.focus = frozenset(focus)
        self.graphs = tuple((heading, tuple(boxes)) for heading, boxes in graphs)

    @property
    def text(self) -> str:
        """The picture in words."""
        boxes = [boxes for _, boxes in self.graphs]
        body = diff_text(*boxes) if len(boxes) == 2 else graph_text(boxes[0])
        return f"{self.title}\n{body}" if self.title else body

    @property
    def alt(self) -> str:
        """The picture in few words."""
        boxes = [boxes for _, boxes in self.graphs]
        return diff_alt(*boxes) if len(boxes) == 2 else alt_text(boxes[0])

    @cached_property
    def note(self) -> str:
        """Why there is no picture, or ``""`` if there is one."""
        large = self._large or self.page.width > WIDEST or self.page.height > TALLEST
        return NOTE if large else ""

    @cached_property
    def _large(self) -> bool:
        from autograder.drawing.page_layout import too_large

        return too_large(self.graphs)

    @cached_property
    def page(self) -> Any:
        """The laid out picture."""
        from autograder.drawing.page_layout import page_of

        return page_of(self.graphs, self.title, self.focus)

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
            ValueError: for another ending.
        """
        path = Path(path)
        if path.suffix == ".svg":
            path.write_text(self.svg(), encoding="utf-8")
        elif path.suffix == ".png":
            path.write_bytes(self.png())
        else:
            raise ValueError(f"A picture is saved as .png or .svg, not as `{path.name}`.")

    def inline(self) -> str:
        """The picture as SVG in a page, without its text form."""
        from autograder.drawing.render import inline_svg, shown_width

        return scrolled(inline_svg(self.page, self.alt), shown_width(self.page))

    def html(self) -> str:
        """The picture as HTML, its text form folded below it."""
        text = block(self.text, lines=400)
        if self.note:
            return sheet(f'<div style="margin:0 0 4px 0">{self.note}</div>{text}')
        return sheet(self.inline() + folded("The same as text", text))

    def __repr__(self) -> str:
        return f"{NOTE}\n{self.text}" if self._large else self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}


class Draw:
    """The learner's `draw`: call it with one graph; its `diff` takes two."""

    def __call__(self, what: Drawable, title: str | None = None) -> Picture:
        """Draw a graph.

        Args:
            what: a `GraphModule`, a `Graph`, a module or a function. What is not traced
                yet is traced for the picture.
            title: stands above the picture.

        Raises:
            TypeError: for anything else.
            CannotTrace: (a ValueError) for what `fx.symbolic_trace` cannot trace.
        """
        return Picture([("", sketch(what))], title or "")

    def diff(self, before: Drawable, after: Drawable, title: str | None = None) -> Picture:
        """Draw two graphs side by side and mark what differs.

        Nodes are told apart by what they compute, so other names alone are no difference:
        added, removed, or changed in opcode, target or arguments.

        Args:
            before: the first graph; see `draw`.
            after: the second one.
            title: stands above the picture.
        """
        return pair(sketch(before), sketch(after), title or "")

    def __repr__(self) -> str:
        return "draw(module or graph), or draw.diff(before, after)"


def pair(
    before: Sequence[Box], after: Sequence[Box], title: str = "", focus: Collection[str] = ()
) -> Picture:
    """The picture of two graphs, what differs marked; see `Draw.diff`."""
    return Picture([*zip(("before", "after"), compare(before, after), strict=True)], title, focus)


draw = Draw()
