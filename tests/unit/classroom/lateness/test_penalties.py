"""Each run computes penalties for late work again, and removes those that no longer apply."""

from __future__ import annotations

import csv
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from nbformat.v4 import new_notebook
from nbgrader.apps import NbGraderAPI
from rich.console import Console

from autograder.classroom.grading.grade_class import GradingOptions, Listener, grade_class
from autograder.classroom.nbgrader_plugins.export import SafeCsvExport
from autograder.classroom.nbgrader_plugins.lateness import AssignLateness
from autograder.classroom.reports.lateness_preview import preview
from autograder.classroom.room.nbgrader_api import api
from autograder.cli.grading_progress import print_summary
from autograder.environment.errors import ClassroomError
from tests.support import stub_class as stubs
from tests.support.stub_class import ONE, TWO, due, hand_in, penalties

pytestmark = pytest.mark.filterwarnings(
    "ignore:Object of type.*:sqlalchemy.exc.SAWarning"  # from nbgrader
)

DUE = "2026-12-01 22:00:00"
LATE = "2026-12-02 23:00:00 UTC"
PLUGIN = 'c.LateSubmissionPlugin.penalty_method = "zero"\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    room = stubs.make(tmp_path_factory.mktemp("made") / "class")
    hand_in(room, "ann", after=6.0, half=4.0, at=LATE)
    hand_in(room, "bo", after=6.0, half=2.0, at="2026-12-01 21:00:00")
    due(room, DUE)
    return room


def rules(room: Path, text: str) -> None:
    (room / "deadlines.toml").write_text(text, encoding="utf-8")


def graded_now(room: Path) -> set[str]:
    return {row.student for row in grade_class(room).results if row.in_this_run}


def test_penalty_comes_and_goes_and_nothing_is_graded_again(room: Path) -> None:
    assert graded_now(room) == {"ann", "bo"}
    assert penalties(room) == {"ann": 0.0, "bo": 0.0}
    steps = {
        "percent_a_day = 10": 2.0,
        "percent_a_day = 10\nlate_days = 1": 1.0,
        "percent_a_day = 10\n[students.ann]\nextensions = { 01 = 1 }": 1.0,
        "percent_a_day = 10\ngrace_minutes = 1500": 0.0,
        "percent_a_day = 100": 10.0,
    }
    for text, off in steps.items():
        rules(room, text)
        assert graded_now(room) == set()
        assert penalties(room) == {"ann": off, "bo": 0.0}, text
    due(room, "2026-12-31 22:00:00")
    assert graded_now(room) == set()
    assert penalties(room) == {"ann": 0.0, "bo": 0.0}
    due(room, "2026-11-01 22:00:00")
    assert graded_now(room) == set()
    assert penalties(room) == {"ann": 10.0, "bo": 8.0}
    due(room, None)
    assert graded_now(room) == set()
    assert penalties(room) == {"ann": 0.0, "bo": 0.0}


def test_corrected_timestamp_counts_without_a_new_grade(room: Path) -> None:
    rules(room, 'percent_a_day = 10\ntimezone = "Europe/Berlin"')
    grade_class(room)
    for text, off in (
        ("2026-12-01 22:00:00", 0.0),
        ("2026-12-01 23:30:00", 1.0),
        ("2026-12-01 22:30:00", 0.0),
        (LATE, 2.0),
        ("nonsense", 0.0),
    ):
        stubs.stamp(room, "ann", text)
        summary = grade_class(room)
        assert not any(row.in_this_run for row in summary.results)
        assert penalties(room)["ann"] == off, text
    (ann, _) = summary.results
    (note,) = ann.notes
    assert note.startswith("timestamp.txt does not hold a time; it counts as not late. Formgrader")
    stubs.stamp(room, "ann", LATE)
    assert grade_class(room).results[0].notes == ()
    assert penalties(room)["ann"] == 2.0
    (room / "submitted" / "ann" / ONE / "timestamp.txt").unlink()
    grade_class(room)
    assert penalties(room)["ann"] == 0.0
    assert not (room / "autograded" / "ann" / ONE / "timestamp.txt").exists()


def test_time_that_a_person_put_into_the_gradebook_stays(room: Path) -> None:
    (room / "submitted" / "ann" / ONE / "timestamp.txt").unlink()
    rules(room, "percent_a_day = 10")
    grade_class(room)
    with stubs.gradebook(room) as book:
        book.update_or_create_submission(ONE, "ann", timestamp=LATE)
    grade_class(room)
    assert penalties(room)["ann"] == 2.0


