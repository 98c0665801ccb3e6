"""What a reader gets after a pass: the reference solution, another right answer, and a trap."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.cards.links import Link, line_of
from autograder.cards.markdown import markdown_html
from autograder.drawing.html import block, clean, code, folded, framed
from autograder.lessons import Debrief

_LINES = 200
SOLUTION, OTHER = "The reference solution", "Another right answer"


@dataclass(frozen=True)
class DebriefCard:
    """A debrief, ready to be displayed.

    Attributes:
        exercise: the name of the exercise.
        debrief: what is told about it.
        links: where a reader can go from here.
    """

    exercise: str
    debrief: Debrief
    links: Sequence[Link] = ()

    def __repr__(self) -> str:
        parts = [
            f"Debrief of {self.exercise}.",
            textwrap.fill(f"A trap: {self.debrief.trap}", 88),
            f"{SOLUTION}:\n\n{textwrap.indent(self.debrief.solution, '    ')}",
            f"{self._other()}:\n\n{textwrap.indent(self.debrief.other, '    ')}",
        ]
        return clean("\n\n".join(parts))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}

    def html(self) -> str:
        """The card as HTML: the trap, and a fold for each answer."""
        head = f"<div>Debrief of {code(self.exercise)}. Compare your answer with these.</div>"
        folds = [
            folded(SOLUTION, block(self.debrief.solution, lines=_LINES)),
            folded(self._other(), block(self.debrief.other, lines=_LINES)),
        ]
        trap = markdown_html(f"**A trap.** {self.debrief.trap}")
        return framed(f"{head}{trap}{''.join(folds)}{line_of(self.links)}")

    def _other(self) -> str:
        return f"{OTHER}: {self.debrief.style}"
