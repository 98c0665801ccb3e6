"""Reads the cells of a notebook from the gradebook."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from nbgrader.api import Gradebook

from autograder.submission.source_cells import ReleasedCell, SourceCell, normal


def source_cells_of(
    db_url: str, notebook: str, assignment: str, given: Iterable[ReleasedCell] = ()
) -> dict[str, SourceCell]:
    """The tracked cells of a notebook by grade id, read from the gradebook.

    Args:
        db_url: the gradebook.
        notebook: the notebook's name.
        assignment: the assignment's name.
        given: the notebook's cells from each of its releases.

    Raises:
        nbgrader.api.MissingEntry: the gradebook has no such notebook.
    """
    with Gradebook(db_url) as gradebook:
        return source_cells_in(gradebook, notebook, assignment, given)


def source_cells_in(
    gradebook: Gradebook, notebook: str, assignment: str, given: Iterable[ReleasedCell] = ()
) -> dict[str, SourceCell]:
    """The tracked cells of a notebook by grade id; see `source_cells_of`.

    Raises:
        nbgrader.api.MissingEntry: the gradebook has no such notebook.
    """
    return _with_releases(_tracked_cells(gradebook, notebook, assignment), tuple(given))


def _with_releases(
    source_cells: dict[str, SourceCell], given: tuple[ReleasedCell, ...]
) -> dict[str, SourceCell]:
    """Add to each source cell its released versions, including those under earlier names."""
    own: dict[str, list[ReleasedCell]] = {}
    for one in given:
        own.setdefault(one.name, []).append(one)
    renamed: dict[tuple[str, str, bool], list[ReleasedCell]] = {}
    for one in given:
        if one.name not in source_cells:
            renamed.setdefault((one.cell_type, normal(one.source), one.solution), []).append(one)
    found = {}
    for name, source_cell in source_cells.items():
        before = [
            old
            for text in (source_cell.released, *(one.source for one in own.get(name, ())))
            for old in renamed.get((source_cell.cell_type, normal(text), source_cell.solution), ())
        ]
        found[name] = replace(
            source_cell, given=tuple(dict.fromkeys([*own.get(name, ()), *before]))
        )
    return found


def _tracked_cells(gradebook: Gradebook, notebook: str, assignment: str) -> dict[str, SourceCell]:
    kept = gradebook.find_notebook(notebook, assignment)
    points = {cell.name: cell.max_score for cell in (*kept.grade_cells, *kept.task_cells)}
    grade = {cell.name for cell in kept.grade_cells}
    solution = {cell.name for cell in kept.solution_cells}
    task = {cell.name for cell in kept.task_cells}
    return {
        cell.name: SourceCell(
            cell.name,
            cell.cell_type,
            cell.source,
            cell.checksum,
            cell.locked,
            cell.name in grade,
            cell.name in solution,
            cell.name in task,
            points.get(cell.name),
        )
        for cell in kept.source_cells
    }
