"""The released version of a chapter that a student fetched with nbgrader."""

from __future__ import annotations

import contextlib
import copy
import logging
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.environment import extras
from autograder.workspace import given
from autograder.workspace.cells import name_of, text_of


def released(folder: Path, name: str) -> NotebookNode | None:
    """A chapter as released: from nbgrader's exchange, or else from this installation.

    Args:
        folder: the folder of the assignment; its name is the assignment's.
        name: the chapter's stem.
    """
    path = _in_exchange(folder, name) if extras.is_installed("nbgrader") else None
    if path is not None:
        with contextlib.suppress(Exception):  # the file may contain anything
            return nbformat.read(path, as_version=4)  # type: ignore[no-any-return]
    return given.chapter(name)


def as_fetched(name: str, mine: NotebookNode, new: NotebookNode) -> NotebookNode:
    """Estimate how a chapter was when it was fetched, because no copy of that was kept.

    A cell that a student cannot edit is as fetched, and so is one with the text of this
    installation. Any other difference from the new version counts as the student's work, and stays.

    Args:
        name: the chapter's stem.
        mine: the student's notebook.
        new: the chapter as released now.
    """
    installed = given.chapter(name)
    texts = {name_of(cell): text_of(cell) for cell in installed.cells} if installed else {}
    cells = {name_of(cell): cell for cell in mine.cells}
    was = copy.copy(new)
    was.cells = []
    for cell in new.cells:
        here = cells.get(name_of(cell))
        if here is not None:
            is_same = _is_locked(here) or text_of(here) == texts.get(name_of(here))
            was.cells.append(here if is_same else cell)
    return was


def _is_locked(cell: NotebookNode) -> bool:
    known = cell.get("metadata", {}).get("nbgrader", {})
    return isinstance(known, dict) and bool(known.get("locked"))


def _in_exchange(folder: Path, name: str) -> Path | None:
    """The released notebook in nbgrader's exchange, if this account can find exactly one."""
    try:
        from nbgrader.apps import NbGrader
        from nbgrader.exchange.default import Exchange

        app = NbGrader()
        app.log.setLevel(logging.CRITICAL)  # a missing settings file is not a problem
        app.load_config_file()
        course = app.config.CourseDirectory.get("course_id", "*")
        root = Path(Exchange(config=app.config).root)
    except Exception:  # a settings file may raise anything
        return None
    found = [*root.glob(f"{course}/outbound/{folder.name}/{name}.ipynb")]
    return found[0] if len(found) == 1 else None
