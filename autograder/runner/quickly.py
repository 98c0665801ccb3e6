"""Has an answer tried and judged in less time, as in the boxes of a class, and leaves no trace."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from autograder.core import quick_copies, quick_tracing
from autograder.core.changes import Change, made
from autograder.runner.kinds import KINDS


def _changes() -> tuple[Change, ...]:
    try:
        tracing = quick_tracing.changes()
    except (AttributeError, KeyError):  # somebody has taken away what would be replaced
        return ()
    return (*tracing, *quick_copies.changes()) if tracing else ()


_CHANGES = _changes()
"""Found out with the first import: what a learner's cells mend of PyTorch comes later."""


def quickly(kind: str) -> AbstractContextManager[None]:
    """Within this, models are traced and copied in less time; afterwards all is as it was.

    Args:
        kind: the kind of the answers that are tried within this.
    """
    return nullcontext() if KINDS[kind].compiles else made(_CHANGES)
