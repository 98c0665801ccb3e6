"""A classroom: created completely or not at all, and usable with nbgrader's own commands."""

from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook
from traitlets.config import Config
from typer.testing import CliRunner

from autograder.builder import as_text, build
from autograder.builder.paths import ROOT
from autograder.classroom.grading.settings import GradingSettings
from autograder.classroom.nbgrader_plugins.export import COLUMNS, safe
from autograder.classroom.nbgrader_plugins.feedback import ForStudents
from autograder.classroom.room.nbgrader_api import api
from autograder.classroom.room.scripts_path import find_scripts
from autograder.classroom.setup import create as making
from autograder.classroom.setup.create import choose, create
from autograder.cli.classroom import app
from autograder.environment.errors import ClassroomError
from autograder.fuzz.recipe import OWN
from autograder.submission.repair import NOTES
from autograder.submission.seeds import noted_seed
from tests.support import graded_class
from tests.support.numbers import numbers_room as numbers
from tests.support.submissions import room as rooms
from tests.support.submissions.edits import edited, fill


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return numbers.room(tmp_path_factory.mktemp("class"))


def test_layout(room: Path) -> None:
    files = {p.relative_to(room).as_posix() for p in room.rglob("*") if p.is_file()}
    name = numbers.CHAPTER
    assert files == {
        f"source/{name}/{name}.ipynb",
        f"release/{name}/{name}.ipynb",
        "nbgrader_config.py",
        "gradebook.db",
        "deadlines.toml",
        ".fxcourse/released.jsonl",
        ".fxcourse/sources.json",
        ".fxcourse/versions.json",
        "README.md",
    }
    readme = (room / "README.md").read_text(encoding="utf-8")
    assert (
        8 <= readme.count("\n") <= 18
        and "fxcourse grade ." in readme
        and f"nbgrader autograde {name}" in readme
    )


def test_released_notebook_is_the_builders(room: Path, tmp_path: Path) -> None:
    path = tmp_path / f"{numbers.CHAPTER}.py"
    path.write_text(numbers.TEXT, encoding="utf-8")
    built = build(path, tuple(numbers.EXERCISES.values()))
    released = rooms.released(room, numbers.CHAPTER)
    assert [c.source for c in released.cells] == [c.source for c in built.cells]
    assert [c.metadata for c in released.cells] == [c.metadata for c in built.cells]
    assert "SOLUTION" not in as_text(released) and "HIDDEN" not in as_text(released)


def test_points_are_in_the_gradebook(room: Path) -> None:
    with Gradebook(f"sqlite:///{room}/gradebook.db") as gradebook:
        assert gradebook.find_assignment(numbers.CHAPTER).max_score == 9


@pytest.fixture
def chapter(tmp_path: Path) -> dict[str, NotebookNode]:
    return {numbers.CHAPTER: numbers.chapter(tmp_path)}


def test_nothing_is_overwritten(chapter: dict[str, NotebookNode], tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "thesis.txt").write_text("mine")
    with pytest.raises(ClassroomError, match="is there already"):
        create(tmp_path / "there", chapter)
    with pytest.raises(ClassroomError, match="is there already"):
        create(tmp_path / "there" / "thesis.txt", chapter)
    assert (tmp_path / "there" / "thesis.txt").read_text() == "mine"


def test_nothing_is_left_of_a_classroom_that_could_not_be_made(
    chapter: dict[str, NotebookNode], tmp_path: Path
) -> None:
    chapter[numbers.CHAPTER].cells[3].metadata["nbgrader"]["grade_id"] = "check-after"
    place = tmp_path / "rooms" / "new"
    with pytest.raises(ClassroomError, match="could not release 07_numbers"):
        create(place, chapter)
    assert list(place.parent.iterdir()) == []


