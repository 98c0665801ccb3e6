"""Every chapter runs from first to last cell, with solutions and proofs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell

from autograder import builder
from autograder.builder.outputs.execute import execute
from autograder.lessons import drills
from tests.support.forked_kernels import forked_kernels
from tests.unit.builder.test_build_execute import validate

PLAIN = """from autograder.core.codec import Encoder
assert "opaque" not in str(Encoder().encode({0})), "two such values cannot be told apart"
"""
TOLD_APART = 8
"""Minimum length of a value that gives a drill's answer away; `2` may be any number."""


@lru_cache
def run_solved(path: Path) -> NotebookNode:
    """Execute a chapter with its solutions and proofs; each drill is tried three times."""
    notebook = builder.source_notebook(path, solved=True, proofs=True)
    with forked_kernels():
        return execute(with_tries(notebook, path.stem))


def with_tries(notebook: NotebookNode, chapter: str) -> NotebookNode:
    """Add a cell after each drill that tries its likely mistake, and no answer."""
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        for drill in drills()[chapter].values() if cell.id.startswith("drill-") else ():
            if f'drill("{drill.name}", ' not in cell.source:
                continue
            wrong = f"own = dict(globals()); exec({drill.mistake!r}, own)\n"
            call = f'drill("{drill.name}", own["{drill.variable}"])\ndrill("{drill.name}", ...)'
            value = f"\n{PLAIN.format(drill.variable)}\nprint(repr({drill.variable}))"
            cells.append(new_code_cell(wrong + call + value, id=f"tries-{cell.id}"))
    notebook.cells = cells
    return notebook


by_chapter = pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.xdist_group(f"chapter {path.stem}"))
        for path in builder.chapters()
    ],
)


@by_chapter
def test_every_cell_of_a_solved_chapter_succeeds(path: Path, total) -> None:
    run = run_solved(path)
    total("cells executed in solved chapters", sum(c.cell_type == "code" for c in run.cells))


@by_chapter
def test_drills_tell_right_from_the_likely_mistake(path: Path) -> None:
    run = run_solved(path)
    for drill in drills()[path.stem].values():
        at = next(i for i, c in enumerate(run.cells) if f'drill("{drill.name}", ' in c.source)
        assert f"Drill {drill.name}: right." in shown_by(run.cells[at]), drill.name
        tries = shown_by(run.cells[at + 1])
        assert f"Drill {drill.name}: not right yet." in tries and drill.says in tries, drill.name
        assert "not attempted yet" in tries, drill.name
        value = tries.rstrip().splitlines()[-1]
        if len(value) >= TOLD_APART:
            assert all(value not in shown_by(cell) for cell in run.cells[:at]), drill.name


def shown_by(cell: NotebookNode) -> str:
    """The source and the output of a cell as text."""
    parts = [cell.source]
    for output in cell.get("outputs", ()):
        parts += [output.get("text", ""), output.get("data", {}).get("text/plain", "")]
    return "\n".join(parts)


def test_a_chapter_that_nobody_has_worked_in_shows_no_error_of_a_check() -> None:
    path = next(path for path in builder.chapters() if path.stem.startswith("01"))
    with forked_kernels():
        run = execute(builder.build(path), unsolved=True)
    checks = [cell for cell in run.cells if cell.id.startswith("check-")]
    assert len(checks) > 2
    for cell in checks:
        (output,) = cell.outputs
        assert output.output_type == "display_data"
        assert "Not attempted yet" in output.data["text/html"]


@by_chapter
def test_nbgrader_validates_a_solved_chapter(path: Path, tmp_path: Path) -> None:
    assert validate(tmp_path, run_solved(path), run=False) == {}


def test_nbgrader_runs_and_validates_a_whole_chapter(tmp_path: Path) -> None:
    first = builder.chapters()[0]
    with forked_kernels():
        assert validate(tmp_path, builder.source_notebook(first)) == {}
        failed = validate(tmp_path, builder.build(first))["failed"]
    assert [cell["source"] for cell in failed] == ["check(node_names)"]
