"""Keeps the fork servers of the chapters that are graded here, where nbgrader asks one by one."""

from __future__ import annotations

import ast
import atexit
import sys
from functools import cache
from pathlib import Path

import nbformat

from autograder.classroom.canary import prove
from autograder.classroom.grade_submission import Boxes
from autograder.sandbox.client import NoBox
from autograder.sandbox.probe import why_no_box
from autograder.submission.contract import PreloadSpec

_kept: dict[tuple[PreloadSpec, bool], Boxes] = {}


def boxes_for(chapter: PreloadSpec, *, boxed: bool = True, proof: bool = True) -> Boxes:
    """The boxes for a chapter's notebooks; made when first asked for.

    Raises:
        NoBox: notebooks cannot be boxed here. The message says why, and what to do.
    """
    key = chapter, boxed
    if key not in _kept:
        for other in [one for one in _kept if one[0].name == chapter.name]:
            _kept.pop(other).close()  # they are ready for what the chapter was before
        if boxed and (why_not := no_box()):
            raise NoBox(why_not)
        made = Boxes(chapter, boxed=boxed)
        try:
            if proof:
                prove(made, chapter)
        except NoBox:
            made.close()
            raise
        _kept[key] = made
    return _kept[key]


@cache
def no_box() -> str | None:
    """Why notebooks cannot be boxed here; asked of the machine once."""
    return why_no_box()


@atexit.register
def let_go() -> None:
    """End the kept processes."""
    while _kept:
        _kept.popitem()[1].close()


def hidden_by_name(room: Path) -> tuple[str, ...]:
    """The classroom's folder, where it lies among what notebooks can see of this machine."""
    if sys.platform != "linux":
        return ()
    from autograder.sandbox.namespaces import is_shown

    folder = str(room.resolve())
    return (folder,) if is_shown(folder) else ()


def text_of(path: Path) -> str:
    """The text of a notebook's file; an empty one where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def imports_of(text: str) -> tuple[str, ...]:
    """The modules that a notebook of the course imports; none where it cannot be read.

    Args:
        text: the text of its file.
    """
    try:
        nb = nbformat.reads(text, as_version=4)
    except Exception:  # a notebook that an instructor has changed; imports then take their time
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
"""What PyTorch imports when it is called."""


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
