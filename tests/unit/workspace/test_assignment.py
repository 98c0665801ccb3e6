"""A fetched assignment: commands work on the notebook at hand, and add nothing to its folder."""

from __future__ import annotations

import io
from pathlib import Path

import nbformat
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from autograder.cli import watch
from autograder.cli.main import app
from autograder.watch.session import Session
from autograder.workspace import assignment, given, location, overview, progress_file, update
from autograder.workspace.class_wheel import ClassWheel
from autograder.workspace.update import CannotUpdate
from tests.unit.workspace.test_carry import course
from tests.unit.workspace.test_update import ANSWER, answer_in, give_out, read, write

CHAPTER = "03_manipulation"


def released() -> dict[str, nbformat.NotebookNode]:
    """The chapter of the class, and one that was not fetched."""
    notebooks = course()
    return {CHAPTER: notebooks["01_first"], "04_rewriting": notebooks["02_second"]}


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An assignment with an answer, in the home folder of a student with a class's wheel."""
    wheel, home = tmp_path / "share", tmp_path / "home"
    folder = home / CHAPTER
    for each in (wheel, folder):
        each.mkdir(parents=True)
    give_out(wheel, released())
    give_out(folder, {CHAPTER: released()[CHAPTER]})
    write(folder, CHAPTER, "two", ANSWER)
    monkeypatch.delenv(location.ENV)
    monkeypatch.setattr(location, "usual", lambda: home / "fxcourse")
    monkeypatch.setattr(given, "IN_CLONE", tmp_path / "no clone")
    monkeypatch.setattr(given, "INSTALLED", wheel)
    monkeypatch.setattr(assignment, "_in_exchange", lambda folder, name: None)
    monkeypatch.chdir(folder)
    return folder


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("workspace_first", [True, False])
def test_progress_is_the_same_everywhere_and_in_each_order(
    fetched: Path, monkeypatch: pytest.MonkeyPatch, workspace_first: bool
) -> None:
    home = fetched.parent
    this_class = ClassWheel("fx101", (CHAPTER,))
    monkeypatch.setattr(overview, "this_class", lambda: this_class)
    chapter = next(each for each in overview.course_map().chapters if each.name == CHAPTER)

    def updates() -> None:
        monkeypatch.chdir(home)
        assert run("update").exit_code == 0
        (home / "fxcourse" / "04_rewriting.ipynb").unlink()  # this class has one chapter
        monkeypatch.chdir(fetched)

    if workspace_first:
        updates()
    for exercise in chapter.exercises:
        progress_file.record_verdict(exercise, "passed")
    for _ in range(2):
        for place in (fetched, home):
            monkeypatch.chdir(place)
            assert "You have passed 5 of 5 exercises." in run("progress").output
        assert "You have passed 5 of 5 exercises." in run("progress", str(fetched)).output
        updates()
    assert names_in(fetched) == [f"{CHAPTER}.ipynb"]


@pytest.mark.parametrize("by_lab", [True, False])
def test_reset_works_on_the_notebook_at_hand(
    fetched: Path, monkeypatch: pytest.MonkeyPatch, by_lab: bool
) -> None:
    mine = fetched.parent / "fxcourse"
    update.open_workspace(mine)
    write(mine, CHAPTER, "two", ANSWER)
    if by_lab:  # a terminal in JupyterLab
        monkeypatch.setenv(location.ENV, str(mine))
    before = (fetched / f"{CHAPTER}.ipynb").read_bytes()
    done = run("reset", "03", "two")
    assert "The answer cell of two is empty again." in done.output
    assert "raise NotImplementedError" in answer_in(fetched, CHAPTER)
    assert answer_in(mine, CHAPTER) == ANSWER
    (kept,) = (location.state_folder() / location.KEPT).glob("*/*.ipynb")
    assert kept.read_bytes() == before and str(kept) in done.output
    assert names_in(fetched) == [f"{CHAPTER}.ipynb"]
    assert "already empty" in run("reset", "3", "two").output
    monkeypatch.chdir(fetched.parent)
    write(fetched, CHAPTER, "two", ANSWER)
    assert run("reset", "03", "two", "--workspace", CHAPTER).exit_code == 0
    assert "raise NotImplementedError" in answer_in(fetched, CHAPTER)


def test_without_a_place_for_the_copy_nothing_is_reset(
    fetched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fetched.parent / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(fetched.parent / "file"))
    done = run("reset", "03", "two")
    assert done.exit_code == 1 and "The notebook was not changed." in done.output
    assert answer_in(fetched, CHAPTER) == ANSWER


