"""Settings of nbgrader_config.py, applied or rejected by name, and a class's own points."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from traitlets.config import Config

from autograder.classroom.grading import run as grading
from autograder.classroom.grading.grade_class import Listener, grade_class
from autograder.classroom.grading.settings import GradingSettings
from autograder.classroom.nbgrader_plugins.class_points import PointsOfClass
from autograder.classroom.nbgrader_plugins.class_solutions import SolutionsOfClass
from autograder.classroom.nbgrader_plugins.execute_checks import CannotJudge, ExecuteChecks
from autograder.classroom.nbgrader_plugins.save_verdicts import SCORES
from autograder.classroom.room.honoured_settings import foreign_kernel
from autograder.classroom.room.nbgrader_api import api
from autograder.core.verdict import Finding, Share, Verdict
from autograder.environment.errors import ClassroomError
from autograder.submission.result import SubmissionStatus
from autograder.submission.scores import auto_score
from autograder.submission.verdict_outputs import show_verdicts
from tests.support import stub_class as stubs
from tests.support.numbers.numbers_syllabus import EXERCISES
from tests.support.stub_class import ONE, scores

pytestmark = pytest.mark.filterwarnings(
    "ignore:Object of type.*:sqlalchemy.exc.SAWarning"  # from nbgrader
)


def configured(room: Path, line: str) -> list[str]:
    """Grade with one more line of configuration; return the warnings."""
    with (room / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    told: list[str] = []
    grade_class(room, listener=Listener(warn=told.append))
    return told


@pytest.mark.parametrize(
    ("line", "graded", "said"),
    [
        ('c.CourseDirectory.student_id_exclude = "bo,cy,di"', {"ann"}, "bo, cy"),
        ('c.CourseDirectory.student_id = "[ab]*"', {"ann", "bo"}, "cy"),
        ('c.CourseDirectory.student_id_exclude = ""', {"ann", "bo", "cy"}, ""),
    ],
)
def test_students_are_left_out_as_nbgrader_leaves_them_out(
    room: Path, line: str, graded: set[str], said: str
) -> None:
    told = configured(room, line)
    assert set(scores(room)) == graded
    assert [one.rpartition(": ")[2] for one in told] == ([f"{said}."] if said else [])


def test_student_who_must_be_known_and_is_not_is_refused(room: Path) -> None:
    with stubs.gradebook(room) as book:
        book.add_student("ann")
    configured(room, "c.Autograde.create_student = False")
    assert set(scores(room)) == {"ann"}
    rows = {row.student: row for row in grade_class(room).results}
    assert rows["bo"].status is SubmissionStatus.REFUSED
    assert rows["bo"].notes[0].startswith("The gradebook does not know this student, and c.Auto")


def test_files_that_a_student_may_change_are_not_replaced(room: Path) -> None:
    given, own = room / "source" / ONE, room / "submitted" / "ann" / ONE
    given.mkdir(parents=True)
    for name in ("mine.py", "data.txt"):
        (given / name).write_text("the course's", encoding="utf-8")
        (own / name).write_text("the student's", encoding="utf-8")
    configured(room, f'c.Autograde.exclude_overwriting = {{"{ONE}": ["mine.py"]}}')
    graded = room / "autograded" / "ann" / ONE
    assert (graded / "mine.py").read_text(encoding="utf-8") == "the student's"
    assert (graded / "data.txt").read_text(encoding="utf-8") == "the course's"
    assert not (room / "autograded" / "bo" / ONE / "mine.py").exists()


def test_files_that_are_ignored_are_not_taken_along(room: Path) -> None:
    for name in ("kept.py", "big.dat", "__pycache__/x.pyc"):
        path = room / "submitted" / "ann" / ONE / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x", encoding="utf-8")
    configured(room, 'c.CourseDirectory.ignore = ["*.dat", "__pycache__"]')
    found = sorted(path.name for path in (room / "autograded" / "ann" / ONE).iterdir())
    assert found == [f"{ONE}.ipynb", "kept.py"]


def test_folders_that_are_not_read_are_named(room: Path) -> None:
    with pytest.raises(ClassroomError, match="submitted_directory is 'in' in nbgrader_config.py"):
        configured(room, 'c.CourseDirectory.submitted_directory = "in"')


def test_class_that_runs_nothing_is_refused_by_name(room: Path) -> None:
    with pytest.raises(ClassroomError, match=r"c\.Execute\.enabled is off .* --no-execute"):
        configured(room, "c.Execute.enabled = False")


@pytest.mark.parametrize(
    ("lines", "limits"),
    [
        ("", (30.0, 60.0)),
        ("c.Execute.timeout = 7", (7.0, 7.0)),
        ("c.Execute.timeout = -1", (30.0, 60.0)),
        ("c.Execute.timeout = None", (30.0, 60.0)),
        ("c.Execute.timeout = 7\nc.ExecuteChecks.cell_cpu = 2", (2.0, 7.0)),
    ],
)
def test_nbgraders_limit_of_a_cell_counts(
    room: Path, lines: str, limits: tuple[float, float]
) -> None:
    with (room / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(f"{lines}\n")
    timeouts = GradingSettings.of(api(room).config).timeouts
    assert (timeouts.cell_cpu, timeouts.cell_wall) == limits


def test_without_running_anything_checks_wait_for_a_person() -> None:
    check = new_code_cell("check(double)", metadata={"nbgrader": {
        "grade": True, "solution": False, "grade_id": "check-double", "points": 2.0,
    }})  # fmt: skip
    check.outputs = [new_output("stream", text="2.0")]
    nb, config = new_notebook(cells=[check]), Config(Execute={"enabled": False})
    ids = {"nbgrader": {"student": "ann", "notebook": "numbers", "assignment": "numbers"}}
    after, resources = ExecuteChecks(config=config).preprocess(nb, ids)
    assert after.cells[0].outputs == check.outputs  # unchanged, as in nbgrader
    assert auto_score(after.cells[0], resources[SCORES]) is None


def test_limits_of_output_are_those_of_the_class(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def look(submissions: object, config: object, jobs: int) -> object:
        seen.append((config.max_lines, config.max_traceback))  # type: ignore[attr-defined]
        return stubs.grade_at_once(submissions, config, jobs)  # type: ignore[arg-type]

    monkeypatch.setattr(grading, "grade_in_parallel", look)
    configured(room, "c.LimitOutput.max_lines = 7")
    assert set(seen) == {(7, 100)}


R = {"name": "ir", "display_name": "R", "language": "R"}


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (R, "ir"),
        ({"name": "xcpp17"}, "xcpp17"),
        ({"name": "python3", "language": "python"}, ""),
        ({"name": "my-env", "language": "python"}, ""),
        ({"name": "python3"}, ""),
        ({}, ""),
        (None, ""),
        ([1], ""),
    ],
)
def test_kernels_that_are_not_pythons(spec: object, name: str) -> None:
    assert foreign_kernel(json.dumps(spec)) == name
    assert foreign_kernel(None) == foreign_kernel("no json") == ""


def test_chapter_for_another_kernel_is_refused_by_name(room: Path) -> None:
    with stubs.gradebook(room) as book:
        book.find_notebook(ONE, ONE).kernelspec = json.dumps(R)
        book.db.commit()
    (ann, *_) = grade_class(room).results
    assert ann.status is SubmissionStatus.REFUSED
    assert ann.notes[0].startswith(f"The notebook {ONE} asks for the kernel ir; only Python is gr")
    ids = {"student": "ann", "assignment": ONE, "notebook": ONE}
    with pytest.raises(CannotJudge, match="asks for the kernel ir"):
        ExecuteChecks().preprocess(new_notebook(metadata={"kernelspec": R}), {"nbgrader": ids})


def test_assignment_of_several_notebooks_is_refused_by_name(room: Path) -> None:
    with stubs.gradebook(room) as book:
        book.add_notebook("extra", ONE)
    (ann, *_) = grade_class(room).results
    assert ann.status is SubmissionStatus.REFUSED
    assert ann.notes[0].startswith(f"The notebooks of {ONE} are {ONE}, extra; only an assignment")


# ------------------------------------------------------------------ points


def chapter(points: float) -> NotebookNode:
    check = {"grade_id": "check-after", "grade": True, "solution": False, "points": points}
    hidden = "\n### BEGIN HIDDEN TESTS\ncheck(after, hidden=True)\n### END HIDDEN TESTS"
    return new_notebook(
        cells=[
            new_markdown_cell("### Exercise 1.1 `after` · Next · ★ · 5 minutes · 6 points\n\nText"),
            new_markdown_cell("### Exercise 1.2 `half` · Half · ★ · 5 minutes · 1 point"),
            new_code_cell(f"check(after){hidden}", metadata={"nbgrader": check}),
        ]
    )


@pytest.mark.parametrize(
    ("points", "said"), [(10, "10 points"), (1, "1 point"), (2.5, "2.5 points")]
)
def test_points_of_a_class_are_in_heading_check_and_card(points: float, said: str) -> None:
    nb, _ = PointsOfClass().preprocess(chapter(points), {})
    heading, other, check = (cell.source for cell in nb.cells)
    assert heading == f"### Exercise 1.1 `after` · Next · ★ · 5 minutes · {said}\n\nText"
    assert other.endswith("1 point") and "check(after, hidden=True)" in check
    assert check.startswith(f"check(after, points={points:g})\n")
    again, _ = PointsOfClass().preprocess(nb, {})
    assert again == nb
    shares = (Share("one part", 1, held=True), Share("another", 1, held=False))
    findings = (Finding("wrong", "`after` is wrong here."),)
    show_verdicts(nb, EXERCISES, {2: Verdict("after", "failed", 0.5, findings, shares)})
    for text in nb.cells[2].outputs[0].data.values():
        assert f"Points: {points / 2:g} of {points:g}." in text


def test_points_of_the_course_change_nothing() -> None:
    nb, _ = PointsOfClass().preprocess(chapter(6), {})
    assert nb == chapter(6) or [c.source for c in nb.cells] == [c.source for c in chapter(6).cells]


def test_release_of_a_class_begins_with_it(room: Path) -> None:
    chain = api(room).config.GenerateAssignment.preprocessors
    assert chain[0] == "autograder.classroom.nbgrader_plugins.class_points.PointsOfClass"


@pytest.mark.parametrize("offered", [True, False])
def test_a_class_may_offer_no_solutions(offered: bool) -> None:
    text = "import torch\n\nfrom autograder import check, draw, hint\n"
    nb = new_notebook(cells=[new_code_cell("x = 1"), new_code_cell(text), new_code_cell(text)])
    nb, _ = SolutionsOfClass(offered=offered)(nb, {})
    line = "" if offered else "\ncheck.offer_solutions(False)"
    assert [cell.source for cell in nb.cells] == ["x = 1", text + line, text]
