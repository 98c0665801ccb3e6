"""Exercises as Python files: their contents, and that no answer is ever overwritten."""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.builder.paths import COURSE
from autograder.watch import files
from autograder.watch.catalogue import Catalogue
from autograder.watch.files import ExerciseFile, as_comments, exercises_of, give_out
from autograder.workspace import given, update
from autograder.workspace.cells import Notebooks
from autograder.workspace.location import STATE
from autograder.workspace.update import GIVEN, CannotUpdate

ANSWER = "def two(x):\n    return x\n"


def course(
    task: str = "Return two.", chapter: str = "01_first"
) -> dict[str, nbformat.NotebookNode]:
    """A course with one exercise."""
    stub = new_code_cell("def two(x):\n    raise NotImplementedError", id="two")
    stub.metadata["nbgrader"] = {"grade_id": "two", "solution": True, "grade": False}
    head = "import torch\nfrom autograder import check, draw, hint\n\nprint(torch.__version__)"
    cells = [
        new_markdown_cell("# 1 · First", id="title"),
        new_code_cell(head, id="head"),
        new_markdown_cell(f"### Exercise 1.1 `two` · Two · ★\n\n{task}", id="card-two"),
        stub,
    ]
    return {chapter: new_notebook(cells=cells)}


def write(folder: Path, notebooks: Notebooks) -> None:
    for path in folder.glob("*.ipynb"):
        path.unlink()
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / f"{name}.ipynb")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The course, as if installed from a wheel."""
    folder = tmp_path / "share"
    folder.mkdir()
    monkeypatch.setattr(given, "IN_CLONE", tmp_path / "no clone")
    monkeypatch.setattr(given, "INSTALLED", folder)
    write(folder, course())
    return folder


def opened(folder: Path, chapter: str = "01_first") -> tuple[ExerciseFile, list[str]]:
    update.open_workspace(folder)
    (one,) = exercises_of(folder, chapter, update.as_released(folder, chapter))
    return one, give_out(folder, [one])


def test_a_file_has_the_task_what_is_given_and_the_stub(source: Path, tmp_path: Path) -> None:
    one, news = opened(tmp_path / "my")
    assert news == [] and one.is_untouched
    assert one.path.read_text() == (
        "# Exercise 1.1 `two` · Two · ★\n#\n# Return two.\n\nimport torch\n"
        "from autograder import draw\n\n\ndef two(x):\n    raise NotImplementedError\n"
    )


def test_a_task_becomes_comments() -> None:
    long = "word " * 30
    card = (
        f"### Title\n\n{long}\ngoes on.\n\n* {long}\n\n```python\nx = 1\n\ny = 2\n```\n\n| a | b |"
    )
    lines = as_comments(card).splitlines()
    assert lines[0] == "# Title" and all(line.startswith("#") for line in lines)
    assert all(len(line) <= files.WIDTH + 2 for line in lines)
    assert "word goes on." in lines[3] and lines[6].startswith("#   word")
    assert lines[-7:] == ["# ```python", "# x = 1", "#", "# y = 2", "# ```", "#", "# | a | b |"]


def test_the_fold_of_a_card_becomes_a_heading() -> None:
    card = "### T\n\nDo.\n\n<details>\n<summary>Fine print</summary>\n\n* Zero.\n\n</details>"
    lines = as_comments(card).splitlines()
    assert lines == ["# T", "#", "# Do.", "#", "# Fine print", "#", "# * Zero."]


def test_an_answer_stays_whatever_the_course_does(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my"
    one, _ = opened(folder)
    one.path.write_text(ANSWER)
    assert opened(folder)[1] == [] and one.path.read_text() == ANSWER
    write(source, course("Return two, always."))
    update.update(folder)
    assert one.path.read_text() == ANSWER
    one, news = opened(folder)
    assert one.path.read_text() == ANSWER
    assert "two.new.txt" in news[0] and "always" in one.path.with_name("two.new.txt").read_text()
    assert opened(folder)[1] == []  # reported only once


def test_a_file_that_nobody_touched_gets_the_new_task(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my"
    opened(folder)
    write(source, course("Return two, always."))
    update.update(folder)
    one, news = opened(folder)
    assert news == [] and "always" in one.path.read_text()


def test_an_answer_follows_its_exercise_into_another_chapter(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my"
    one, _ = opened(folder)
    one.path.write_text(ANSWER)
    write(source, course(chapter="01b_more"))
    update.update(folder)
    moved, _ = opened(folder, "01b_more")
    assert moved.path != one.path and moved.path.read_text() == ANSWER
    assert not one.path.exists()


def test_a_deleted_file_comes_back_empty(source: Path, tmp_path: Path) -> None:
    one, _ = opened(tmp_path / "my")
    one.path.write_text(ANSWER)
    one.path.unlink()
    assert opened(tmp_path / "my")[0].is_untouched


def test_line_ends_of_windows_are_no_change(source: Path, tmp_path: Path) -> None:
    one, _ = opened(tmp_path / "my")
    one.path.write_bytes(one.given.replace("\n", "\r\n").encode())
    assert one.is_untouched


def test_an_answer_from_before_there_was_a_note_of_it_stays(source: Path, tmp_path: Path) -> None:
    one, _ = opened(tmp_path / "my")
    one.path.write_text(ANSWER)
    (tmp_path / "my" / STATE / GIVEN / files.FOLDER / "two.py").unlink()
    assert opened(tmp_path / "my")[0].path.read_text() == ANSWER


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# def two\n\ndef two(x):\n    return x\n", 3),
        ("async  def two(x):\n    return x\n", 1),
        ("def twofold():\n    def two(): ...\nclass two:\n    x = (\n", 3),
        ("def two(): ...\r\n\r\ntwo = 3\r\n", 3),
        ("x = 1\ny = 2\n", 1),
    ],
)
def test_the_line_of_an_answer(text: str, line: int, source: Path, tmp_path: Path) -> None:
    one, _ = opened(tmp_path / "my")
    assert one.line == 9
    one.path.write_bytes(text.encode())
    assert one.line == line


def test_the_states_of_all_exercises(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my"
    title = new_notebook(cells=[new_markdown_cell("# 2 · Second", id="title")])
    (magic,) = course("Another.", "03_magic").values()
    magic.cells[1].source = "%matplotlib inline"
    write(source, course() | {"02_without_exercises": title, "03_magic": magic})
    update.open_workspace(folder)
    catalogue = Catalogue(folder, folder)
    (one,) = catalogue.every()
    assert one.chapter == "01_first" and not one.path.exists()
    with pytest.raises(CannotUpdate, match="first code cell of 03_magic is not Python"):
        catalogue.chapter("03_magic")
    assert catalogue.states({}) == {"two": "not begun"} and catalogue.begun() == []
    assert catalogue.open([one]) == [] and catalogue.states({}) == {"two": "not begun"}
    assert catalogue.states({"two": "passed, solution seen"}) == {"two": "passed"}
    assert catalogue.states({"two": "crashed"}) == {"two": "not passed"}
    write(source, course("Return two, always."))
    update.update(folder)
    assert Catalogue(folder, folder).begun() == [], "a new task is no work of the learner"
    one.path.write_text(ANSWER)
    assert catalogue.begun() == [one] and catalogue.states({}) == {"two": "not passed"}


def test_a_chapter_without_exercises_is_refused(source: Path, tmp_path: Path) -> None:
    notebooks = course()
    notebooks["01_first"].cells.pop()
    write(source, notebooks)
    with pytest.raises(CannotUpdate, match="no exercises"):
        opened(tmp_path / "my")


@pytest.mark.parametrize("path", sorted(COURSE.glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_chapter_has_files_that_compile(path: Path, tmp_path: Path) -> None:
    found = exercises_of(tmp_path, path.stem, nbformat.read(path, as_version=4))
    for one in found:
        names = {getattr(node, "name", "") for node in ast.parse(one.given).body}
        assert one.name in names and one.heading.startswith("Exercise ")
        assert "print(torch" not in one.given and "import check" not in one.given
