"""The properties of submissions, each on a thousand random inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hand_ins.test_one_student import assert_trees_are_their_owners
from tests.hand_ins.test_whose_it_is import assert_nobody_else_is_changed
from tests.support import stub_class


@pytest.mark.parametrize("block", range(10))
def test_names_change_nobody_elses_work(block: int, tmp_path: Path) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        (tmp_path / str(seed)).mkdir()
        assert_nobody_else_is_changed(seed, tmp_path / str(seed))


@pytest.mark.parametrize("block", range(10))
def test_trees_are_their_owners(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub_class.use_stubs(monkeypatch)
    assert_trees_are_their_owners(range(1000 + 100 * block, 1100 + 100 * block), tmp_path)
