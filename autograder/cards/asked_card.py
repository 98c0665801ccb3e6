"""Card of the questions about a learner's own answer."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from autograder.cards.wording import STATUS_LOOKS
from autograder.drawing.html import (
    INK,
    QUIET,
    block,
    bold_line,
    clean,
    folded,
    framed,
    plain,
    rich,
    tinted,
)

_TICK = STATUS_LOOKS["passed"].icon
_MODEL, _GRAPH, _CODE = "The model", "Its graph", "Your code"


@dataclass(frozen=True)
class AskedOption:
    """An option of a question.

    Attributes:
        letter: ``a``, ``b`` and so on.
        text: the option; code is in backticks.
        why: the reason why it is right or wrong.
    """

    letter: str
    text: str
    why: str


@dataclass(frozen=True)
class AskedQuestion:
    """A question with the learner's pick.

    Attributes:
        text: the question; code is in backticks.
        model: the code of the model; ``""`` if there is none.
        graph: the nodes of the model's graph, as text.
        options: the options.
        right: the letter of the right option.
        pick: the letter that was picked now; ``""`` keeps the answer secret.
        first: the letter that was picked first, which is the one that counts.
    """

    text: str
    model: str
    graph: str
    options: tuple[AskedOption, ...]
    right: str
    pick: str = ""
    first: str = ""


@dataclass(frozen=True)
class AskedCard:
    """The questions about an answer, ready to be displayed.

    Attributes:
        exercise: the name of the exercise.
        cell: the learner's code, as it was asked about.
        questions: the questions, in order.
        call: the call that picks letters, such as ``ask_me("add_to_mul", "?", "?")``.
        note: a sentence at the end; may be ``""``.
    """

    exercise: str
    cell: str
    questions: tuple[AskedQuestion, ...]
    call: str
    note: str = ""

    def __repr__(self) -> str:
        parts = [self._headline]
        for number, asked in enumerate(self.questions, 1):
            parts += [textwrap.fill(f"{number}. {asked.text}", 88)]
            parts += [textwrap.indent(asked.model, "    ")] if asked.model else []
            parts += [textwrap.indent(asked.graph, "    ")] if asked.graph else []
            parts += ["\n".join(_option_lines(asked))]
            parts += [_result(asked)] if asked.pick else []
        parts += [
            f"{_CODE}:\n{textwrap.indent(_numbered(self.cell), '    ')}",
            self._next,
            self.note,
        ]
        return clean(plain("\n\n".join(filter(None, parts))))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}

    def html(self) -> str:
        """The card as HTML."""
        parts = [f'<div style="color:{INK}">{rich(self._headline)}</div>']
        for number, asked in enumerate(self.questions, 1):
            parts.append(
                f'<div style="margin:8px 0 0 0">{bold_line(f"{number}. {asked.text}")}</div>'
            )
            parts += [block(asked.model)] if asked.model else []
            parts += [folded(_GRAPH, block(asked.graph))] if asked.graph else []
            parts += [_option_html(asked, option) for option in asked.options]
            parts += (
                [f'<div style="color:{INK}">{rich(_result(asked))}</div>'] if asked.pick else []
            )
        parts.append(folded(_CODE, block(_numbered(self.cell), lines=100)))
        ends = [rich(text) for text in (self._next, self.note) if text]
        parts += [f'<div style="color:{QUIET};margin:4px 0 0 0">{end}</div>' for end in ends]
        return framed("".join(parts), label=f"Questions about {self.exercise}")

    @property
    def _headline(self) -> str:
        return f"Your code of `{self.exercise}` was run to make these questions."

    @property
    def _next(self) -> str:
        if all(asked.pick for asked in self.questions):
            return ""
        return f"Write your letters in place of `?` and run the cell: `{self.call}`."


def _numbered(cell: str) -> str:
    """The lines of a cell with their numbers."""
    return "\n".join(f"{at:3}  {line}" for at, line in enumerate(cell.rstrip().splitlines(), 1))


def _result(asked: AskedQuestion) -> str:
    if asked.pick == asked.right:
        said = f"You picked {asked.pick}, and that is right."
    else:
        said = f"You picked {asked.pick}, and {asked.right} is right."
    if asked.first == asked.pick:
        return said
    return f"{said} Your first pick, {asked.first}, is the one that counts."


def _option_lines(asked: AskedQuestion) -> list[str]:
    lines = []
    for option in asked.options:
        is_right = bool(asked.pick) and option.letter == asked.right
        tick = _TICK if is_right else " "
        note = "  (your pick)" if option.letter == asked.pick else ""
        lines.append(f"{tick} {option.letter}  {option.text}{note}")
        lines += [textwrap.indent(textwrap.fill(option.why, 80), "     ")] if asked.pick else []
    return lines


def _option_html(asked: AskedQuestion, option: AskedOption) -> str:
    is_right = bool(asked.pick) and option.letter == asked.right
    color = tinted(STATUS_LOOKS["passed"].colour) if is_right else QUIET
    side = color if is_right else "transparent"
    tick = f"{_TICK} " if is_right else ""
    mine = option.letter == asked.pick
    note = f'<span style="color:{QUIET};font-size:13px"> · your pick</span>' if mine else ""
    letter = f'<strong style="color:{color}">{tick}{option.letter}</strong>'
    why = f'<div style="color:{QUIET}">{rich(option.why)}</div>' if asked.pick else ""
    style = f"margin:3px 0 0 0;padding:0 0 0 10px;border-left:3px solid {side};color:{INK}"
    return f'<div style="{style}">{letter}&nbsp; {rich(option.text)}{note}{why}</div>'
