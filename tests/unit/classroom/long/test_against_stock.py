"""nbgrader's own files, graded by stock nbgrader and by us.

Every instructor knows these files, and they do not come from this project: the course of nbgrader's
documentation, and the submissions of nbgrader's own tests, exploits included.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import nbformat
import nbgrader
import pytest
from nbgrader.api import Gradebook

from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.classroom.setup.create import create
from autograder.sandbox.walls import why_no_box
from autograder.submission.result import Result
from tests.support.classes.commands import environment
from tests.support.classes.stock import CONFIG
from tests.support.submissions import room as rooms

pytestmark = [
    pytest.mark.skipif(why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"),
    pytest.mark.filterwarnings("ignore:Object of type.*:sqlalchemy.exc.SAWarning"),  # from nbgrader
]

HOME = Path(nbgrader.__file__).parent
FILES = HOME / "tests" / "apps" / "files"
GUIDE = HOME / "docs" / "source" / "user_guide"

REPAIRED = "graded after repair"

OLD = {("squares", f"test-{version}") for version in ("v0", "v1", "v2")}

UNTOUCHED = "untouched"
"""The student who submits the released notebook unchanged."""


@dataclass(frozen=True)
class Assignment:
    """A source notebook from nbgrader, and the submissions for it."""

    source: Path
    handed_in: tuple[Path, ...]


def _files(*names: str) -> tuple[Path, ...]:
    return tuple(FILES / f"{name}.ipynb" for name in names)


ASSIGNMENTS = {
    "submitted": Assignment(
        *_files("submitted-unchanged"),
        _files(
            "submitted-changed", "submitted-unchanged", "submitted-grade-cell-changed",
            "submitted-locked-cell-changed", "submitted-cheat-attempt",
            "submitted-cheat-attempt-alternative", "test", "too-new",
        ),
    ),
    "autotest": Assignment(
        *_files("autotest-hidden"),
        _files("autotest-hidden-changed-right", "autotest-hidden-changed-wrong",
               "autotest-hidden-unchanged", "autotest-simple-changed"),
    ),
    "squares": Assignment(
        *_files("test"),
        _files("test", "test-v0", "test-v0-invalid", "test-v1", "test-v2", "test-with-output",
               "test-no-metadata", "submitted-changed"),
    ),
    "hidden": Assignment(*_files("test-hidden-tests"), _files("test-hidden-tests", "test")),
    "variable": Assignment(
        *_files("validating-environment-variable"), _files("validating-environment-variable")
    ),
    "nothing": Assignment(*_files("validation-zero-points"), _files("validation-zero-points")),
} | {
    problem: Assignment(
        GUIDE / "source" / "ps1" / f"{problem}.ipynb",
        tuple(GUIDE / "submitted" / student / "ps1" / f"{problem}.ipynb"
              for student in ("bitdiddle", "hacker")),
    )
    for problem in ("problem1", "problem2")
}  # fmt: skip


def name_of(path: Path) -> str:
    """The name of the student who submits a file."""
    return path.parents[1].name if path.is_relative_to(GUIDE) else path.stem


Scores = dict[str, tuple[float | None, float | None, bool]]
"""By grade id: automatic points, full marks, and whether a person must grade the cell."""


@dataclass(frozen=True)
class Graded:
    """The results of both ways to grade the same class.

    Attributes:
        stock: nbgrader's scores, by assignment and student; without submissions that it gave up.
        ours: our scores.
        rows: our results, with status and notes.
    """

    stock: dict[tuple[str, str], Scores]
    ours: dict[tuple[str, str], Scores]
    rows: dict[tuple[str, str], Result]


def _scores(room: Path) -> dict[tuple[str, str], Scores]:
    found = {}
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as book:
        for assignment in book.assignments:
            for submission in book.assignment_submissions(assignment.name):
                found[assignment.name, submission.student_id] = {
                    grade.name: (grade.auto_score, grade.max_score, grade.needs_manual_grade)
                    for notebook in submission.notebooks
                    for grade in notebook.grades
                }
    return found


def _stock(room: Path) -> None:
    """Set up a course of stock nbgrader, and release all assignments."""
    room.mkdir()
    (room / "nbgrader_config.py").write_text(
        f"{CONFIG}c.Execute.timeout = 5\nc.Execute.interrupt_on_timeout = True\n"
    )
    shutil.copy(FILES / "autotests.yml", room)
    for name, assignment in ASSIGNMENTS.items():
        folder = room / "source" / name
        folder.mkdir(parents=True)
        shutil.copy(assignment.source, folder / f"{name}.ipynb")
        shutil.copy(FILES / "jupyter.png", folder)
        rooms.nbgrader(room, "generate_assignment", name)


def _ours(room: Path, stock: Path) -> None:
    """Set up a classroom of ours with the same sources."""
    path = stock / "source" / "{0}" / "{0}.ipynb"
    create(room, {name: nbformat.read(str(path).format(name), as_version=4)
                  for name in ASSIGNMENTS if name != "autotest"})  # fmt: skip
    shutil.copy(FILES / "autotests.yml", room)
    shutil.copytree(stock / "source" / "autotest", room / "source" / "autotest")
    rooms.nbgrader(room, "generate_assignment", "autotest")


def _hand_in(room: Path) -> None:
    for name, assignment in ASSIGNMENTS.items():
        released = room / "release" / name / f"{name}.ipynb"
        for path in (released, *assignment.handed_in):
            student = UNTOUCHED if path == released else name_of(path)
            folder = room / "submitted" / student / name
            folder.mkdir(parents=True)
            shutil.copy(path, folder / f"{name}.ipynb")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    folder = tmp_path_factory.mktemp("against stock")
    stock, ours = folder / "stock", folder / "ours"
    with mock.patch.dict(os.environ, environment()):
        _stock(stock)
        _ours(ours, stock)
        for room in (stock, ours):
            _hand_in(room)
        for name in ASSIGNMENTS:
            rooms.nbgrader(stock, "autograde", name)
            for student in sorted(os.listdir(stock / "submitted")):  # some end the whole run
                if (stock / "submitted" / student / name).exists() and not _is_graded(
                    stock, name, student
                ):
                    rooms.nbgrader(stock, "autograde", name, "--student", student)
        rows = grade_class(ours, GradingOptions(jobs=2)).results
    found = {(row.chapter, row.student): row for row in rows}
    known = {key: scores for key, scores in _scores(stock).items() if _is_graded(stock, *key)}
    return Graded(known, _scores(ours), found)


def _is_graded(room: Path, name: str, student: str) -> bool:
    """Whether nbgrader graded a submission to its end."""
    return (room / "autograded" / student / name / f"{name}.ipynb").exists()


def handed_in() -> list[tuple[str, str]]:
    """All submissions, except unchanged ones."""
    return [
        (name, name_of(path))
        for name, assignment in ASSIGNMENTS.items()
        for path in assignment.handed_in
    ]


def points(scores: Scores) -> float:
    return sum(score or 0.0 for score, _, _ in scores.values())


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_an_untouched_release_is_graded_as_nbgrader_does_it(graded: Graded, name: str) -> None:
    key = name, UNTOUCHED
    row = graded.rows[key]
    assert (row.status, row.notes) == ("graded", ())
    assert graded.ours[key] == graded.stock[key]


def test_nobody_gets_more_than_stock_gives(graded: Graded) -> None:
    assert {
        (key, cell): (graded.ours[key][cell], score)
        for key in handed_in()
        for cell, (score, *_) in graded.stock.get(key, {}).items()
        if score is not None and (graded.ours[key][cell][0] or 0.0) > score
    } == {}


def test_what_stock_leaves_open_earns_points_after_a_repair_that_is_listed(graded: Graded) -> None:
    more = {
        key: graded.rows[key].status
        for key in handed_in()
        if points(graded.ours[key]) > points(graded.stock.get(key, {}))
    }
    # Those graded without a note have old nbgrader metadata, which stock rejects.
    assert {key for key, status in more.items() if status == "graded"} <= OLD
    assert set(more.values()) <= {"graded", REPAIRED, "restored"}


def test_nobody_gets_less_than_stock_gives(graded: Graded) -> None:
    assert {
        key: (graded.ours[key], graded.stock[key])
        for key in handed_in()
        if key in graded.stock and points(graded.ours[key]) < points(graded.stock[key])
    } == {}


def test_what_nbgrader_leaves_to_people_is_left_to_them(graded: Graded) -> None:
    left = {
        (key, cell)
        for key in handed_in()
        for cell, (_, _, by_hand) in graded.stock.get(key, {}).items()
        if by_hand and cell in manual(key[0]) and not graded.ours[key][cell][2]
    }
    assert left == set()


def manual(name: str) -> set[str]:
    """The cells of an assignment that only a person grades."""
    cells = nbformat.read(ASSIGNMENTS[name].source, as_version=4).cells
    data = [cell.metadata["nbgrader"] for cell in cells if "nbgrader" in cell.metadata]
    return {d["grade_id"] for d in data if d.get("task") or (d["grade"] and d["solution"])}


def test_nobody_is_accused(graded: Graded) -> None:
    assert {key: row.notes for key, row in graded.rows.items() if row.status == "tampered"} == {}


@pytest.mark.parametrize(
    "attempt", ["submitted-cheat-attempt", "submitted-cheat-attempt-alternative"]
)
def test_nbgraders_exploits_earn_nothing(graded: Graded, attempt: str) -> None:
    scores = graded.ours["submitted", attempt]
    assert (scores["foo"][0], scores["bar"][0]) == (1, 0)
