"""The card of a drill: right, or the first difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograder.cards.wording import STATUS_LOOKS
from autograder.drawing.html import INK, clean, framed, plain, rich, tinted


@dataclass(frozen=True)
class DrillCard:
    """The result of a drill, ready to be displayed.

    Attributes:
        name: the drill, such as ``03.2a``.
        difference: between the learner's value and the expected one; ``""`` if there is none.
        says: the author's sentence about a likely mistake, if the learner made it.
    """

    name: str
    difference: str
    says: str = ""

    def __repr__(self) -> str:
        lines = [f"{self._look.icon} {self._headline}", *self._details]
        return clean(plain("\n".join(lines)))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}

    def html(self) -> str:
        """The card as HTML."""
        color = self._look.colour
        head = (
            f'<strong style="color:{tinted(color)}">{self._look.icon} '
            f"{rich(self._headline)}</strong>"
        )
        details = "".join(
            f'<div style="color:{INK};margin:3px 0 0 0">{rich(each)}</div>'
            for each in self._details
        )
        return framed(head + details, edge=color, label=self._headline.rstrip("."))

    @property
    def _look(self) -> Any:
        return STATUS_LOOKS["failed" if self.difference else "passed"]

    @property
    def _headline(self) -> str:
        return f"Drill {self.name}: {'not right yet' if self.difference else 'right'}."

    @property
    def _details(self) -> list[str]:
        return [each for each in (self.difference, self.says) if each]
