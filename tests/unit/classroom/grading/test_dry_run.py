"""A grading run can be tried without effect, and the last one can be undone."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.classroom.records import gradebook_copy
from autograder.classroom.reports import undo
from autograder.classroom.reports.class_report.make import report
from autograder.cli.classroom import app
from autograder.environment.errors import ClassroomError
from tests.support import stub_class as stubs
from tests.support.stub_class import ONE, TWO, hand_in, scores

pytestmark = pytest.mark.filterwarnings(
    "ignore:Object of type.*:sqlalchemy.exc.SAWarning"  # from nbgrader
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    room = stubs.make(tmp_path_factory.mktemp("made") / "class")
    for student, points in {"ann": 6.0, "bo": 3.0}.items():
        hand_in(room, student, after=points, half=4.0)
    return room


def tree(room: Path) -> dict[str, bytes]:
    """All files of a classroom except our own bookkeeping, with the gradebook as SQL."""
    found = {
        path.relative_to(room).as_posix(): path.read_bytes()
        for path in room.rglob("*")
        if path.is_file()
        and "last_run" not in path.parts
        and path.name not in ("lock", "versions.json")
    }
    found.pop("gradebook.db")
    found["the gradebook"] = dump(room).encode()
    return {name: data for name, data in found.items() if data or "journal" not in name}


def dump(room: Path) -> str:
    with sqlite3.connect(room / "gradebook.db") as book:
        return "\n".join(book.iterdump())


def tried(room: Path, **options: object) -> dict[tuple[str, str], tuple[float | None, float, str]]:
    before = tree(room)
    summary = grade_class(room, GradingOptions(dry_run=True, **options))
    assert tree(room) == before, "it was only tried"
    return {(c.student, c.chapter): (c.before, c.after, c.why) for c in summary.changes}


def test_dry_run_says_whose_score_would_change_and_why(room: Path) -> None:
    assert tried(room) == {
        ("ann", ONE): (None, 10.0, "not graded before"),
        ("bo", ONE): (None, 7.0, "not graded before"),
    }
    grade_class(room)
    assert tried(room) == tried(room, force=True) == {}
    hand_in(room, "bo", after=6.0, half=2.0)
    hand_in(room, "ann", after=6.0, half=4.0, more="a remark")
    hand_in(room, "cy", TWO, twice=10.0, why=4.0)
    assert tried(room) == {
        ("bo", ONE): (7.0, 8.0, "changed: the notebook; after 3 -> 6; half 4 -> 2"),
        ("cy", TWO): (None, 14.0, "not graded before"),
    }
    assert tried(room, chapters=["02"]).keys() == {("cy", TWO)}
    (room / "deadlines.toml").write_text("percent_a_day = 50", encoding="utf-8")
    stubs.due(room, "2026-12-01 12:00:00")
    stubs.stamp(room, "ann", "2026-12-01 13:00:00")
    assert tried(room)["ann", ONE] == (
        10.0, 5.0, "changed: the notebook; off for being late 0 -> 5"
    )  # fmt: skip


def test_course_that_has_changed_is_named(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grade_class(room)
    monkeypatch.setattr("autograder.classroom.records.course_digest.code", lambda: "another")
    monkeypatch.setattr("autograder.classroom.records.journal.code", lambda: "another")
    monkeypatch.setitem(stubs.CELLS[ONE], "check-after", 6.0)
    hand_in(room, "bo", after=1.0, half=4.0)
    assert tried(room)["bo", ONE][2].startswith(
        "changed: the notebook, the course's code; after 3 -> 1"
    )


@pytest.mark.parametrize("by_rows", [False, True], ids=["a file", "row by row"])
def test_last_run_is_undone(room: Path, monkeypatch: pytest.MonkeyPatch, by_rows: bool) -> None:
    if by_rows:  # as for a gradebook on a server
        monkeypatch.setattr(gradebook_copy, "_file_of", lambda db_url: None)
    untouched = tree(room)
    grade_class(room)
    first = tree(room)
    hand_in(room, "bo", after=6.0, half=4.0)
    hand_in(room, "cy", after=6.0, half=4.0)
    handed_in = {name: data for name, data in tree(room).items() if name.startswith("submitted")}
    grade_class(room)
    assert scores(room) == {"ann": 10.0, "bo": 10.0, "cy": 10.0}
    grade_class(room)  # finds nothing new, and leaves the earlier run undoable
    _, count = undo.undo_last_run(room)
    assert count == 2
    assert tree(room) == first | handed_in
    with pytest.raises(ClassroomError, match="No run is kept"):
        undo.undo_last_run(room)
    assert {row.student for row in grade_class(room).results if row.in_this_run} == {"bo", "cy"}
    undo.undo_last_run(room)
    assert tree(room) == first | handed_in
    grade_class(room, GradingOptions(force=True))
    undo.undo_last_run(room)
    assert tree(room) == first | handed_in and untouched.keys() < first.keys()


def test_undo_writes_the_report_again_and_says_what_stays(room: Path) -> None:
    grade_class(room)
    hand_in(room, "bo", after=6.0, half=4.0)
    grade_class(room)
    report(room)
    assert "bo,,01_one,graded,10" in (room / "report" / "report.csv").read_text(encoding="utf-8")
    told = CliRunner().invoke(app, ["undo", str(room)]).output
    assert "The report was written again" in told and "still in submitted/" in told
    assert "bo,,01_one,graded,7" in (room / "report" / "report.csv").read_text(encoding="utf-8")


def test_a_run_that_moved_deadlines_alone_is_undone_too(room: Path) -> None:
    stubs.due(room, "2026-12-01 12:00:00")
    stubs.stamp(room, "ann", "2026-12-01 13:00:00")
    grade_class(room)
    before = dump(room)
    (room / "deadlines.toml").write_text("percent_a_day = 50", encoding="utf-8")
    grade_class(room)
    assert stubs.penalties(room)["ann"] == 5.0
    assert undo.undo_last_run(room)[1] == 0
    assert dump(room) == before


def test_run_into_another_gradebook_is_not_undone_in_this_one(room: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    shutil.copy(room / "gradebook.db", other)
    before = dump(room)
    grade_class(room, GradingOptions(db_url=f"sqlite:///{other}"))
    with pytest.raises(ClassroomError, match="wrote into another gradebook. Name it"):
        undo.undo_last_run(room, force=True)
    undo.undo_last_run(room, db_url=f"sqlite:///{other}")
    assert dump(room) == before and not list((room / "autograded").iterdir())


def test_full_disk_while_the_gradebook_is_copied_is_one_sentence(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("autograder.classroom.records.gradebook_copy.sqlite3.connect", full)
    with pytest.raises(ClassroomError, match="^The disk is full .*Make room"):
        grade_class(room)


def test_what_a_person_did_since_is_not_lost_unasked(room: Path) -> None:
    grade_class(room)
    before = dump(room)
    hand_in(room, "bo", after=6.0, half=4.0)
    grade_class(room)
    with stubs.gradebook(room) as book:
        book.find_grade("check-after", ONE, ONE, "bo").manual_score = 5.0
        book.db.commit()
    runner = CliRunner()
    said = runner.invoke(app, ["undo", str(room)])
    assert said.exit_code == 1 and "has changed since the last run" in " ".join(said.output.split())
    assert scores(room)["bo"] == 9.0
    said = runner.invoke(app, ["undo", str(room), "--force"])
    assert said.exit_code == 0 and "The gradebook and 1 notebook are restored." in said.output
    assert dump(room) == before


def test_undo_that_was_stopped_goes_on(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grade_class(room)
    first = tree(room)
    grade_class(room, GradingOptions(force=True))
    (room / "autograded" / "ann" / ONE / "left.txt").write_text("x", encoding="utf-8")

    class Stopped(BaseException):
        pass

    def stop(*words: object) -> None:
        raise Stopped

    with monkeypatch.context() as patch, pytest.raises(Stopped):
        patch.setattr("autograder.classroom.records.undo_log.restore", stop)
        undo.undo_last_run(room)
    undo.undo_last_run(room)
    assert tree(room) == first


def test_run_that_was_stopped_is_undone_only_when_asked_twice(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(room)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("autograder.classroom.records.journal.Journal.add", _interrupted)
        grade_class(room)
    with pytest.raises(ClassroomError, match="stopped before its end"):
        undo.undo_last_run(room)
    undo.undo_last_run(room, force=True)
    assert tree(room) == before


def _interrupted(*words: object) -> None:
    raise KeyboardInterrupt
