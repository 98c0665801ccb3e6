"""Card of a prediction: every option, with the reason why it is right or wrong."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from autograder.cards.markdown import markdown_html
from autograder.cards.wording import STATUS_LOOKS
from autograder.drawing.html import INK, QUIET, block, clean, framed, rich, tinted
from autograder.lessons import Option, Prediction

_TICK = STATUS_LOOKS["passed"].icon


@dataclass(frozen=True)
class PredictionCard:
    """A prediction with the learner's pick, ready to be displayed.

    Attributes:
        prediction: the prediction.
        pick: the letter that was picked now; empty if the card only shows the answer.
        first: the letter that was picked first, which is the one that counts.
        ran: the result of running the proof; empty if it was not run.
    """

    prediction: Prediction
    pick: str
    first: str
    ran: str = ""

    def __repr__(self) -> str:
        lines = [self._headline()]
        for option in self.prediction.options:
            tick = _TICK if option.letter == self.prediction.right else " "
            lines.append(f"\n{tick} {option.letter}  {option.text}{self._note(option, '  (', ')')}")
            lines.append(textwrap.indent(option.why, "     "))
        if self.prediction.proof:
            lines.append(f"\nThe proof. {self.ran}")
            lines.append(textwrap.indent(self.prediction.proof, "     "))
        return clean("\n".join(lines))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}

    def html(self) -> str:
        """The card as HTML."""
        options = "".join(self._option(option) for option in self.prediction.options)
        head = f'<div style="margin:0 0 4px 0">{rich(self._headline())}</div>'
        label = f"Prediction {self.prediction.name}"
        return framed(head + options + self._proof(), label=label)

    def _headline(self) -> str:
        right, name = self.prediction.right, self.prediction.name
        said = f"Prediction {name}: you picked {self.pick}, and {right} is right."
        if not self.pick:
            return f"Prediction {name}: {right} is right."
        if self.pick == right:
            said = f"Prediction {name}: you picked {right}, and that is right."
        if self.first == self.pick:
            return said
        return f"{said} Your first pick, {self.first}, is the one that counts."

    def _proof(self) -> str:
        if not self.prediction.proof:
            return ""
        return (
            f'<details style="margin:6px 0 0 0;color:{INK}">'
            f'<summary style="cursor:pointer">Show the proof</summary>'
            f"<div>{rich(self.ran)}</div>{block(self.prediction.proof)}</details>"
        )

    def _note(self, option: Option, before: str, after: str) -> str:
        return f"{before}your pick{after}" if option.letter == self.pick else ""

    def _option(self, option: Option) -> str:
        is_right = option.letter == self.prediction.right
        colour = tinted(STATUS_LOOKS["passed"].colour) if is_right else QUIET
        side = colour if is_right else "transparent"
        note = self._note(option, f'<span style="color:{QUIET};font-size:13px"> · ', "</span>")
        tick = f"{_TICK} " if is_right else ""
        letter = f'<strong style="color:{colour}">{tick}{option.letter}</strong>'
        text = f"<strong>{rich(option.text)}</strong>{note}"
        title = f'<div style="color:{INK}">{letter}&nbsp; {text}</div>'
        style = f"margin:3px 0 0 0;padding:0 0 0 10px;border-left:3px solid {side};color:{INK}"
        return f'<div style="{style}">{title}{markdown_html(option.why)}</div>'
