"""Work that waits for a person, the versions of a class, and erasing a student."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from autograder.classroom.grading.grade_class import GradingOptions, Listener, Summary, grade_class
from autograder.classroom.records import versions
from autograder.classroom.records.gradebook_writer import GradebookWriter
from autograder.classroom.records.journal import JOURNAL, Journal
from autograder.classroom.reports import undo
from autograder.classroom.reports.class_report.make import report
from autograder.cli.classroom import app
from autograder.cli.grading_progress import print_summary
from autograder.submission.check_result import CheckResult, are_checks
from tests.support import stub_class as stubs
from tests.support.stub_class import ONE, TWO, WRITTEN, hand_in, scores

pytestmark = pytest.mark.filterwarnings(
    "ignore:Object of type.*:sqlalchemy.exc.SAWarning"  # from nbgrader
)
MISS = "Jürgen Müller"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    room = stubs.make(tmp_path_factory.mktemp("made") / "class")
    for student in ("ann", MISS):
        hand_in(room, student, after=3.0, half=4.0)
        hand_in(room, student, TWO, twice=10.0)
    return room


def said(summary: Summary) -> str:
    console = Console(record=True, width=300, soft_wrap=True)
    print_summary(summary, console)
    return console.export_text()


def by_hand(room: Path, points: float, chapter: str = ONE, cell: str = "check-after") -> None:
    with stubs.gradebook(room) as book:
        grade = book.find_grade(cell, chapter, chapter, "ann")
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


def asked(*words: str, answer: str | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(words), input=answer)
    return done.exit_code, done.output


def test_written_answers_that_wait_are_counted(room: Path) -> None:
    summary = grade_class(room)
    assert summary.waiting == {TWO: (2, 2)}
    assert f"{TWO}: 2 wait for a person, with 2 answers." in said(summary)
    by_hand(room, 4.0, TWO, WRITTEN)
    assert grade_class(room).waiting == {TWO: (1, 1)}
    assert grade_class(room, GradingOptions(chapters=["01"])).waiting == {}


def test_new_answer_under_points_given_by_hand_is_shown_and_waits(room: Path) -> None:
    grade_class(room)
    by_hand(room, 2.5)
    assert grade_class(room).again == ()
    hand_in(room, "ann", after=6.0, half=4.0, more="a better one")
    summary = grade_class(room)
    line = f"ann, {ONE}, after: 2.5 of 6 by hand stay; the new answer earns 6."
    assert [one.line() for one in summary.again] == [line]
    assert summary.waiting[ONE] == (1, 1)
    assert line in said(summary) and scores(room)["ann"] == 6.5
    assert [one.line() for one in grade_class(room).again] == [line], "until somebody has looked"
    _, text = asked("waiting", str(room))
    assert text.index("check-after  # \n") < text.index("check-after  # a better one")
    by_hand(room, 6.0)
    assert grade_class(room).again == ()
    assert asked("waiting", str(room))[1].startswith("Nothing that was graded by hand was")


def test_answer_that_cannot_be_followed_is_named_until_a_person_gave_points(room: Path) -> None:
    result = next(one for one in grade_class(room).results if one.student == "ann")
    check = CheckResult("after", "passed", 1.0, unread=("compile", "sys.modules"))
    kept = check.to_json()
    assert are_checks([kept]) and CheckResult.from_json(kept) == check
    Journal(room / JOURNAL).add(replace(result, checks=(check,)), "a digest")
    said = check.not_followed()
    assert said.endswith("(compile, sys.modules). A person may want to look.")
    assert f"ann, {result.chapter}: {said}" in asked("waiting", str(room))[1].replace("\n", " ")
    assert said in report(room).read_text(encoding="utf-8")
    by_hand(room, 5.0, result.chapter)
    assert "compile" not in asked("waiting", str(room))[1]


def test_same_answer_with_other_points_says_so_and_undo_takes_it_back(room: Path) -> None:
    grade_class(room)
    by_hand(room, 2.5)
    hand_in(room, "ann", after=6.0, half=4.0)
    (one,) = grade_class(room).again
    assert one.line().endswith("the new answer earns 6. The answer is unchanged.")
    undo.undo_last_run(room)
    assert grade_class(room, GradingOptions(dry_run=True)).again == ()


def test_same_work_with_the_same_points_does_not_wait_again(room: Path) -> None:
    hand_in(room, "ann", TWO, twice=10.0, **{WRITTEN: None})
    grade_class(room)
    by_hand(room, 2.5)
    by_hand(room, 4.0, TWO, WRITTEN)
    summary = grade_class(room, GradingOptions(force=True))
    assert (summary.again, summary.waiting) == ((), {TWO: (1, 1)})  # the other student's
    assert scores(room)["ann"] == 6.5 and scores(room, TWO)["ann"] == 14.0
    (room / "submitted" / "ann" / ONE / "helper.py").write_text("one = 1", encoding="utf-8")
    assert len(grade_class(room).again) == 1, "a file beside the notebook is new"


def test_what_was_handed_in_again_waits_until_somebody_has_looked(room: Path) -> None:
    grade_class(room)
    by_hand(room, 2.5)
    hand_in(room, "ann", after=3.0, half=4.0, more="another one")
    assert len(grade_class(room).again) == 1
    assert len(grade_class(room, GradingOptions(force=True)).again) == 1, (
        "it is graded once more: nobody looked"
    )


def test_run_that_was_stopped_while_it_wrote_forgets_nothing(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new notebook is already in the folder, as if a person had seen it."""
    grade_class(room)
    by_hand(room, 2.5)
    hand_in(room, "ann", after=3.0, half=4.0, more="another one")

    def stop(*words: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped, pytest.raises(KeyboardInterrupt):
        stopped.setattr(GradebookWriter, "_write_grades", stop)
        grade_class(room)
    assert len(grade_class(room).again) == 1


# ------------------------------------------------------------------ versions


def test_versions_that_differ_are_said_before_anything_is_graded(room: Path) -> None:
    told: list[str] = []
    grade_class(room, listener=Listener(warn=told.append))
    assert told == [] and versions.is_pinned(room)
    path = room / versions.FILE
    kept = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(kept | {"torch": "2.0.0", versions.CHECKS: "abc"}), encoding="utf-8")
    grade_class(room, listener=Listener(warn=told.append))
    assert told == [
        f"This class was made with torch 2.0.0; here it is {kept['torch']}.",
        "The course's checks changed since this class was made "
        f"(abc, now {kept[versions.CHECKS]}).",
        versions.PIN,
    ]
    code, text = asked("pin", str(room))
    assert code == 0 and f"torch: {kept['torch']}" in text
    told.clear()
    grade_class(room, listener=Listener(warn=told.append))
    assert told == []


