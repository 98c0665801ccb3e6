"""Each comparison in a chapter detects a fault in the compared results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from autograder import builder
from autograder.builder.outputs.execute import execute
from tests.support.forked_kernels import forked_kernels

ROOT = Path(__file__).parents[3]

UNNOTICED: dict[str, dict[str, str]] = {}
"""Faults that a cell cannot detect, by chapter, with the reason."""

CHAPTERS = [
    path for path in builder.chapters() if "assert_same_results(" in path.read_text("utf-8")
]

FIRST = """
import sys
sys.path.insert(0, {root!r})
from tests.support import broken_modules
_recorder = broken_modules.install({chapter!r})
"""

LAST = "import json\nprint(json.dumps(_recorder.noticed))"


def faults_in(path: Path) -> dict[str, bool]:
    """Each fault that was tried in a solved chapter, and whether its cell detected it."""
    notebook = builder.source_notebook(path, solved=True, proofs=True)
    for cell in notebook.cells:
        if cell.id.startswith(("check-", "hint-", "debrief-")):
            cell.source = ""
    first = FIRST.format(root=str(ROOT), chapter=path.stem)
    notebook.cells = [new_code_cell(first), *notebook.cells, new_code_cell(LAST)]
    with forked_kernels():
        run = execute(notebook)
    return json.loads(run.cells[-1].outputs[0].text)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_each_comparison_notices_a_fault(path: Path) -> None:
    noticed = faults_in(path)
    assert noticed
    missed = {fault for fault, seen in noticed.items() if not seen}
    assert missed == set(UNNOTICED.get(path.stem, {}))


def test_the_exceptions_are_few() -> None:
    assert sum(map(len, UNNOTICED.values())) <= 10
    assert UNNOTICED.keys() <= {path.stem for path in CHAPTERS}
