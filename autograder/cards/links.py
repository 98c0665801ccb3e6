"""Links from a card to cells of the learner's notebooks.

A link names a notebook in the same folder, and one of its cells by id: JupyterLab opens the
notebook and scrolls to the cell. In VS Code and in nbviewer, which have no such addresses, a link
opens the notebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.drawing.html import QUIET, escaped


@dataclass(frozen=True)
class Link:
    """A link to continue with.

    Attributes:
        text: its text.
        chapter: the notebook's stem, such as ``03_manipulation``.
        cell: the id of a cell in it; ``""`` for its beginning.
    """

    text: str
    chapter: str
    cell: str = ""

    def html(self) -> str:
        """The link as HTML."""
        return linked(escaped(self.text), self.chapter, self.cell)


def linked(inner: str, chapter: str, cell: str = "") -> str:
    """A link around HTML, underlined so that it differs from text not only in color."""
    target = f"{chapter}.ipynb" + (f"#cell-id={cell}" if cell else "")
    return (
        f'<a href="{escaped(target)}" style="color:inherit;text-decoration:underline">{inner}</a>'
    )


def line_of(links: Sequence[Link]) -> str:
    """The links in one line; ``""`` if there are none."""
    if not links:
        return ""
    inner = " &nbsp;·&nbsp; ".join(link.html() for link in links)
    return f'<div style="margin:4px 0 0 0;color:{QUIET};font-size:13px">{inner}</div>'
