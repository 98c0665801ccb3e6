"""Advice for a learner who runs a cell before the cells that it needs."""

from __future__ import annotations

from typing import Any

from autograder import __all__ as _OURS
from autograder.environment import notebook_kernel
from autograder.lessons.course_map import course_map

NAMES = frozenset({*_OURS, "torch", "fx", "nn", "F"})
"""Names that the first cells of chapters import."""

IMPORTED = "Run the first code cell of this notebook, then this cell again: `{}` is imported there."
ANSWER = "Run the cell that defines `{}` first, then this cell again."


def begin() -> None:
    """Print advice after each cell that needs it, if this is a notebook."""
    shell = notebook_kernel.shell()
    if shell is not None:
        shell.events.register("post_run_cell", advise)


def advise(result: Any) -> None:
    """Print advice if a cell failed because an import or an answer is missing."""
    error = result.error_in_exec
    if not isinstance(error, NameError):
        return
    if error.name in NAMES:
        print(IMPORTED.format(error.name))
    elif any(error.name in chapter.exercises for chapter in course_map().chapters):
        print(ANSWER.format(error.name))
