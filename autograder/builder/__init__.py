"""From ``solutions/NN_topic.py`` to notebooks, through jupytext and nbgrader's preprocessors.

Reading goes this way: `source` (file to cells), `chapter_lint` (what a chapter must keep to),
`unfold` (cells made of others, such as predictions), `expand` (short tags to nbgrader's metadata),
`release` (what learners get), `notebook_forms` (the functions below), `lesson_data` (what is told
afterwards), `generate` (all files), `execute` (running a notebook as a proof).
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
    # Imported when first asked for: a judge needs two small modules of this room, and somebody
    # waits for it.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
