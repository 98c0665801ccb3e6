"""Hints: folded in a notebook, and only counted in plain text, so that none is shown unasked."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import Any

from autograder.cards.markdown import markdown_html
from autograder.core.exercise import Exercise
from autograder.drawing.html import QUIET, clean, code, escaped, folded, framed

_OWN_TITLE = re.compile(r"\*\*([^*`\n]{3,30}?)[.:]?\*\*[.:]?(?=\s|$)")
FIRST, BETWEEN, LAST = "where to look", "what to use", "a skeleton"


class NoSuchHint(IndexError):
    """The exercise has no hint with this number."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows this instead of a traceback through the course's own code.
        return [f"NoSuchHint: {self}"]


@dataclass(frozen=True)
class Hints:
    """An exercise's hints, ready to be displayed.

    Attributes:
        exercise: the exercise.
        number: the only hint to show, not folded, counted from 1; by default all, folded.

    Raises:
        NoSuchHint: the exercise has no hint with this number.
    """

    exercise: Exercise
    number: int | None = None

    def __post_init__(self) -> None:
        count = len(self.exercise.hints)
        if self.number is not None and not (
            isinstance(self.number, int) and 1 <= self.number <= count
        ):
            raise NoSuchHint(
                f"`{self.exercise.name}` has {_hints(count)}; there is no hint {self.number!r}."
            )

    def __repr__(self) -> str:
        name, count = self.exercise.name, len(self.exercise.hints)
        if self.number is not None:
            head, body = titled(self.exercise.hints[self.number - 1], self.number, count)
            return f"{head}\n{textwrap.indent(body, '    ')}"
        if not count:
            return f"{name} has no hints: its task says all there is to say."
        numbers = "the first" if count > 1 else "it"
        return f'{name} has {_hints(count)}. hint("{name}", 1) prints {numbers}.'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}

    def html(self) -> str:
        """The hints as HTML: one fold for each."""
        hints = self.exercise.hints
        if self.number is not None:
            head, body = titled(hints[self.number - 1], self.number, len(hints))
            return framed(f"<strong>{escaped(head)}</strong>{markdown_html(body)}")
        lead = f"{code(self.exercise.name)} has {_hints(len(hints))}."
        if len(hints) > 1:
            lead += " Open one, try again, and open the next only if you need it."
        folds = []
        for i, hint in enumerate(hints, 1):
            head, body = titled(hint, i, len(hints))
            inner = f'<div style="margin:2px 0 6px 16px">{markdown_html(body)}</div>'
            folds.append(folded(head, inner))
        quiet = f'<div style="color:{QUIET};font-size:13px">{lead}</div>'
        return framed(quiet + "".join(folds))


def titled(hint: str, number: int, count: int) -> tuple[str, str]:
    """A hint's heading, such as ``Hint 1 of 3 · where to look``, and its text.

    If a hint starts with a few bold words, they become its heading.
    """
    is_skeleton = number == count and "```" in hint
    kind = FIRST if number == 1 else LAST if is_skeleton else BETWEEN
    body = clean(hint).strip()
    own = _OWN_TITLE.match(body)
    if own:
        kind, body = own[1].lower(), body[own.end() :].lstrip()
    return f"Hint {number} of {count} · {kind}", body


def _hints(count: int) -> str:
    return f"{count or 'no'} hint{'' if count == 1 else 's'}"
