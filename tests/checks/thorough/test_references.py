"""The stored reference outputs match the solutions."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from torch import nn
from typer.testing import CliRunner

from autograder.builder.outputs import references as made
from autograder.builder.outputs.references import write_all
from autograder.builder.paths import SOLUTIONS
from autograder.cli import main
from autograder.core.case_builder import CannotBeSent, builder_of
from autograder.core.exercise import Case, Trial
from autograder.core.exercise_folder import REFERENCES
from autograder.exercises import EXERCISES, FOLDER, of_chapter
from autograder.judge import references
from autograder.judge.references import MissingReference

STEMS = list(dict.fromkeys(exercise.chapter for exercise in EXERCISES.values()))


@pytest.mark.parametrize("chapter", STEMS)
def test_references_are_fresh(chapter: str) -> None:
    """Computed results are not stored; for these, the test compares oracle and solution."""
    assert write_all(check_only=True, only=(chapter,)) == [], "run `fxcourse references`"


def test_few_references_are_stored() -> None:
    paths = FOLDER.glob(f"*/*/{REFERENCES}")
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths) <= 410


@pytest.mark.parametrize("chapter", STEMS)
def test_the_exercises_of_a_chapter_are_numbered(chapter: str) -> None:
    numbers = [exercise.number for exercise in of_chapter(chapter)]
    assert numbers == list(range(1, len(numbers) + 1))


# ------------------------------------------------------------------ mistakes of an author


def said(*words: str) -> str:
    """Run a command that must fail; return its message, which must not be a traceback."""
    result = CliRunner().invoke(main.app, ["references", *words])
    assert result.exit_code in (1, 2) and isinstance(result.exception, SystemExit)
    return " ".join(result.output.replace("│", " ").split())


@pytest.fixture
def chapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Return a function that edits a copy of chapter 00."""
    path = tmp_path / "00_start.py"
    shutil.copy(SOLUTIONS / path.name, path)
    monkeypatch.setattr(made, "SOLUTIONS", tmp_path)

    def change(old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return change


def test_an_unknown_chapter_is_said() -> None:
    assert "There is no chapter '99_nothing'. Chapters: 00_start, " in said("99_nothing")


def test_a_missing_solve_cell_is_said(chapter: Callable[[str, str], None]) -> None:
    chapter('# %% solve="node_names"', "# %%")
    found = said("00_start", "--check")
    assert "00_start.py:1: No solve cell defines 'node_names'." in found
    assert 'in a cell with the header # %% solve="node_names"' in found
    assert "Nothing was written: 1 problem" in found


def test_a_solve_cell_that_raises_is_said_with_its_line(
    chapter: Callable[[str, str], None],
) -> None:
    chapter('# %% solve="node_names"\n', '# %% solve="node_names"\nx = 1\nx.nothing\n')
    text = (made.SOLUTIONS / "00_start.py").read_text(encoding="utf-8")
    line = text.split("\n").index("x.nothing") + 1
    found = said("00_start", "--check")
    assert f"00_start.py:{line}: This cell raises AttributeError: 'int' object has no" in found


def test_a_solution_that_does_not_return_is_said(chapter: Callable[[str, str], None]) -> None:
    text = (made.SOLUTIONS / "00_start.py").read_text(encoding="utf-8")
    first = text.index("### BEGIN SOLUTION")
    body = text[first : text.index("### END SOLUTION")]
    chapter(body, "raise KeyError('odd')\n    ")
    found = said("00_start", "--check")
    assert "The solution of 'node_names' does not return on the case '" in found
    assert "raised (`KeyError: 'odd'`). -> Correct the solution, or the case." in found


def test_a_broken_file_of_references_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / REFERENCES
    path.write_text('{"case": "one"}\n{"case": "tw', encoding="utf-8")
    monkeypatch.setattr(references, "path_of", lambda module, hidden: path)
    with pytest.raises(MissingReference, match="Line 2 of .* is not a reference. Restore the file"):
        references.stored("a module of this test")


def test_a_case_that_cannot_be_sent_is_named() -> None:
    case = Case("two adds", "task", lambda seed: Trial(args=()))
    with pytest.raises(CannotBeSent) as caught:
        builder_of(case)
    assert "the case 'two adds' cannot be sent" in str(caught.value)
    assert "a lambda" in str(caught.value) and "`functools.partial`" in str(caught.value)
    assert builder_of(Case("fine", "task", partial(nn.Linear, 2)))


def test_references_are_not_made_where_a_case_cannot_be_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exercise = EXERCISES["node_names"]
    case = Case("two adds", exercise.aspects[0].key, lambda seed: Trial(args=()))
    changed = dataclasses.replace(exercise, cases=(case,), random=None)
    monkeypatch.setattr(made, "of_chapter", lambda chapter: (changed,))
    found = said("00_start", "--check")
    assert "ch00_start/node_names/cases.py:1: What builds the case 'two adds' cannot be" in found
