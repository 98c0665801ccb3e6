"""Records every released version of a notebook, in an append-only file.

Students submit the version that they received, even if the instructor has since changed points, a
name or a test. The earlier versions distinguish such cells from forged ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader import utils
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.submission.source_cells import ReleasedCell, grade_id

KEPT = ".fxcourse/released.jsonl"
"""The file in a classroom; a line for each version of a notebook."""


class KeepReleased(NbGraderPreprocessor):
    """The last of nbgrader's preprocessors for releases: records the notebook for students."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Record a notebook."""
        ids, course = resources["nbgrader"], CourseDirectory(config=self.config)
        _keep(Path(course.root), ids["assignment"], ids["notebook"], nb)
        return nb, resources


def given_out(course: CourseDirectory, assignment: str, notebook: str) -> tuple[ReleasedCell, ...]:
    """The tracked cells of a notebook in all released versions, each once.

    The notebook in nbgrader's release folder is also recorded, because another program may have put
    it there.

    Args:
        course: the classroom.
        assignment: the assignment's name.
        notebook: the notebook's name.
    """
    room = Path(course.root)
    folder = Path(course.format_path(course.release_directory, ".", assignment))
    path = folder / f"{notebook}.ipynb"
    if path.is_file():
        try:
            _keep(room, assignment, notebook, nbformat.read(path, as_version=4))
        except Exception as error:  # the file may contain anything; earlier records still count
            course.log.warning("%s could not be read: %s", path, error)
    versions = _read(room / KEPT, assignment, notebook)
    return tuple(dict.fromkeys(one for version in versions for one in version))


def _keep(room: Path, assignment: str, notebook: str, nb: NotebookNode) -> None:
    """Record a version, if it is a new one."""
    path, cells = room / KEPT, list(_tracked(nb))
    if cells in _read(path, assignment, notebook):
        return
    path.parent.mkdir(exist_ok=True)
    line = {
        "assignment": assignment,
        "notebook": notebook,
        "cells": [asdict(cell) for cell in cells],
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _read(path: Path, assignment: str, notebook: str) -> list[list[ReleasedCell]]:
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            kept = json.loads(line)
            if (kept["assignment"], kept["notebook"]) == (assignment, notebook):
                found.append([ReleasedCell(**cell) for cell in kept["cells"]])
        except (ValueError, TypeError, KeyError):
            continue  # the line was cut off when the machine stopped
    return found


def _tracked(nb: NotebookNode) -> Iterator[ReleasedCell]:
    for cell in nb.cells:
        name = grade_id(cell)
        if name is None:
            continue
        points = cell.metadata["nbgrader"].get("points")
        yield ReleasedCell(
            name,
            cell.cell_type,
            cell.source,
            bool(utils.is_locked(cell)),
            bool(utils.is_grade(cell)),
            bool(utils.is_solution(cell)),
            bool(utils.is_task(cell)),
            None if points is None else float(points),
        )