# ------------------------------------------------------------------ erasing


def names_in(room: Path, name: str) -> list[str]:
    """The paths that contain a name, or whose bytes contain it as text or JSON."""
    texts = {name.encode(), json.dumps(name)[1:-1].encode()}
    return [
        path.relative_to(room).as_posix()
        for path in sorted(room.rglob("*"))
        if name in path.name
        or (path.is_file() and any(text in path.read_bytes() for text in texts))
    ]


def test_student_is_erased_everywhere_and_the_others_stay(room: Path) -> None:
    grade_class(room)
    hand_in(room, MISS, after=6.0, half=4.0)
    grade_class(room)
    (room / "feedback" / MISS / ONE).mkdir(parents=True)
    (room / "grades.csv").write_text(f"student\n{MISS}\n", encoding="utf-8")
    before = scores(room)["ann"]
    code, text = asked("forget", str(room), MISS, answer="n\n")
    assert code == 1 and MISS in scores(room)
    assert f"name, grades and comments ({ONE}, {TWO})." in text
    for folder in ("submitted", "autograded", "feedback"):
        assert f"The folder {room / folder / MISS}, with all" in text
    assert "journal.jsonl: 3." in text and "What the last run replaced" in text
    assert f"Not changed, although it seems to name the student: {room / 'grades.csv'}" in text
    code, text = asked("forget", str(room), MISS, "--yes")
    assert code == 0 and f"Erased: {MISS}." in text
    assert names_in(room, MISS) == ["grades.csv"]
    assert scores(room) == {"ann": before}
    assert not any(row.in_this_run for row in grade_class(room).results)
    (room / "grades.csv").unlink()
    assert f"nothing to erase about {MISS}" in asked("forget", str(room), MISS)[1]


def test_erasing_finds_earlier_work_kept_grades_and_exported_files(room: Path) -> None:
    grade_class(room)
    with stubs.gradebook(room) as book:
        book.update_or_create_student("ann", first_name="Ann", last_name="Lee", email="al@x.org")
    home, exported = room / ".fxcourse", room / "exported"
    (home / "older" / "ann" / ONE / "2026").mkdir(parents=True)
    (home / "left_out" / TWO).mkdir(parents=True)
    kept = {"submissions": [{"student": "ann"}, {"student": MISS}]}
    (home / "left_out" / TWO / "grades.json").write_text(json.dumps(kept), encoding="utf-8")
    record = {"student": "ann", "assignment": ONE, "platform": "moodle", "number": "70100"}
    (home / "collected.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    exported.mkdir()
    with zipfile.ZipFile(exported / "feedback.zip", "w") as archive:
        archive.writestr("x_70100_assignsubmission_file_/page.html", "")
    (exported / "sheet.csv").write_text("Identifier,Grade\nParticipant 70100,5\n")
    (exported / "names.csv").write_text('Last name,First name\n"Lee","Ann"\n')
    (exported / "mail.csv").write_text("mail\nAL@x.org\n")
    (exported / "others.csv").write_text("name\nAnnika Leeds\nJoanna,170100\n")
    text = asked("forget", str(room), "ann", "--yes")[1]
    listed = {line.rpartition("/exported/")[2] for line in text.splitlines() if "seems" in line}
    zipped = "feedback.zip: x_70100_assignsubmission_file_/page.html"
    assert listed == {zipped, "sheet.csv", "names.csv", "mail.csv"}
    assert f"The folder {home / 'older' / 'ann'}, with all" in text
    assert [path for path in names_in(home, "ann") if path != "last_run"] == []
    left = json.loads((home / "left_out" / TWO / "grades.json").read_text("utf-8"))
    assert left == {"submissions": [{"student": MISS}]}


@pytest.mark.parametrize("name", ["..", "a/b", ""])
def test_what_is_no_students_name_erases_nothing(room: Path, name: str) -> None:
    code, text = asked("forget", str(room), name, "--yes")
    assert code == 1 and "is not a student's name" in text
    assert (room / "submitted" / "ann").is_dir()