def test_empty_folder_may_be_there(
    chapter: dict[str, NotebookNode], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a room").mkdir()
    monkeypatch.setattr(making, "_fill", lambda folder, *rest: (folder / "x").touch())
    create(tmp_path / "a room", chapter)
    assert (tmp_path / "a room" / "x").exists()


def test_a_class_without_solutions_tells_its_notebooks(
    chapter: dict[str, NotebookNode], tmp_path: Path
) -> None:
    chapter[numbers.CHAPTER].cells.insert(0, new_code_cell("from autograder import check, hint"))
    create(tmp_path / "room", chapter, solutions=False)
    first, *others = rooms.released(tmp_path / "room", numbers.CHAPTER).cells
    assert first.source.splitlines()[-1] == "check.offer_solutions(False)"
    assert not [cell for cell in others if "offer_solutions" in cell.source]


def test_chapters_are_chosen_by_number_or_name(monkeypatch: pytest.MonkeyPatch) -> None:
    known = [Path("01_one.py"), Path("02_two.py"), Path("10_ten.py")]
    monkeypatch.setattr(making, "chapters", lambda: known)
    monkeypatch.setattr(making, "source_notebook", lambda path: path.stem)
    assert list(choose(None)) == ["01_one", "02_two", "10_ten"]
    assert list(choose("10, 1")) == ["01_one", "10_ten"]
    assert list(choose("02_two,02")) == ["02_two"]
    with pytest.raises(ClassroomError, match="no chapter '3'. Chapters: 01_one, 02_two, 10_ten."):
        choose("3")


def test_a_track_names_the_chapters() -> None:
    core = ["00_start", "01_tracing", "02_nodes", "03_manipulation"]
    assert list(choose(track="essentials")) == core
    assert list(choose(track="quantization")) == ["14_quantization", "14b_sharing"]
    with pytest.raises(ClassroomError, match="no track 'cores'. Tracks: taste, essentials, core, "):
        choose(track="cores")
    with pytest.raises(ClassroomError, match="chapters or a track, and not both"):
        choose("01", "core")


def test_command_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    run = CliRunner().invoke(app, ["create", str(tmp_path), "--chapters", "99"])
    assert run.exit_code == 1
    assert "No classroom was made." in run.output and "no chapter '99'" in run.output


def test_scripts_are_found_without_an_active_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    find_scripts()
    find_scripts()
    assert os.environ["PATH"].count(os.pathsep) == 1 and os.environ["PATH"].endswith("/nowhere")


def test_commands_of_nbgrader(room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grade, generate feedback and export by nbgrader's commands, with nothing else on the path."""
    room = Path(shutil.copytree(room, tmp_path / "class"))  # other tests need an unused one
    answers = [
        fill("after", "def after(number):\n    return number + 1 if number >= 0 else number - 1"),
        fill("half", "def half(number):\n    return number / 2"),
    ]
    rooms.hand_in(
        room, "ann", numbers.CHAPTER, edited(rooms.released(room, numbers.CHAPTER), *answers)
    )
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    setting = "--ExecuteChecks.syllabus=tests.support.numbers.numbers_syllabus"
    names = ("--first-name==1+1", "--last-name=O'Neill, Jr")
    for command in (
        ("db", "student", "add", "ann", *names),
        ("autograde", numbers.CHAPTER, setting),
        ("generate_feedback", numbers.CHAPTER),
        ("export",),
    ):
        run = rooms.nbgrader(room, *command)
        assert run.returncode == 0, run.stdout
    assert rooms.points(room, numbers.CHAPTER) == {"ann": {"after": 6, "half": 3}}
    page = (room / "feedback" / "ann" / numbers.CHAPTER / f"{numbers.CHAPTER}.html").read_text()
    assert "after" in page and "HIDDEN" not in page and "hidden=True" not in page
    assert "9 of 9 points" in page and "O&#39;Neill, Jr" in page and "return number / 2" in page
    assert "counted away from zero" not in page.replace('"""The next number', "")  # no prose
    assert len(page) < 60_000 and "http:" not in page and "https:" not in page
    with (room / "grades.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert tuple(row) == COLUMNS
    assert (row["score"], row["max_score"]) == ("9.0", "9.0")
    assert (row["first_name"], row["last_name"]) == ("'=1+1", "O'Neill, Jr")

    # After a page shows ann's models, other students get others; a regrade keeps hers.
    seed = noted_seed(rooms.autograded(room, "ann", numbers.CHAPTER))
    pools = GradingSettings.of(api(room).config).pools
    assert list(pools.used("ann", numbers.CHAPTER).values()) == [seed // OWN]
    assert pools.now(numbers.CHAPTER) != seed // OWN
    run = rooms.nbgrader(room, "autograde", numbers.CHAPTER, "--force", setting)
    assert run.returncode == 0, run.stdout
    assert noted_seed(rooms.autograded(room, "ann", numbers.CHAPTER)) == seed

    # Our own command keeps the points that a person gives now.
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as book:
        grade = book.find_grade("check-half", numbers.CHAPTER, numbers.CHAPTER, "ann")
        grade.manual_score, grade.extra_credit = 2.0, 0.5
        comment = book.find_comment("half", numbers.CHAPTER, numbers.CHAPTER, "ann")
        comment.manual_comment = "See me."
        book.db.commit()
    (row,) = graded_class.grade(room).results
    assert (row.status, row.points) == ("graded", 9)
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as book:
        submission = book.find_submission(numbers.CHAPTER, "ann")
        assert (submission.score, submission.needs_manual_grade) == (8.5, False)
        comment = book.find_comment("half", numbers.CHAPTER, numbers.CHAPTER, "ann")
        assert comment.comment == "See me."
    assert noted_seed(rooms.autograded(room, "ann", numbers.CHAPTER)) == seed


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "  =1"])
def test_formulas_stay_text(text: str) -> None:
    assert safe(text) == f"'{text}"


@pytest.mark.parametrize("value", ["a=b", "", 1.5, -1.5, "Doe, Jr"])
def test_other_values_are_as_they_are(value: object) -> None:
    assert safe(value) == value
    assert safe(None) == ""


def test_feedback_lists_repairs_and_leaves_hidden_tests_out(room: Path) -> None:
    nb = nbformat.read(room / "source" / numbers.CHAPTER / f"{numbers.CHAPTER}.ipynb", as_version=4)
    nb.metadata[NOTES] = {"repairs": ["One thing.", "Another."]}
    ids = {"nbgrader": {"student": "ann", "notebook": numbers.CHAPTER}}
    shown, _ = ForStudents(config=api(room).config).preprocess(nb, ids)
    assert "- One thing.\n- Another." in shown.cells[0].source
    assert "HIDDEN" not in as_text(shown) and "check(after)" in as_text(shown)


def test_feedback_says_what_happened_to_a_notebook(tmp_path: Path) -> None:
    notes = {"repairs": ["a cell is back"], "happened": ["x.ipynb is a <b>link</b>."]}
    config = Config({"CourseDirectory": {"root": str(tmp_path)}})
    ids = {"nbgrader": {"student": "ada", "notebook": "x"}}
    shown, _ = ForStudents(config=config).preprocess(new_notebook(metadata={NOTES: notes}), ids)
    assert shown.cells[0].source == (
        "**What happened to your notebook:**\n\n- x.ipynb is a &lt;b&gt;link&lt;/b&gt;.\n\n"
        "**Before your notebook was graded, it was repaired:**\n\n- a cell is back"
    )
