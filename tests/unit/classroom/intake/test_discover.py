"""Grade ids identify notebooks; unread files are listed, and rejected ones with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from autograder.classroom.grading.grade_class import Summary, grade_class
from autograder.classroom.intake.discover import Found, find_notebooks
from autograder.cli.grading_progress import print_summary
from autograder.environment.errors import ClassroomError
from tests.support import stub_class as stubs
from tests.support.stub_class import CELLS, ONE, TWO, scores, text_of

pytestmark = pytest.mark.filterwarnings(
    "ignore:Object of type.*:sqlalchemy.exc.SAWarning"  # from nbgrader
)
NO_IDS = '{"cells": [], "metadata": {}}'
WHOLE = text_of(ONE, after=6.0, half=4.0)


def put(folder: Path, *names: str, text: str = WHOLE) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(folder: Path) -> Found:
    return find_notebooks(folder, list(CELLS), lambda: CELLS)


@pytest.mark.parametrize(
    "name",
    [
        f"ann/{ONE}/{ONE}.ipynb",
        f"ann/{ONE}/{ONE} (1).ipynb",
        f"ann/{ONE}/{ONE}-2.ipynb",
        f"ann/{ONE}/Untitled.IPYNB",
        f"ann/{ONE}.ipynb",
        "ann/homework.ipynb",
        f"ann/01/{ONE}.ipynb",
        f"ann/{ONE}/{ONE}/{ONE}.ipynb",
        f"ann/a/b/{ONE}.ipynb",
        f"ann/{TWO}/{ONE}.ipynb",
    ],
)
def test_a_students_notebook_is_found_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    put(tmp_path, name)
    place = found(tmp_path).places[ONE]["ann"]
    assert place.path == tmp_path / name
    usual = name == f"ann/{ONE}/{ONE}.ipynb"
    assert place.note == ("" if usual else f"{name[4:]} was read as {ONE}/{ONE}.ipynb.")
    assert found(tmp_path).unread == []


def test_folders_whose_names_begin_with_a_dot(tmp_path: Path) -> None:
    put(tmp_path, f".ann/{ONE}/{ONE}.ipynb", f".Trash-1000/files/{ONE}.ipynb")
    put(tmp_path, f"bo/.ipynb_checkpoints/{ONE}.ipynb", f".ipynb_checkpoints/{ONE}/{ONE}.ipynb")
    seen = found(tmp_path)
    assert seen.students(ONE) == [".ann"]
    (said,) = seen.unread
    assert said.startswith(f".Trash-1000/files/{ONE}.ipynb: Its folder's name begins with a dot.")


def test_folder_says_the_chapter_where_the_cells_do_not(tmp_path: Path) -> None:
    put(tmp_path, f"ann/{ONE}/mine.ipynb", text=NO_IDS)
    assert found(tmp_path).places[ONE]["ann"].path == tmp_path / f"ann/{ONE}/mine.ipynb"


def test_what_is_where_it_should_be_counts_and_the_rest_is_named(tmp_path: Path) -> None:
    put(tmp_path, f"ann/{ONE}/{ONE}.ipynb", f"ann/{ONE}/{ONE} (1).ipynb", "ann/old/x.ipynb")
    looked = found(tmp_path)
    assert looked.places[ONE]["ann"].path == tmp_path / f"ann/{ONE}/{ONE}.ipynb"
    there = f"ann/{ONE}/{ONE}.ipynb is there, and counts."
    assert sorted(looked.unread) == [
        f"ann/{ONE}/{ONE} (1).ipynb: {there}",
        f"ann/old/x.ipynb: {there}",
    ]


def test_of_several_none_is_chosen(tmp_path: Path) -> None:
    put(tmp_path, f"ann/{ONE}/a.ipynb")
    put(tmp_path, f"ann/{ONE}/b.ipynb", text=text_of(ONE, after=1.0))
    assert found(tmp_path).places[ONE]["ann"].path is None
    assert found(tmp_path).places[ONE]["ann"].note == (
        f"There are several notebooks of {ONE}: ann/{ONE}/a.ipynb, ann/{ONE}/b.ipynb. "
        f"Keep the one that counts, as {ONE}/{ONE}.ipynb."
    )
    put(tmp_path, f"ann/{ONE}/b.ipynb")  # an identical copy
    assert found(tmp_path).places[ONE]["ann"].path == tmp_path / f"ann/{ONE}/a.ipynb"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (f"{ONE}.ipynb", WHOLE, f"It is of {ONE}, but of which student? Put it into a folder of"),
        (f"{ONE}/ann/x.ipynb", WHOLE, f"It lies in {ONE}, which is a chapter. Put it into a stu"),
        (f"{ONE}/{ONE}/{ONE}.ipynb", WHOLE, f"It lies in {ONE}, which is a chapter."),
        ("ann/mine.ipynb", NO_IDS, "No cell in it is of a chapter of this class."),
    ],
)
def test_what_nobody_can_be_given_is_named(tmp_path: Path, name: str, text: str, why: str) -> None:
    put(tmp_path, name, text=text)
    looked = found(tmp_path)
    assert looked.places == {ONE: {}, TWO: {}}
    assert looked.unread[0].startswith(f"{name}: {why}")


def test_links_and_hidden_folders_are_not_read(tmp_path: Path) -> None:
    put(tmp_path, f"ann/.ipynb_checkpoints/{ONE}.ipynb", "bo/real.ipynb")
    (tmp_path / "cy").mkdir()
    (tmp_path / "cy" / "x.ipynb").symlink_to(tmp_path / "bo" / "real.ipynb")
    looked = found(tmp_path)
    assert looked.places == {ONE: {"bo": looked.places[ONE]["bo"]}, TWO: {}}
    assert looked.unread == ["cy/x.ipynb: It is a link, or no file; links are not read."]


# ------------------------------------------------------------------ in a class


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stubs.make(tmp_path_factory.mktemp("made") / "class")


def said(summary: Summary) -> str:
    console = Console(record=True, width=200, soft_wrap=True)
    print_summary(summary, console)
    return console.export_text()


def test_class_with_notebooks_in_all_places_loses_nobody(room: Path) -> None:
    put(
        room / "submitted",
        f"ann/{ONE}/{ONE} (1).ipynb", "bo/x.ipynb", f"cy/3/{ONE}.ipynb", f"{ONE}.ipynb",
    )  # fmt: skip
    put(room / "submitted", "bo/helper.py", "bo/deeper/other.py", text="one = 1")
    put(room / "submitted", "bo/timestamp.txt", text="2026-12-01 12:00:00")
    put(room / "submitted", f"di/{ONE}/{ONE}.ipynb", text=text_of(TWO, twice=10.0))
    put(room / "submitted", f"ed/{ONE}/notes.txt", text="I forgot it")
    summary = grade_class(room)
    assert scores(room) == {"ann": 10.0, "bo": 10.0, "cy": 10.0, "di": 0.0, "ed": 0.0}
    notes = {row.student: " ".join(row.notes) for row in summary.results}
    assert notes["bo"] == f"x.ipynb was read as {ONE}/{ONE}.ipynb."
    assert (
        notes["di"] == f"{ONE}.ipynb is the notebook of {TWO}, by its cells; that of "
        f"{ONE} is missing."
    )
    assert notes["ed"] == f"There is no {ONE}.ipynb in what was handed in."
    assert f"not read  {ONE}.ipynb: It is of {ONE}, but of which student?" in said(summary)
    graded = room / "autograded" / "bo" / ONE
    assert sorted(path.name for path in graded.iterdir()) == [
        f"{ONE}.ipynb",
        "helper.py",
        "timestamp.txt",
    ]
    assert not any(row.in_this_run for row in grade_class(room).results)


def test_where_nothing_can_be_graded_it_is_said_what_was_not_read(room: Path) -> None:
    put(room / "submitted", f"{ONE}.ipynb")
    with pytest.raises(ClassroomError, match=rf"Nothing was handed in.*Not read: {ONE}.ipynb: "):
        grade_class(room)
