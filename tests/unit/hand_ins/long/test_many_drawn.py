"""The properties of hand-ins, on a thousand drawn inputs each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.hand_ins.test_whose_it_is import assert_nobody_else_is_changed


@pytest.mark.parametrize("block", range(10))
def test_names_change_nobody_elses_work(block: int, tmp_path: Path) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        (tmp_path / str(seed)).mkdir()
        assert_nobody_else_is_changed(seed, tmp_path / str(seed))
