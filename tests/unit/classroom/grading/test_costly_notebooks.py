"""No submission takes more than its share of the judge's time."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.submission.repair import repair
from autograder.submission.tampering import is_long, tree_of, within_budget
from tests.support.pace import at_most

MAGICS = "x = !ls\n" * 390
"""Lines for which IPython's parser takes time that grows as the square of their number."""


def test_plain_python_is_not_given_to_ipython(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("autograder.submission.tampering.TransformerManager.transform_cell")
    assert tree_of("x = 1\n" * 390) and tree_of("def f(:") is None


def test_magic_commands_are_python() -> None:
    for source in ("%time x = 1", "!ls", "x = !ls", "x?", "  indented = 1"):
        assert tree_of(source), source


def test_beyond_the_budget_cells_count_as_long() -> None:
    sources = [f"# {number}\n{MAGICS}" for number in range(12)]
    with within_budget(sources):
        assert [is_long(source) for source in sources] == [False] + [True] * 11
        assert not is_long("x = 1")
    assert not is_long(sources[-1])


def test_quadratic_cells_and_many_empty_ones_are_repaired_within_their_share() -> None:
    cells = [new_code_cell(f"# {number}\n{MAGICS}") for number in range(12)]
    cells += [new_code_cell("") for _ in range(2_000)]
    with at_most(units=4_000):
        repair(new_notebook(cells=cells), {})
