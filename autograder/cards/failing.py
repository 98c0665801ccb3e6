"""`fails`: demonstrates an error in one line, so that a red traceback is the reader's own error."""

from __future__ import annotations

import io
import sys
import traceback
from contextlib import redirect_stderr
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from autograder.cards.display import show
from autograder.drawing.html import (
    QUIET,
    RULE,
    block,
    bounded,
    clean,
    code,
    escaped,
    folded,
    framed,
)
from autograder.environment import torch_changes

_NOTE = "as expected"
_LINES = 200


class DidNotFail(AssertionError):
    """Lines that should raise an error did not raise it."""


class fails:  # noqa: N801
    """Show that a few lines raise an error: its type and message, with the traceback in a fold.

    >>> with fails(TypeError):
    ...     len(3)
    TypeError: object of type 'int' has no len()  (as expected)

    Args:
        kind: the type of the error, or a base of it.
        until: the first version of PyTorch in which the lines raise nothing; ``""`` if there is
            none.

    Attributes:
        error: the error, once the lines have raised it.

    Raises:
        DidNotFail: the lines raised nothing. An error of another type is passed on.
        TypeError: `kind` is not a type of errors.
    """

    def __init__(self, kind: type[BaseException], until: str = "") -> None:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError(
                "`fails` takes the type of an error: write `with fails(TypeError):` and the lines "
                f"that raise it below, not `fails({kind!r})`."
            )
        self.kind = kind
        self.until = until
        self.error: BaseException | None = None

    def __enter__(self) -> fails:
        self._said = io.StringIO()
        self._stderr = redirect_stderr(self._said)
        self._stderr.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self._stderr.__exit__(kind, error, trace)
        expected = torch_changes.holds(until=self.until)
        if isinstance(error, self.kind) and expected:
            said = "".join(traceback.format_exception(kind, error, trace))
            # The traceback would keep alive all local variables of the lines.
            self.error = error.with_traceback(None)
            show(Failure(type(error).__name__, str(error), said, self._said.getvalue()))
            return True
        sys.stderr.write(self._said.getvalue())
        if error is None and not expected:
            show(NoFailure(self.kind.__name__, self.until))
        elif error is None:
            raise DidNotFail(f"These lines were meant to raise {self.kind.__name__}; they did not.")
        return False


@dataclass(frozen=True)
class NoFailure:
    """An error that the reader's PyTorch raises no more, ready to be displayed.

    Attributes:
        kind: the name of its type.
        until: the version of PyTorch that raises nothing.
    """

    kind: str
    until: str

    def __repr__(self) -> str:
        return (
            f"No error: your PyTorch {torch_changes.loaded()} has fixed this. Versions before "
            f"{self.until} raise {self.kind}."
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": framed(escaped(repr(self)), edge=RULE), "text/plain": repr(self)}


@dataclass(frozen=True)
class Failure:
    """An expected error, ready to be displayed.

    Attributes:
        kind: the name of its type.
        message: its message.
        trace: its traceback.
        printed: text that the lines printed to standard error.
    """

    kind: str
    message: str
    trace: str
    printed: str = ""

    def __repr__(self) -> str:
        return clean(f"{self._line()}  ({_NOTE})")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}

    def html(self) -> str:
        """The error as HTML: one line, and a fold."""
        note = f'<span style="color:{QUIET};font-size:13px">&nbsp;{escaped(_NOTE)}</span>'
        inner = block(self.trace, lines=_LINES)
        if self.printed.strip():
            label = f'<div style="color:{QUIET};font-size:13px;margin:4px 0 0 0">Also printed</div>'
            inner += label + block(self.printed.strip(), lines=_LINES)
        fold = folded("The whole traceback", inner)
        return framed(f"{code(self._line())}{note}{fold}", edge=RULE)

    def _line(self) -> str:
        lines = [line.strip() for line in self.message.splitlines() if line.strip()]
        first = bounded(lines[0], 1, 200) if lines else ""
        first += " …" * (first.endswith(":") and len(lines) > 1)
        return f"{self.kind}: {first}" if first else self.kind
