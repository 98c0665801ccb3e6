"""Adding, updating and removing chapters in a running class loses no grade."""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from unittest import mock

import pytest
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.builder.paths import ROOT
from autograder.classroom.grading import grade_class
from autograder.classroom.room.open_classroom import OpenClassroom, open_classroom
from autograder.classroom.setup import change_chapters
from autograder.classroom.setup.create import is_called
from autograder.cli.main import app
from autograder.environment.errors import ClassroomError
from tests.support import graded_class
from tests.support.numbers import moved_numbers
from tests.support.numbers import numbers_room as numbers
from tests.support.submissions import room as rooms
from tests.support.submissions.edits import edited

CHAPTER = numbers.CHAPTER


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class in which a student has grades, a comment and a due date."""
    room = numbers.room(tmp_path_factory.mktemp("term"))
    with Gradebook(f"sqlite:///{room}/gradebook.db") as book:
        book.add_student("ann")
        book.update_or_create_assignment(CHAPTER, duedate=datetime(2026, 11, 1))
        when = datetime(2026, 11, 2, 10)
        book.update_or_create_submission(CHAPTER, "ann", timestamp=when)
        for name, auto, manual in (("check-after", 6.0, None), ("check-half", 1.0, 2.5)):
            grade = book.find_grade(name, CHAPTER, CHAPTER, "ann")
            grade.auto_score, grade.manual_score, grade.needs_manual_grade = auto, manual, False
        book.find_grade("check-half", CHAPTER, CHAPTER, "ann").extra_credit = 0.5
        notebook = book.find_submission_notebook(CHAPTER, CHAPTER, "ann")
        notebook.late_submission_penalty = 1.0
        notebook.comments[0].manual_comment = "well done"
        book.db.commit()
    return room


@pytest.fixture
def classroom(made: Path, tmp_path: Path) -> Iterator[OpenClassroom]:
    with open_classroom(Path(shutil.copytree(made, tmp_path / "class"))) as classroom:
        yield classroom


def quiet(text: str) -> None:
    pass


def points(classroom: OpenClassroom) -> tuple[float, float, list[str | None], datetime | None]:
    found = classroom.gradebook.find_submission(CHAPTER, "ann")
    comments = [one.manual_comment for book in found.notebooks for one in book.comments]
    return found.score, found.late_submission_penalty, comments, found.assignment.duedate


def version(tmp_path: Path, *, without: str = "", text: str = "") -> NotebookNode:
    nb = copy.deepcopy(numbers.chapter(tmp_path))
    if without:
        nb.cells = [
            cell
            for cell in nb.cells
            if not cell.metadata.get("nbgrader", {}).get("grade_id", "").endswith(without)
        ]
    nb.cells[0].source += text
    return nb


def test_grades_survive_leaving_and_coming_back(classroom: OpenClassroom, tmp_path: Path) -> None:
    before = points(classroom)
    assert before[:2] == (9.0, 1.0) and "well done" in before[2] and before[3]
    (left,) = change_chapters.remove(classroom, [CHAPTER])
    assert left.graded == 1 and classroom.gradebook.assignments == []
    assert not (classroom.room / "source" / CHAPTER).exists()
    (back,) = change_chapters.add(classroom, {CHAPTER: version(tmp_path)}, quiet)
    assert points(classroom) == before and back.gone == () and back.graded == 1
    assert rooms.released(classroom.room, CHAPTER).cells
    with pytest.raises(ClassroomError, match="is already in the class"):
        change_chapters.add(classroom, {CHAPTER: version(tmp_path)}, quiet)


def test_a_new_text_keeps_grades_and_the_same_is_left(
    classroom: OpenClassroom, tmp_path: Path
) -> None:
    before = points(classroom)
    assert change_chapters.update(classroom, {CHAPTER: version(tmp_path)}, quiet) == []
    (done,) = change_chapters.update(classroom, {CHAPTER: version(tmp_path, text=" anew")}, quiet)
    assert points(classroom) == before and done.gone == ()
    assert "anew" in rooms.released(classroom.room, CHAPTER).cells[0].source
    assert done.kept and (done.kept / "grades.json").is_file() and (done.kept / "source").is_dir()


def test_cells_come_and_go_and_what_goes_is_kept_in_a_file(
    classroom: OpenClassroom, tmp_path: Path
) -> None:
    (done,) = change_chapters.update(classroom, {CHAPTER: version(tmp_path, without="half")}, quiet)
    assert done.gone == ("check-half",) and points(classroom)[0] == 6.0
    assert done.kept and "2.5" in (done.kept / "grades.json").read_text()
    (back,) = change_chapters.update(classroom, {CHAPTER: version(tmp_path)}, quiet)
    assert back.gone == () and points(classroom)[0] == 6.0
    grade = classroom.gradebook.find_grade("check-half", CHAPTER, CHAPTER, "ann")
    assert grade.auto_score is None  # so the next run grades it


def test_an_instructors_own_source_is_not_replaced_unasked(
    classroom: OpenClassroom, tmp_path: Path
) -> None:
    path = classroom.room / "source" / CHAPTER / f"{CHAPTER}.ipynb"
    path.write_text(path.read_text().replace("# Numbers", "# My numbers"))
    with pytest.raises(ClassroomError, match="--replace"):
        change_chapters.update(classroom, {CHAPTER: version(tmp_path)}, quiet)
    (done,) = change_chapters.update(classroom, {CHAPTER: version(tmp_path)}, quiet, replace=True)
    assert "# My numbers" not in path.read_text()
    assert done.kept and "# My numbers" in (done.kept / "source" / path.name).read_text()


def test_a_version_that_cannot_be_released_changes_nothing(
    classroom: OpenClassroom, tmp_path: Path
) -> None:
    before, release = points(classroom), rooms.released(classroom.room, CHAPTER)
    broken = version(tmp_path, without="half")
    broken.cells[3].metadata["nbgrader"]["grade_id"] = "check-after"
    with pytest.raises(ClassroomError, match="could not release"):
        change_chapters.update(classroom, {CHAPTER: broken}, quiet)
    assert points(classroom) == before and rooms.released(classroom.room, CHAPTER) == release
    with pytest.raises(ClassroomError, match="is not in the class"):
        change_chapters.update(classroom, {"08_more": broken}, quiet)
    with pytest.raises(ClassroomError, match="could not release 08_more"):
        change_chapters.add(classroom, {"08_more": broken}, quiet)
    assert not (classroom.room / "source" / "08_more").exists()


def test_a_student_who_handed_in_nothing_is_named(made: Path) -> None:
    with pytest.raises(ClassroomError, match="ann, zoe has handed in nothing of 07_numbers"):
        grade_class.grade_class(
            made,
            grade_class.GradingOptions(chapters=[CHAPTER], students=["zoe", "ann"], sandbox=False),
        )


def test_the_command_takes_several_chapters_and_students(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[grade_class.GradingOptions] = []

    def grade(room: Path, options: grade_class.GradingOptions, *_: object) -> None:
        asked.append(options)
        raise ClassroomError("that will do")

    monkeypatch.setattr(grade_class, "grade_class", grade)
    words = ["grade", "DIR", "01", "3,04", "--student", "ann", "--student", "ben"]
    assert "that will do" in CliRunner().invoke(app, words).output
    assert (asked[0].chapters, asked[0].students) == (["01", "3", "04"], ["ann", "ben"])


@pytest.mark.parametrize("word", ["07_numbers", "07_numbers/", "7", "07", "numbers"])
def test_a_chapter_has_several_names(word: str) -> None:
    assert is_called(CHAPTER, word) and not is_called("17_other", word)


def test_an_exercise_that_moved_to_another_chapter_keeps_its_points(tmp_path: Path) -> None:
    """A version of the course that has the exercise in the next chapter grades both students."""
    room = numbers.room(tmp_path)
    given = rooms.released(room, CHAPTER)
    rooms.hand_in(room, "ann", CHAPTER, edited(given, *graded_class.RIGHT))
    rooms.hand_in(room, "bo", CHAPTER, edited(given, graded_class.RIGHT[0]))
    settings = graded_class.SETTINGS | {"syllabus": moved_numbers.__name__}
    with mock.patch.dict(os.environ, {"PYTHONPATH": str(ROOT)}):
        found = grade_class.grade_class(room, grade_class.GradingOptions(settings=settings))
    earned = {row.student: (row.chapter, row.points, row.max_points) for row in found.results}
    assert earned == {"ann": (CHAPTER, 9, 9), "bo": (CHAPTER, 6, 9)}
