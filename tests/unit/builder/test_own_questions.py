"""The cells that ask about a learner's own answer: only in the notebooks of the course."""

from __future__ import annotations

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder import builder
from autograder.builder.cell_ids import is_as_given
from autograder.builder.outputs.own_questions import NOT_ASKED, with_own_questions
from autograder.builder.paths import COURSE, SOLUTIONS
from autograder.exercises import EXERCISES

CHAPTER = "03_manipulation"


def test_a_cell_follows_each_debrief() -> None:
    notebook = with_own_questions(
        new_notebook(
            cells=[
                new_code_cell("from autograder import check, debrief", id="code-1"),
                new_markdown_cell('debrief("retarget")'),
                new_code_cell('debrief("retarget")', id="debrief-retarget"),
                new_code_cell('debrief("node_names")', id="debrief-node_names"),
            ]
        )
    )
    sources = [cell.source for cell in notebook.cells]
    assert sources[0] == "from autograder import ask_me, check, debrief"
    assert sources[3:] == ['ask_me("retarget", "?", "?")', 'debrief("node_names")']
    assert notebook.cells[3].id == "ask_me-retarget"
    assert is_as_given(notebook.cells[0]) and is_as_given(notebook.cells[3])


def test_a_notebook_without_debriefs_stays() -> None:
    cells = [new_code_cell("from autograder import check", id="code-1")]
    assert with_own_questions(new_notebook(cells=list(cells))).cells == cells


def test_the_notebooks_of_a_class_have_none() -> None:
    path = SOLUTIONS / f"{CHAPTER}.py"
    for notebook in (builder.source_notebook(path), builder.build(path)):
        assert "ask_me" not in builder.as_text(notebook)
    assert "ask_me" in (COURSE / f"{CHAPTER}.ipynb").read_text(encoding="utf-8")


def test_at_most_eight_exercises_are_not_asked_about() -> None:
    assert len(NOT_ASKED) <= 8 and NOT_ASKED.keys() <= EXERCISES.keys()
    assert all(NOT_ASKED.values())