def test_points_that_a_person_gave_count_too(room: Path) -> None:
    rules(room, "percent_a_day = 10")
    grade_class(room)
    with stubs.gradebook(room) as book:
        grade = book.find_grade("check-after", ONE, ONE, "ann")
        grade.manual_score, grade.extra_credit = 1.0, 5.0
        book.db.commit()
    grade_class(room)
    assert penalties(room)["ann"] == 2.0


def test_extension_in_the_gradebook_and_late_days_over_chapters(room: Path) -> None:
    rules(room, "percent_a_day = 10\nlate_days = 3")
    due(room, "2026-12-10 22:00:00", TWO)
    hand_in(room, "ann", TWO, at="2026-12-12 23:00:00 UTC", twice=10.0)
    grade_class(room)
    assert (penalties(room)["ann"], penalties(room, TWO)["ann"]) == (0.0, 2.0)
    with stubs.gradebook(room) as book:
        book.find_submission(ONE, "ann").extension = timedelta(days=1)
        book.db.commit()
    grade_class(room, GradingOptions(chapters=["01"]))
    assert (penalties(room)["ann"], penalties(room, TWO)["ann"]) == (0.0, 1.0)
    stubs.stamp(room, "ann", "2026-12-01 21:00:00")
    grade_class(room, GradingOptions(chapters=["01"]))
    assert penalties(room, TWO)["ann"] == 0.0, "its late days are free again"


def test_plugin_of_nbgraders_goes_on_working(room: Path) -> None:
    config = room / "nbgrader_config.py"
    config.write_text(config.read_text(encoding="utf-8") + PLUGIN, encoding="utf-8")
    grade_class(room)
    assert penalties(room) == {"ann": 10.0, "bo": 0.0}
    rules(room, "late_days = 2")
    grade_class(room)
    assert penalties(room) == {"ann": 0.0, "bo": 0.0}
    rules(room, "percent_a_day = 5")
    with pytest.raises(ClassroomError, match="percent_a_day: nbgrader_config.py names a plugin"):
        grade_class(room)


OWN = """
from nbgrader.plugins import BasePlugin

class ByTheHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return {result}

c.AssignLatePenalties.plugin_class = ByTheHour
"""


@pytest.mark.parametrize(
    ("result", "off"),
    [("total_seconds_late / 36000", 9.0), ("-3", 0.0), ("99.0", 10.0), ("None", 0.0)],
)
def test_plugin_of_a_teachers_own(room: Path, result: str, off: float) -> None:
    stubs.stamp(room, "ann", "2026-12-05 16:00:00 UTC")  # 90 hours late
    config = room / "nbgrader_config.py"
    own = OWN.format(result=result)
    config.write_text(config.read_text(encoding="utf-8") + own, encoding="utf-8")
    summary = grade_class(room)
    assert penalties(room)["ann"] == off
    if off == 9.0:
        assert summary.late[0].sentence.endswith("9 points off by the class's own plugin")


def test_plugin_that_fails_is_named(room: Path) -> None:
    config = room / "nbgrader_config.py"
    own = OWN.format(result="1 / (student_id != 'ann')")
    config.write_text(config.read_text(encoding="utf-8") + own, encoding="utf-8")
    stubs.stamp(room, "ann", "2026-12-05 16:00:00 UTC")
    stubs.stamp(room, "bo", "2026-12-05 16:00:00 UTC")
    summary = grade_class(room)
    (said,) = [row.sentence for row in summary.late if row.student == "ann"]
    assert "late work, ByTheHour, failed for ann: ZeroDivision" in said
    assert penalties(room) == {"ann": 0.0, "bo": 1.0}


def test_wrong_deadlines_stop_a_run_before_anything_is_written(room: Path) -> None:
    rules(room, "grace = 5")
    with pytest.raises(ClassroomError, match="deadlines.toml, grace: no key. Write one of these"):
        grade_class(room)
    assert penalties(room) == {}
    with pytest.raises(ClassroomError, match="grace: no key"):
        preview(room)


