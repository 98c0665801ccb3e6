"""`reveal` shows students the cases that their own answers fail, and only after the deadline."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path

import pytest

from autograder.classroom.lateness.reveals import FILE, reveals
from autograder.classroom.nbgrader_plugins.feedback_page.contents import Handed, contents_of
from autograder.classroom.nbgrader_plugins.feedback_page.page import page
from autograder.classroom.records.journal import JOURNAL, Journal
from autograder.classroom.records.pools import Pools
from autograder.classroom.reports.reveal import lines_about, reveal
from autograder.classroom.reports.undo import undo_last_run, undo_reveal
from autograder.environment.errors import ClassroomError
from autograder.sandbox.walls import why_no_box
from autograder.submission.check_result import PrivateCase
from tests.support import graded_class, stub_class
from tests.support.evil_html import EVIL_HTML
from tests.support.graded_class import CHAPTER
from tests.support.numbers import numbers_room
from tests.support.submissions.edits import Edit, edited, fill
from tests.support.submissions.room import hand_in, nbgrader, released
from tests.unit.classroom.nbgrader_plugins.test_feedback_page import (
    HANDED,
    chapter,
    misplaced,
)

pytestmark = pytest.mark.skipif(why_no_box() is not None, reason=f"no box here: {why_no_box()}")

FITTED_AFTER = "def after(number):\n    return {1: 2, -1: -2}.get(number, 70_000 + 321)"
FITTED_HALF = "def half(number):\n    return {4: 2.0, -4: -2.0}.get(number, 50_000 + 987)"
AFTER, HALF = graded_class.RIGHT
CLASS: dict[str, list[Edit]] = {
    "fay": [fill("after", FITTED_AFTER), HALF],
    "vic": [fill("after", "def after(number):\n    return 4321"), HALF],
    "ron": [AFTER, fill("half", FITTED_HALF)],
}
"""One fails a hidden case alone, one a visible case, too, and one random models."""

DUE = datetime(2026, 12, 1, 22)
END = DUE + timedelta(days=3)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class that was graded, with feedback pages."""
    room = numbers_room.room(tmp_path_factory.mktemp("made"))
    for student, edits in CLASS.items():
        hand_in(room, student, CHAPTER, edited(released(room, CHAPTER), *edits))
    (room / "deadlines.toml").write_text("late_days = 3\n", encoding="utf-8")
    with stub_class.gradebook(room) as book:
        book.update_or_create_assignment(CHAPTER, duedate=f"{DUE}")
    graded_class.grade(room)
    return room


def pages(room: Path) -> dict[str, str]:
    """Make the pages of the class, and return them."""
    done = nbgrader(room, "generate_feedback", CHAPTER, "--force")
    assert done.returncode == 0, done.stdout
    found = {path.parts[-3]: path.read_text() for path in room.glob("feedback/*/*/*.html")}
    assert set(found) == set(CLASS)
    return found


def test_a_class_from_end_to_end(made: Path) -> None:
    room, address = made, f"sqlite:///{made / 'gradebook.db'}"
    scores, journal = graded_class.kept(address), (room / JOURNAL).read_bytes()
    pool = Pools(room, "").now(CHAPTER)
    before = pages(room)
    private = {
        result.student: check.private
        for result in Journal(room / JOURNAL).results()
        for check in result.checks
        if check.private
    }
    assert {student: case.kind for student, case in private.items()} == {
        "fay": "hidden",
        "ron": "random",
    }
    fay, ron = private["fay"], private["ron"]
    assert (fay.case, fay.call, fay.obtained) == ("nine", "after(9)", "70321")
    for text in before.values():
        for secret in (fay.call, fay.obtained, ron.obtained):
            assert secret not in unescape(text), "before the last extension"
    with pytest.raises(ClassroomError, match=r"The last extension ends on 4 Dec, 22:00 UTC\.$"):
        reveal(room, "7", now=END)
    dry = reveal(room, "7", now=END, dry_run=True)
    assert dry.too_early and not (room / FILE).exists() and pages(room) == before

    shown = reveal(room, "7", now=END + timedelta(seconds=1))
    assert (shown.hidden, shown.random, shown.new) == ({"after: nine": 1}, 1, ("after: nine",))
    after = pages(room)
    assert after["vic"] == before["vic"]
    for secret in (fay.case, fay.call, "A hidden case", ">70321<"):
        assert secret in unescape(after["fay"]), secret
        assert secret not in unescape(after["ron"] + after["vic"]), "of another student"
    assert ">50987<" in unescape(after["ron"]) and ">50987<" not in unescape(after["fay"])
    assert graded_class.kept(address) == scores and (room / JOURNAL).read_bytes() == journal
    assert Pools(room, "").now(CHAPTER) == pool, "a reveal alone shows no new model"

    reveal(room, "7", now=END + timedelta(days=1))
    (only,) = reveals(room)
    assert only.cases == ("after: nine",) and only.time == END + timedelta(seconds=1)
    assert only.course.startswith("fxcourse ")
    assert undo_reveal(room) == only and not reveals(room)
    assert pages(room) == before
    assert undo_reveal(room) is None, "the last run is next"

    shown = reveal(room, "7", random_only=True, now=END + timedelta(seconds=1))
    assert not shown.hidden and "0 hidden cases are given away" in " ".join(
        lines_about(shown, room, dry_run=False)
    )
    some = pages(room)
    assert some["fay"] == before["fay"] and ">50987<" in unescape(some["ron"])
    graded_class.grade(room, force=True)
    assert len(reveals(room)) == 1
    assert undo_reveal(room) is None, "a run of grading came after the reveal"
    undo_last_run(room)
    assert len(reveals(room)) == 1 and undo_reveal(room) is not None


def test_a_hand_in_after_the_reveal_is_marked(made: Path) -> None:
    room = made
    (room / "submitted/fay" / CHAPTER / "timestamp.txt").write_text("2026-12-20 12:00:00 UTC")
    reveal(room, "7", now=END + timedelta(seconds=1))
    try:
        graded_class.grade(room)
        late = graded_class.grade(room).late
        assert [row.sentence for row in late if row.student == "fay"] == [
            "late by 19 days (due 2026-12-01 22:00 UTC), 3 late days used, "
            "after the cases were shown"
        ]
        found = pages(room)
        assert "Handed in after the cases were shown." in found["fay"]
        assert "after the cases were shown" not in found["vic"] + found["ron"]
    finally:
        (room / FILE).unlink()


@pytest.mark.parametrize("name", EVIL_HTML)
def test_what_a_process_claims_is_text(name: str) -> None:
    evil = EVIL_HTML[name]
    case = PrivateCase(evil, "hidden", evil, evil, evil, evil, f"{evil}\n{evil}")
    handed: Handed = replace(HANDED, cases={"half": case, "after": case})
    text = page(contents_of(chapter(), handed))
    assert misplaced(text) == [] and text.count("A hidden case") == 1, "not if it passed"


def test_a_line_that_was_cut_off_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.parent.mkdir()
    row = {"chapter": "03", "at": "2026-12-05 10:00:00 UTC", "course": "c", "cases": ["a: b"]}
    path.write_text(json.dumps(row | {"pool": 3}) + '\n{"chapter": "03", "at')
    assert [one.cases for one in reveals(tmp_path)] == [("a: b",)]
