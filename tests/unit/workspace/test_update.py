"""A workspace on disk: creating, updating and restoring parts of it loses nothing."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from pathlib import Path
from uuid import uuid4

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_output
from typer.testing import CliRunner

from autograder.builder.metadata import NOTEBOOK
from autograder.cli.main import app
from autograder.workspace import given, index, lab, location, progress_file, update
from autograder.workspace.cells import Notebooks, grade_id
from autograder.workspace.overview import course_here, overview_so_far
from autograder.workspace.update import CannotUpdate
from tests.unit.workspace.test_carry import cell, course, text

ANSWER = "def two(x):\n    return x"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small course, as if installed from a wheel."""
    folder = tmp_path / "share"
    folder.mkdir()
    monkeypatch.setattr(given, "IN_CLONE", tmp_path / "no clone")
    monkeypatch.setattr(given, "INSTALLED", folder)
    give_out(folder, course())
    return folder


def give_out(folder: Path, notebooks: Notebooks) -> None:
    """Write a version of the course."""
    for path in folder.glob("*.ipynb"):
        path.unlink()
    for name, notebook in notebooks.items():
        notebook.metadata.update(NOTEBOOK)
        nbformat.write(notebook, folder / f"{name}.ipynb")


@pytest.fixture
def mine(source: Path, tmp_path: Path) -> Path:
    """A workspace with an answer."""
    folder = tmp_path / "my"
    update.open_workspace(folder)
    write(folder, "01_first", "two", ANSWER)
    return folder


def read(folder: Path, name: str) -> nbformat.NotebookNode:
    return nbformat.read(folder / f"{name}.ipynb", as_version=4)


def write(folder: Path, name: str, exercise: str, answer: str) -> None:
    notebook = read(folder, name)
    next(c for c in notebook.cells if grade_id(c) == exercise).source = answer
    nbformat.write(notebook, folder / f"{name}.ipynb")


def answer_in(folder: Path, name: str = "01_first", exercise: str = "two") -> str:
    return str(next(c for c in read(folder, name).cells if grade_id(c) == exercise).source)


def test_a_workspace_holds_the_chapters_with_links(mine: Path) -> None:
    names = {path.name for path in mine.iterdir()}
    assert names == {"01_first.ipynb", "02_second.ipynb", location.STATE}
    last = read(mine, "01_first").cells[-1]
    assert last.source == "[All chapters](index.ipynb) — Next: [2](02_second.ipynb)"
    assert location.is_workspace(mine)


def test_opening_again_touches_nothing_and_brings_what_is_missing(mine: Path) -> None:
    (mine / "02_second.ipynb").unlink()
    rows = update.open_workspace(mine)
    assert [(row.name, row.state) for row in rows] == [("02_second", "new")]
    assert answer_in(mine) == ANSWER


def test_an_update_brings_what_is_new_and_keeps_what_was_there(mine: Path, source: Path) -> None:
    before = (mine / "01_first.ipynb").read_bytes()
    new = course()
    new["01_first"].cells[0].source = "# One"
    new["03_third"] = nbformat.v4.new_notebook(cells=[text("# 3", "third")])
    give_out(source, new)
    assert update.is_behind(mine)
    rows = {row.name: row for row in update.update(mine)}
    assert {name: row.state for name, row in rows.items()} == {
        "01_first": "updated", "02_second": "updated", "03_third": "new",
    }  # fmt: skip
    assert (rows["01_first"].answers, rows["01_first"].came, rows["01_first"].went) == (1, 1, 1)
    assert answer_in(mine) == ANSWER
    kept = rows["01_first"].kept
    assert kept is not None and kept.read_bytes() == before
    assert not update.is_behind(mine)
    assert {row.state for row in update.update(mine)} == {"as before"}