def exported(room: Path) -> dict[str, dict[str, str]]:
    out = room / "grades.csv"
    with mock.patch.dict("os.environ"), stubs.gradebook(room) as book:
        SafeCsvExport(config=api(room).config, to=str(out)).export(book)
    with out.open(encoding="utf-8", newline="") as file:
        return {row["student_id"]: row for row in csv.DictReader(file) if row["assignment"] == ONE}


def test_summary_and_csv_say_it(room: Path) -> None:
    rules(room, "percent_a_day = 10\nlate_days = 1")
    console = Console(record=True, width=200, soft_wrap=True)
    print_summary(grade_class(room), console)
    text = console.export_text()
    sentence = "late by 2 days (due 2026-12-01 22:00 UTC), 1 late day used, 10 % off"
    assert "1 late, of which 1 loses points:" in text
    assert f"ann, {ONE}: {sentence}: -1 of 10 points" in text
    ann, bo = (exported(room)[name] for name in ("ann", "bo"))
    assert (ann["score"], ann["late_submission_penalty"], ann["late"]) == ("9.0", "1.0", sentence)
    assert (bo["score"], bo["late"]) == ("8.0", "")
    assert (bo["status"], bo["notes"]) == ("graded", "")
    rules(room, "percent_a_day = 20")
    with stubs.gradebook(room) as book:
        book.update_or_create_assignment(TWO, duedate="2026-11-01 12:00:00")
    exported(room)
    with (room / "grades.csv").open(encoding="utf-8", newline="") as file:
        chapters = [row["assignment"] for row in csv.DictReader(file)]
    assert chapters == sorted(chapters) and {ONE, TWO} == set(chapters)
    assert exported(room)["ann"]["score"] == "6.0", "an export works it out once more"
    assert penalties(room)["ann"] == 4.0


def test_preview_shows_what_would_be_and_writes_nothing(room: Path) -> None:
    grade_class(room)
    rules(room, "percent_a_day = 10")
    before = (room / "gradebook.db").read_bytes()
    console = Console(record=True, width=200)
    console.print(preview(room))
    text = console.export_text()
    assert "ann" in text and "20 % off" in text and "2 of 10" in text and "8" not in text
    assert "Other than in the gradebook: 1. 'fxcourse grade' writes it." in text
    assert (room / "gradebook.db").read_bytes() == before
    assert penalties(room)["ann"] == 0.0


def test_preview_shows_whom_an_extension_or_grace_has_saved(room: Path) -> None:
    told: list[str] = []
    rules(room, "grace_minutes = 90\n[students.bo]\nextensions = { all = 3 }\n[students.annn]")
    stubs.stamp(room, "ann", "2026-12-01 23:00:00 UTC")
    stubs.stamp(room, "bo", "2026-12-03 20:00:00 UTC")
    grade_class(room, listener=Listener(warn=told.append))
    assert [one.partition("toml, ")[2] for one in told] == [
        "students.annn: nobody in the class has this id. Did you mean ann?"
    ]
    console = Console(record=True, width=250)
    console.print(preview(room))
    text = console.export_text()
    due = "(due 2026-12-01 22:00 UTC)"
    assert f"late by 1 day {due}, grace 90 minutes, costs nothing" in text
    assert f"late by 2 days {due}, extension 3 days, costs nothing" in text
    assert "Did you mean ann?" in text
    assert exported(room)["bo"]["late"].endswith("extension 3 days, costs nothing")


def test_nbgraders_own_command_gives_the_same(room: Path) -> None:
    rules(room, 'percent_a_day = 10\ntimezone = "Europe/Berlin"')
    stubs.stamp(room, "ann", "2026-12-01 23:30:00")  # half an hour late in Berlin
    grade_class(room)
    with stubs.gradebook(room) as book:  # the submission, as nbgrader stores it
        book.update_or_create_submission(ONE, "ann", timestamp="2026-12-01 23:30:00")
        book.find_submission(ONE, "ann").notebooks[0].late_submission_penalty = None
        book.db.commit()
    nbgrader: NbGraderAPI = api(room)
    ids = {"student": "ann", "assignment": ONE, "notebook": ONE}
    ids["db_url"] = f"sqlite:///{room / 'gradebook.db'}"
    AssignLateness(config=nbgrader.config).preprocess(new_notebook(), {"nbgrader": ids})
    assert penalties(room)["ann"] == 1.0
    assert nbgrader.config.Autograde.autograde_preprocessors.count(
        "autograder.classroom.nbgrader_plugins.lateness.AssignLateness"
    )
