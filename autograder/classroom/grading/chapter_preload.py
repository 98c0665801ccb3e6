"""The data that the processes for a chapter's notebooks load before grading."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import nbformat

from autograder.classroom.grading.settings import GradingSettings
from autograder.core import own_exercises
from autograder.submission.contract import PreloadSpec


def preload_spec(settings: GradingSettings, assignment: str, chapter: str) -> PreloadSpec:
    """The data that the processes for a chapter's notebooks load.

    Args:
        settings: the settings of the class.
        assignment: the assignment.
        chapter: the name of its notebook.
    """
    released_text = _text_of(settings.source(assignment) / f"{chapter}.ipynb")
    return PreloadSpec(
        chapter,
        syllabus=settings.syllabus,
        imports=imports_of(released_text),
        covered=_hidden_by_name(settings.room),
        bounds=settings.bounds,
        pool=settings.pools.now(chapter),
        own=tuple(own_exercises.texts_in(settings.room / own_exercises.FOLDER).items()),
        released_text=released_text,
    )


def _hidden_by_name(room: Path) -> tuple[str, ...]:
    """The classroom's folder, if sandboxed notebooks would otherwise see it."""
    if sys.platform != "linux":
        return ()
    from autograder.sandbox.namespaces import is_shown

    folder = str(room.resolve())
    return (folder,) if is_shown(folder) else ()


def _text_of(path: Path) -> str:
    """The text of a notebook's file; empty if the file cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def imports_of(text: str) -> tuple[str, ...]:
    """The modules that a notebook of the course imports; empty if it cannot be read.

    Args:
        text: the text of its file.
    """
    try:
        nb = nbformat.reads(text, as_version=4)
    except Exception:  # the instructor has changed the notebook; its imports are not preloaded
        return ()
    found: set[str] = set()
    for cell in nb.cells:
        if cell.cell_type == "code":
            found |= _imports_in(cell.source)
            for called, imported in _WHEN_CALLED.items():
                if called in cell.source:
                    found.add(imported)
    return tuple(sorted(name for name in found if name.partition(".")[0] != "autograder"))


_WHEN_CALLED = {"torch.compile": "torch._dynamo", "torch.export.": "torch._export"}
"""By call, a module that PyTorch imports only during that call."""


def _imports_in(source: str) -> set[str]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return {name for name in found if name.partition(".")[0] not in sys.builtin_module_names}
