"""The course still has each part that the benchmark can leave out."""

from __future__ import annotations

import pytest

from autograder.builder.paths import ROOT
from benchmarks.parts import PARTS, Part


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_what_the_benchmark_removes_is_there(part: Part) -> None:
    assert part.edits
    for name, old, new in part.edits:
        assert old in (ROOT / "autograder" / name).read_text(encoding="utf-8") and new != old
