"""Every chapter runs in its released form, without solutions and proofs."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import builder
from autograder.builder.outputs.execute import execute
from tests.support.forked_kernels import forked_kernels
from tests.unit.builder.test_build_execute import validate


@pytest.mark.parametrize("path", builder.chapters(), ids=lambda path: path.stem)
def test_only_the_checks_fail(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So "Run all" runs every cell, and nbgrader lists the open exercises."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with forked_kernels():
        run = execute(builder.build(path), unsolved=True)
    checks = [cell for cell in run.cells if cell.id.startswith("check-")]
    for cell in checks:
        assert [output for output in cell.outputs if output.output_type == "error"], cell.id
    failed = validate(tmp_path, run, run=False)["failed"]
    assert [cell["source"] for cell in failed] == [cell.source for cell in checks]