def test_the_exchange_decides_what_was_released(
    fetched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = released()
    new[CHAPTER].cells[0].source = "# A correction"
    next(c for c in new[CHAPTER].cells if c.id == "two").source = "def two(x): ..."
    outbound = tmp_path / "exchange" / CHAPTER
    outbound.mkdir(parents=True)
    give_out(outbound, {CHAPTER: new[CHAPTER]})
    path = outbound / f"{CHAPTER}.ipynb"
    monkeypatch.setattr(assignment, "_in_exchange", lambda folder, name: path)
    done = run("update")
    assert done.exit_code == 0 and "updated" in done.output, done.output
    assert read(fetched, CHAPTER).cells[0].source == "# A correction"
    assert answer_in(fetched, CHAPTER) == ANSWER
    assert names_in(fetched) == [f"{CHAPTER}.ipynb"] and not (fetched.parent / "fxcourse").exists()
    written = (fetched / f"{CHAPTER}.ipynb").stat().st_mtime_ns
    assert "as before" in run("update").output
    assert (fetched / f"{CHAPTER}.ipynb").stat().st_mtime_ns == written
    assert update.reset(fetched, "03", "two") is not None
    assert answer_in(fetched, CHAPTER) == "def two(x): ..."
    path.write_text("damaged", encoding="utf-8")
    assert "NotImplementedError" in str(update.as_released(fetched, CHAPTER))


def test_the_exchange_is_found_by_the_settings_of_nbgrader(
    fetched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    exchange, settings = tmp_path / "exchange", tmp_path / "settings"
    settings.mkdir()
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(settings))
    for course_id in ("fx101", "fx102"):
        folder = exchange / course_id / "outbound" / CHAPTER
        folder.mkdir(parents=True)
        (folder / f"{CHAPTER}.ipynb").touch()
    text = f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\n"
    config = settings / "nbgrader_config.py"
    config.write_text(text)
    assert assignment._in_exchange(fetched, CHAPTER) is None  # which course is not known
    config.write_text(f"{text}c.CourseDirectory.course_id = 'fx102'\n")
    expected = exchange / "fx102" / "outbound" / CHAPTER / f"{CHAPTER}.ipynb"
    assert assignment._in_exchange(fetched, CHAPTER) == expected
    assert assignment._in_exchange(fetched, "04_rewriting") is None
    config.write_text("raise ValueError")
    assert assignment._in_exchange(fetched, CHAPTER) is None


def test_an_update_loses_no_work_if_the_earlier_release_is_not_known(
    fetched: Path, tmp_path: Path
) -> None:
    new = released()
    new[CHAPTER].cells[0].source = "# Title\n\nNew words."
    new[CHAPTER].cells.insert(1, nbformat.v4.new_markdown_cell("More.", id="more"))
    give_out(tmp_path / "share", new)
    notebook = read(fetched, CHAPTER)
    notebook.cells.insert(2, nbformat.v4.new_markdown_cell("My note."))
    nbformat.write(notebook, fetched / f"{CHAPTER}.ipynb")
    assert run("update").exit_code == 0
    texts = [cell.source for cell in read(fetched, CHAPTER).cells]
    assert {ANSWER, "My note.", "More.", notebook.cells[0].source} <= {*texts}
    assert len(texts) == len(notebook.cells) + 1


def test_watch_has_its_files_in_the_default_workspace(
    fetched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = read(fetched, CHAPTER)
    head = nbformat.v4.new_code_cell("import torch", id="head")
    notebook.cells.insert(0, head)
    nbformat.write(notebook, fetched / f"{CHAPTER}.ipynb")
    give_out(fetched.parents[1] / "share", {CHAPTER: notebook})
    begun: list[Session] = []
    monkeypatch.setattr(Session, "run", lambda session: begun.append(session))
    monkeypatch.setattr(watch.signal, "signal", lambda *_: None)
    monkeypatch.setattr(watch, "Checker", lambda modules: io.StringIO())
    monkeypatch.setattr(watch, "out", Console(file=io.StringIO()))
    watch.watch_chapter("03", fetched)
    paths = [one.path for one in begun[0].exercises]
    assert paths[0] == fetched.parent / "fxcourse" / "exercises" / CHAPTER / "one.py"
    assert all(path.is_file() for path in paths)
    assert names_in(fetched) == [f"{CHAPTER}.ipynb"]
    assert not location.is_workspace(fetched.parent / "fxcourse")
    assert [one.name for one in begun[0].catalogue.every()] == [path.stem for path in paths]


def test_a_folder_without_chapters_is_named(
    fetched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CannotUpdate, match=f"There is no chapter in {fetched.parent}."):
        update.reset(fetched.parent, "03", "two")
    done = run("progress", str(tmp_path))
    assert done.exit_code == 1 and f"There is no chapter in {tmp_path}." in done.output


def test_copies_in_a_workspace_are_no_assignment(fetched: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    update.open_workspace(mine)
    folders = [mine / location.KEPT / "today", mine / "homework", mine / location.STATE / "given"]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        give_out(folder, {CHAPTER: released()[CHAPTER]})
    assert [location.is_assignment(folder) for folder in folders] == [False, True, False]
    assert location.is_assignment(fetched) and not location.is_assignment(mine)
    assert not location.is_assignment(location.CLONE / "course")
