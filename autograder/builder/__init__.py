"""Builds notebooks from ``solutions/NN_topic.py``, with jupytext and nbgrader's preprocessors.

Read the modules in this order: `source` (file to cells), `chapter_lint` (rules of a chapter),
`unfold` (cells of predictions, drills and debriefs), `expand` (short tags to nbgrader's metadata),
`release` (removes solutions), `notebook_forms` (the functions below), `lesson_data` (texts shown
after an answer), `generate` (all files), `execute` (runs a notebook as a proof).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.builder.notebook_forms import as_text, build, source_notebook
    from autograder.builder.paths import chapters
    from autograder.builder.problems import BuildRefused, Problem
    from autograder.builder.release import configure

__all__ = [
    "BuildRefused",
    "Problem",
    "as_text",
    "build",
    "chapters",
    "configure",
    "source_notebook",
]

_HOME = {
    "BuildRefused": "problems", "Problem": "problems", "as_text": "notebook_forms",
    "build": "notebook_forms", "chapters": "paths", "configure": "release",
    "source_notebook": "notebook_forms",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    # Lazy: a judge needs only two small modules of this package, and must start quickly.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
