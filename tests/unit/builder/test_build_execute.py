"""Solved chapters run from first to last cell; nbgrader tells solved and released ones apart."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import CheckCellMetadata
from nbgrader.validator import Validator

from autograder import builder
from autograder.builder.outputs import solved_chapter
from autograder.builder.outputs.execute import ExecutionFailed, execute, solved
from tests.support import build_fixture
from tests.support.build_fixture import CARDS, CHAPTER, line_of
from tests.support.forked_kernels import forked_kernels


def source(folder: Path, text: str = CHAPTER) -> NotebookNode:
    """The fixture chapter in source form."""
    return builder.source_notebook(build_fixture.write(folder, text), CARDS)


def validate(folder: Path, notebook: NotebookNode, *, run: bool = True) -> dict:
    """Validate a notebook as ``nbgrader validate`` and JupyterLab's Validate button do.

    With `run=False`, the notebook is not run again: it has outputs already.
    """
    path = folder / "notebook.ipynb"
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    validator = Validator()
    if not run:
        validator.preprocessors = [CheckCellMetadata]
    validator.config.Execute.timeout = 60
    return validator.validate(str(path))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    """The fixture chapter, executed."""
    return execute(source(tmp_path_factory.mktemp("chapter")))


def test_a_solved_chapter_runs(run: NotebookNode) -> None:
    counts = [cell.execution_count for cell in run.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))


def test_a_cell_meant_to_raise_raises(run: NotebookNode) -> None:
    (output,) = run.cells[2].outputs
    assert output.ename == "ZeroDivisionError"


def test_executing_changes_only_outputs(run: NotebookNode, tmp_path: Path) -> None:
    for cell, before in zip(run.cells, source(tmp_path).cells, strict=True):
        assert (cell.id, cell.source, cell.metadata) == (before.id, before.source, before.metadata)


def test_readers_see_no_markers(run: NotebookNode) -> None:
    text = "\n".join(cell.source for cell in solved(run).cells)
    assert "secret = _size(number)" in text
    assert "SOLUTION" not in text and "HIDDEN" not in text


@pytest.mark.parametrize(
    ("old", "new", "at", "says"),
    [
        ("print(picture)", "print(picture.width)", 'picture = "1', "AttributeError"),
        ("return secret + 1", "return secret", 'check="after"', "AssertionError"),
        ("return abs(number)", "return number", 'check="after"', "AssertionError"),
        ("1 / 0", "1 / 1", "1 / 1", "meant to raise ZeroDivisionError, but it raised nothing"),
        ("1 / 0", "int('x')", "int('x')", "but it raised ValueError"),
        ("print(picture)", "import os\nos._exit(3)", 'picture = "1', "kernel died"),
    ],
    ids=["raises", "fails visibly", "fails hidden", "does not raise", "raises another", "dies"],
)
def test_a_chapter_that_does_not_run_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, at: str, says: str
) -> None:
    text = CHAPTER.replace(old, new)
    chapter = build_fixture.write(tmp_path, text)
    with pytest.raises(solved_chapter.SolvingFailed) as caught:
        solved_chapter.write_solved(chapter, tmp_path / "solved", CARDS)
    header = line_of(text, at) - ("check=" not in at)
    assert str(caught.value).startswith(f"{chapter}:{header}: ")
    assert says in str(caught.value)
    assert not (tmp_path / "solved").exists()


def test_another_kernel_is_started_where_one_never_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """jupyter_client raises this error if another process takes a kernel's ports first."""
    usual, begun = NotebookClient.execute, []

    def begin(client: NotebookClient) -> NotebookNode:
        begun.append(client)
        if len(begun) == 1:
            raise RuntimeError("Kernel died before replying to kernel_info")
        return usual(client)

    monkeypatch.setattr(NotebookClient, "execute", begin)
    with forked_kernels():
        done = execute(source(tmp_path))
    assert len(begun) == 2 and any(cell.get("outputs") for cell in done.cells)


def test_a_cell_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    text = CHAPTER.replace("print(picture)", "import time\ntime.sleep(60)")
    with pytest.raises(ExecutionFailed, match="did not end within 1 seconds"):
        execute(source(tmp_path, text), timeout=1)


def test_solved_notebooks_are_written(tmp_path: Path) -> None:
    path = solved_chapter.write_solved(build_fixture.write(tmp_path), tmp_path / "solved", CARDS)
    assert path == tmp_path / "solved" / "07_numbers.ipynb"
    assert "1 -> 2\\n" in path.read_text(encoding="utf-8")


def test_in_the_released_form_only_the_checks_fail(tmp_path: Path) -> None:
    released = builder.build(build_fixture.write(tmp_path), CARDS)
    run = execute(released, unsolved=True)
    failed = [c for c in run.cells for o in c.get("outputs", ()) if o.output_type == "error"]
    assert failed[0].source == "1 / 0"
    assert [c.id for c in failed[1:]] == ["check-after", "check-again"]
    with pytest.raises(ExecutionFailed, match="NotImplementedError"):
        execute(released)


def test_a_cell_that_needs_the_solution_is_found(tmp_path: Path) -> None:
    text = CHAPTER.replace(
        '# %% [markdown] card="again"', '# %%\nafter(3)\n\n# %% [markdown] card="again"'
    )
    released = builder.build(build_fixture.write(tmp_path, text), CARDS)
    with pytest.raises(ExecutionFailed, match="NotImplementedError"):
        execute(released, unsolved=True)


def test_validate_accepts_the_solved_form(tmp_path: Path) -> None:
    assert validate(tmp_path, source(tmp_path)) == {}


def test_validate_rejects_the_released_form(tmp_path: Path) -> None:
    released = builder.build(build_fixture.write(tmp_path), CARDS)
    failed = validate(tmp_path, released)["failed"]
    assert [cell["source"] for cell in failed] == ["check(after)", "check(again)"]
    assert all("NotImplementedError" in cell["raw_error"] for cell in failed)


# The project's own chapters: each runs once in each form
