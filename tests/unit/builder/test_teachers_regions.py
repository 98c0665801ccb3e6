"""Regions that a teacher writes into a class's cells are released as nbgrader releases them."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell

from autograder.builder.metadata import solve_metadata
from autograder.builder.release import ClearRegions
from autograder.builder.solution_regions import STUB, without_markers

REGION = "### BEGIN SOLUTION\nx = 1\n### END SOLUTION"
INSIDE = "def f():\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"


def released(source: str, *, solution: bool = True) -> str:
    data = {"nbgrader": solve_metadata("f")} if solution else {}
    cell = new_code_cell(source, metadata=data)
    cell, _ = ClearRegions().preprocess_cell(cell, {"language": "python"}, 0)
    return str(cell.source)


def test_code_around_the_only_region_stays() -> None:
    assert released(f"import math\n{REGION}\nprint(x)") == f"import math\n{STUB}\nprint(x)"


def test_a_region_may_bring_its_own_stub() -> None:
    lines = "    ### STUB for one in x:\n    ### STUB     return one\n"
    inside = INSIDE.replace("    ### END", f"{lines}    ### END")
    assert released(inside) == "def f():\n    for one in x:\n        return one"
    assert released(f"{inside}\n\n\n{INSIDE}").endswith(f"def f():\n    {STUB}")
    assert without_markers(inside) == "def f():\n    return x"


def test_helpers_beside_an_answer_are_dropped() -> None:
    assert released(f"{REGION}\n\n{INSIDE}") == f"def f():\n    {STUB}"


@pytest.mark.parametrize(
    "source", ["### BEGIN SOLUTION\nx = 1", f"{INSIDE}\n### BEGIN SOLUTION\n1"]
)
def test_region_without_an_end_is_refused(source: str) -> None:
    with pytest.raises(RuntimeError, match="no end|BEGIN SOLUTION|[Ss]olution"):
        released(source)


def test_region_in_a_cell_that_is_no_answer_is_refused() -> None:
    with pytest.raises(RuntimeError, match="non-solution cell"):
        released(REGION, solution=False)


def test_other_languages_have_nbgraders_own_stubs() -> None:
    assert ClearRegions().code_stub["R"].startswith("# YOUR CODE HERE")
