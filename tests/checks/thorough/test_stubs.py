"""Every exercise in its first states: an untouched stub, and answers of a wrong kind."""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

import jupytext
import nbformat
import pytest
from nbformat.notebooknode import NotebookNode

from autograder import grade
from autograder.builder.outputs.references import SOLUTIONS
from autograder.builder.paths import COURSE
from autograder.exercises import EXERCISES


def kind(value: Any) -> str:
    """The name of a parameter's type, for ids that are the same in every process."""
    return type(value).__name__


@cache
def code_of(chapter: str) -> dict[str, str]:
    """The code cells of a released notebook by grade id; the first cell as "first"."""
    released = nbformat.read(COURSE / f"{chapter}.ipynb", as_version=4)
    cells = [cell for cell in released.cells if cell.cell_type == "code"]
    named = {c.metadata.get("nbgrader", {}).get("grade_id", ""): c.source for c in cells}
    return named | {"first": cells[0].source}


@cache
def source_of(chapter: str) -> NotebookNode:
    """A chapter's source, as a notebook."""
    return jupytext.read(SOLUTIONS / f"{chapter}.py", fmt="py:percent")


def stub_of(name: str) -> Any:
    """The stub of an exercise in the released notebook."""
    code = code_of(EXERCISES[name].chapter)
    names: dict[str, Any] = {"__name__": "learner"}
    exec(compile(code["first"], "<first cell>", "exec"), names)
    exec(compile(code[name], f"<stub of {name}>", "exec"), names)
    return names[name]


WRONG_TRY = "node_names"
"""The exercise whose stub is a wrong answer, because its chapter shows a failing card first."""


@pytest.mark.parametrize("name", EXERCISES)
def test_untouched_stub_is_not_attempted(name: str) -> None:
    verdict = grade(name, stub_of(name))
    assert verdict.status == ("failed" if name == WRONG_TRY else "not attempted")
    assert verdict.score == 0.0


@pytest.mark.parametrize("name", EXERCISES)
@pytest.mark.parametrize("value", [None, 3, []], ids=kind)
def test_wrong_kinds_of_return_are_told(name: str, value: Any) -> None:
    verdict = grade(name, lambda *args, **kwargs: value)
    assert not verdict.passed
    assert verdict.findings[0].message


@pytest.mark.parametrize("name", EXERCISES)
@pytest.mark.parametrize("answer", [None, "text"], ids=kind)
def test_what_is_no_function_is_told(name: str, answer: Any) -> None:
    assert grade(name, answer).score == 0.0


@pytest.mark.parametrize("name", EXERCISES)
def test_solution_starts_with_a_docstring(name: str) -> None:
    (source,) = (
        cell.source
        for cell in source_of(EXERCISES[name].chapter).cells
        if cell.metadata.get("solve") == name
    )
    (definition,) = (n for n in ast.parse(source).body if getattr(n, "name", "") == name)
    assert ast.get_docstring(definition), f"{name} has no docstring to tell what is asked"