@pytest.mark.parametrize("trusted", [True, False])
def test_an_update_keeps_the_trust_that_pictures_need(
    mine: Path, source: Path, trusted: bool
) -> None:
    notebook, notary = read(mine, "01_first"), NotebookNotary()
    answer = next(c for c in notebook.cells if grade_id(c) == "two")
    answer.outputs = [new_output("display_data", {"text/html": f"<svg>{uuid4()}</svg>"})]
    nbformat.write(notebook, mine / "01_first.ipynb")
    if trusted:
        notary.sign(read(mine, "01_first"))
    new = course()
    new["01_first"].cells[0].source = "# One"
    give_out(source, new)
    update.update(mine)
    after = read(mine, "01_first")
    assert after.cells[0].source == "# One" and "<svg>" in str(after)
    assert notary.check_signature(after) == trusted


def test_what_cannot_be_read_is_left_as_it_is(mine: Path, source: Path) -> None:
    (mine / "01_first.ipynb").write_text("<<<<<<< mine", encoding="utf-8")
    new = course()
    new["01_first"].cells[0].source = "# One"
    give_out(source, new)
    states = {row.name: row.state for row in update.update(mine)}
    assert states["01_first"] == "unreadable"
    assert (mine / "01_first.ipynb").read_text(encoding="utf-8") == "<<<<<<< mine"


def test_a_chapter_that_was_split_takes_the_answers_along(mine: Path, source: Path) -> None:
    new = course()
    new["01b_more"] = nbformat.v4.new_notebook(cells=new["01_first"].cells[5:])
    new["01_first"].cells = new["01_first"].cells[:5]
    give_out(source, new)
    update.update(mine)
    assert answer_in(mine, "01b_more") == ANSWER


def test_a_chapter_that_was_renamed_leaves_nothing_behind(mine: Path, source: Path) -> None:
    new = course()
    new["04_first"] = new.pop("01_first")
    give_out(source, new)
    rows = {row.name: row for row in update.update(mine)}
    assert rows["01_first"].state == "gone" and rows["01_first"].kept is not None
    assert not (mine / "01_first.ipynb").exists()
    assert answer_in(mine, "04_first") == ANSWER


def test_notebooks_of_the_learners_own_are_no_business_of_ours(mine: Path) -> None:
    (mine / "scratch.ipynb").write_text("{}", encoding="utf-8")
    update.update(mine)
    assert (mine / "scratch.ipynb").read_text(encoding="utf-8") == "{}"


