"""A debrief as a card: the reference solution, another right answer, and a trap."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.cards.links import Link, line_of
from autograder.cards.markdown import markdown_html
from autograder.drawing.html import block, clean, code, escaped, folded, framed
from autograder.lessons import Debrief

_LINES = 200
SOLUTION, OTHER = "The reference solution", "Another right answer"


@dataclass(frozen=True)
class DebriefCard:
    """A debrief, ready to be displayed.

    Attributes:
        exercise: the name of the exercise.
        debrief: its debrief.
        links: links to continue with.
        note: a sentence for a learner who has not passed.
    """

    exercise: str
    debrief: Debrief
    links: Sequence[Link] = ()
    note: str = ""

    def __repr__(self) -> str:
        parts = [
            f"Debrief of {self.exercise}.",
            textwrap.fill(self.note, 88),
            textwrap.fill(f"A trap: {self.debrief.trap}", 88),
            f"{SOLUTION}:\n\n{textwrap.indent(self.debrief.solution, '    ')}",
            f"{_other(self.debrief)}:\n\n{textwrap.indent(self.debrief.other, '    ')}",
        ]
        return clean("\n\n".join(filter(None, parts)))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}

    def html(self) -> str:
        """The card as HTML."""
        note = self.note or "Compare your answer with these."
        head = f"<div>Debrief of {code(self.exercise)}. {escaped(note)}</div>"
        return framed(f"{head}{debrief_html(self.debrief)}{line_of(self.links)}")


def debrief_html(debrief: Debrief) -> str:
    """A debrief as HTML: the trap, and a fold for each answer."""
    folds = [
        folded(SOLUTION, block(debrief.solution, lines=_LINES)),
        folded(_other(debrief), block(debrief.other, lines=_LINES)),
    ]
    return markdown_html(f"**A trap.** {debrief.trap}") + "".join(folds)


def _other(debrief: Debrief) -> str:
    return f"{OTHER}: {debrief.style}"
