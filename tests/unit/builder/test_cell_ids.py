"""Ids of a chapter's cells, which tell whether a cell is unchanged since release."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder.builder.cell_ids import digest_of, is_as_given
from autograder.builder.paths import COURSE

CHAPTERS = sorted(COURSE.glob("*.ipynb"))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_all_of_a_chapters_own_cells_are_as_given(path: object) -> None:
    nb = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    # The builder adds imports to the first code cell.
    own = [cell for cell in code[1:] if "nbgrader" not in cell.metadata]
    assert [cell.source for cell in own if not is_as_given(cell)] == []
    changed = [cell for cell in own if cell.id.startswith("code-")]
    assert changed
    for cell in changed:
        cell.source += "\nx = 1"
        assert not is_as_given(cell)


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ('predict("03.1", "a")  # a, b or c', True),
        ("hint(retarget)", True),
        ("progress()", True),
        ("progress(exec('x = 1'))", False),
        ("hint(retarget); x = 1", False),
        ("hint(retarget)\nx = 1", False),
        ("x = hint(retarget)", False),
        ("x = 1", False),
        ('x = ...\ndrill("03.2a", x)', True),
        ('x = 1\ndrill("03.2a", x)', False),
        ('x = ...\ndrill("03.2a", y)', False),
    ],
)
def test_calls_of_the_course_are_as_given_whatever_they_are_asked(source: str, given: bool) -> None:
    assert is_as_given(new_code_cell(source)) is given


def test_a_text_is_known_by_its_digest_whatever_surrounds_it() -> None:
    cell = new_code_cell("x = 1\n", id=f"code-{digest_of('x = 1')}-2")
    assert is_as_given(cell)