def test_work_of_an_earlier_version_is_brought_in(source: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    notebooks = course()
    cell(notebooks, "two").source = ANSWER
    for notebook in notebooks.values():
        for place, one in enumerate(notebook.cells):
            one.id = grade_id(one) or f"cell-{place:03}"
    give_out(old, notebooks)
    (old / progress_file.OLD_NAME).write_text('{"two": "passed"}', encoding="utf-8")
    folder = tmp_path / "new"
    update.update(folder, old)
    assert answer_in(folder) == ANSWER
    record = folder / location.STATE / progress_file.NAME
    assert json.loads(record.read_text(encoding="utf-8")) == {"two": "passed"}
    assert answer_in(old) == ANSWER
    write(old, "01_first", "one", "def one(x):\n    return 1")
    with pytest.raises(CannotUpdate, match="Take a new folder"):
        update.update(folder, old)
    assert answer_in(folder) == ANSWER


def test_a_folder_without_notebooks_brings_nothing(mine: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotUpdate, match="There are no notebooks in"):
        update.update(mine, tmp_path / "nowhere")


def test_reset_brings_back_the_stub_and_keeps_the_answer(mine: Path) -> None:
    kept = update.reset(mine, "1", "two")
    assert "raise NotImplementedError" in answer_in(mine)
    assert kept is not None and ANSWER.splitlines()[0] in kept.read_text(encoding="utf-8")
    assert update.reset(mine, "01", "two") is None


def test_reset_brings_back_a_cell_that_was_deleted(mine: Path) -> None:
    notebook = read(mine, "01_first")
    names = [grade_id(c) or c.id for c in notebook.cells]
    notebook.cells = [c for c in notebook.cells if grade_id(c) != "two"]
    nbformat.write(notebook, mine / "01_first.ipynb")
    update.reset(mine, "01_first", "two")
    assert [grade_id(c) or c.id for c in read(mine, "01_first").cells] == names


@pytest.mark.parametrize(
    ("chapter", "exercise", "says"),
    [
        ("07", "two", "'07' is in no notebook"),
        ("0", "two", "'0' is in no notebook"),
        ("01", "three", "There is no exercise three in 01_first. It has one, two."),
    ],
)
def test_what_there_is_not_is_told(mine: Path, chapter: str, exercise: str, says: str) -> None:
    with pytest.raises(CannotUpdate, match=says):
        update.reset(mine, chapter, exercise)


def test_a_folder_that_cannot_be_made_is_told(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(CannotUpdate, match="Name a folder of your own"):
        update.open_workspace(tmp_path / "file" / "my")


def test_the_record_is_that_of_the_workspace(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(location.ENV)
    deep = mine / "scripts" / "mine"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    progress_file.record_verdict("two", "passed")
    record = mine / location.STATE / progress_file.NAME
    assert json.loads(record.read_text(encoding="utf-8")) == {"two": "passed"}
    monkeypatch.chdir(mine.parent)
    monkeypatch.setenv(location.ENV, str(mine))
    assert progress_file.verdicts() == {"two": "passed"}


def test_the_index_leads_on_and_keeps_own_cells(mine: Path) -> None:
    path = index.refresh(mine)
    notebook = nbformat.read(path, as_version=4)
    assert notebook.cells[0].source == "# torch.fx by doing"
    (shown,) = notebook.cells[1].outputs
    assert "Begin here: 0.1 Your first green card" in shown.data["text/plain"]
    assert notebook.cells[1].metadata.jupyter.source_hidden
    record = mine / location.STATE / progress_file.NAME
    record.write_text('{"node_names": "passed"}', encoding="utf-8")
    (shown,) = nbformat.read(index.refresh(mine), as_version=4).cells[1].outputs
    assert "Go on: 0.2 The three parts of FX" in shown.data["text/plain"]
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell("My plan."))
    nbformat.write(notebook, path)
    index.refresh(mine)
    assert nbformat.read(path, as_version=4).cells[-1].source == "My plan."
    path.write_text("broken", encoding="utf-8")
    index.refresh(mine)
    assert path.read_text(encoding="utf-8") == "broken"


def test_the_index_is_up_to_date_when_it_is_opened(mine: Path) -> None:
    settings = json.loads((lab.SETTINGS / "jupyter_server_config.json").read_text("utf-8"))
    home, name = settings["ServerApp"]["contents_manager_class"].rsplit(".", 1)
    manager = getattr(importlib.import_module(home), name)(root_dir=str(mine))

    def opened() -> str:
        return str(asyncio.run(manager.get("index.ipynb"))["content"]["cells"][1]["outputs"])

    assert "Begin here: 0.1" in opened()
    written = (mine / "index.ipynb").stat().st_mtime_ns
    record = mine / location.STATE / progress_file.NAME
    record.write_text('{"node_names": "passed"}', encoding="utf-8")
    asyncio.run(manager.get("index.ipynb", content=False))  # as JupyterLab does before a save
    assert (mine / "index.ipynb").stat().st_mtime_ns == written
    assert "Go on: 0.2" in opened()
    written = (mine / "index.ipynb").stat().st_mtime_ns
    opened()
    assert (mine / "index.ipynb").stat().st_mtime_ns == written


def test_the_index_of_a_class_has_the_chapters_that_are_there(mine: Path) -> None:
    for name in ("01_tracing", "02b_lint"):
        (mine / f"{name}.ipynb").touch()
    overview = overview_so_far(mine)
    text, html = repr(overview), overview._repr_mimebundle_()["text/html"]
    assert "Begin here: 1.1" in text and "0 of 4 exercises" in text and "0 of 4 exercises" in html
    names = set(re.findall(r'href="([^"#]*)', html))
    assert names == {"01_tracing.ipynb", "02b_lint.ipynb"}
    assert "Tracks" not in html and "Essentials" not in text and "1 deep dive further" in html
    (mine / "02b_lint.ipynb").unlink()
    assert "Other chapters" not in overview_so_far(mine)._repr_mimebundle_()["text/html"]
    for name in ("00_start", "02_nodes", "03_manipulation"):
        (mine / f"{name}.ipynb").touch()
    assert [each.name for each in course_here(mine).tracks] == ["taste", "essentials"]


def test_an_index_of_an_earlier_version_is_replaced(mine: Path) -> None:
    source = "from autograder import progress\n\nprogress()"
    links = nbformat.v4.new_markdown_cell("# A list of links", id="map")
    old = [links, nbformat.v4.new_code_cell(source, id="progress")]
    nbformat.write(nbformat.v4.new_notebook(cells=old), mine / "index.ipynb")
    notebook = nbformat.read(index.refresh(mine), as_version=4)
    assert [cell.source for cell in notebook.cells] == [index.TITLE, index.SOURCE]


def test_jupyterlab_opens_the_first_chapter_until_something_is_passed(mine: Path) -> None:
    assert lab.first_notebook(mine) == "index"  # this course lacks chapter 0
    (mine / "00_start.ipynb").touch()
    assert lab.first_notebook(mine) == "00_start"
    record = mine / location.STATE / progress_file.NAME
    record.write_text('{"node_names": "failed"}', encoding="utf-8")
    assert lab.first_notebook(mine) == "00_start"
    assert "--LabApp.default_url=/lab/tree/00_start.ipynb" in lab.command(mine)
    record.write_text('{"node_names": "passed"}', encoding="utf-8")
    assert lab.first_notebook(mine) == "index"


def test_jupyterlab_opens_with_settings_of_ours(mine: Path) -> None:
    called = lab.command(mine, ["--no-browser"])
    assert f"--ServerApp.root_dir={mine}" in called and called[-1] == "--no-browser"
    settings = lab.environment(mine, {"JUPYTER_CONFIG_PATH": "theirs"})
    assert settings["JUPYTER_CONFIG_PATH"].endswith("theirs")
    assert settings[location.ENV] == str(mine)
    startup = Path(settings["PYTHONSTARTUP"])
    compile(startup.read_text(encoding="utf-8"), startup.name, "exec")
    assert lab.environment(mine, {"PYTHONSTARTUP": "mine.py"})["PYTHONSTARTUP"] == "mine.py"


def test_the_last_cell_calls_deep_dives_optional() -> None:
    titles = {"02_a": "2", "02b_b": "2b", "02c_c": "2c", "03_d": "3", "03b_e": "3b"}
    every = "[All chapters](index.ipynb)"
    said = [given._way_on(name, titles).source for name in titles]
    assert said == [
        f"{every} — Optional: [2b](02b_b.ipynb) — Next: [3](03_d.ipynb)",
        f"Before: [2](02_a.ipynb) — {every} — Optional: [2c](02c_c.ipynb) — Next: [3](03_d.ipynb)",
        f"Before: [2b](02b_b.ipynb) — {every} — Next: [3](03_d.ipynb)",
        f"Before: [2c](02c_c.ipynb) — {every} — Optional: [3b](03b_e.ipynb)",
        f"Before: [3](03_d.ipynb) — {every}",
    ]


def test_the_commands_say_what_they_did(mine: Path, source: Path) -> None:
    new = course()
    new["01_first"].cells[0].source = "# One"
    give_out(source, new)
    done = CliRunner().invoke(app, ["update", str(mine)])
    assert done.exit_code == 0, done.output
    assert "01_first" in done.output and "Copies of the earlier notebooks:" in done.output
    done = CliRunner().invoke(app, ["reset", "01", "two", "--workspace", str(mine)])
    assert "The answer cell of two is empty again." in done.output
    done = CliRunner().invoke(app, ["reset", "01", "six", "--workspace", str(mine)])
    assert done.exit_code == 1 and "There is no exercise six" in done.output
