"""An instructor grades in Formgrader, in Chromium; `fxcourse grade` keeps the manual grades."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from nbformat.v4 import new_markdown_cell

from autograder.builder.paths import ROOT
from autograder.classroom.setup.create import create
from autograder.sandbox.walls import why_no_box
from tests.browser.desk import CHROMIUM, SCREENSHOTS, TOKEN, Lab, served
from tests.support.numbers import numbers_room, numbers_syllabus
from tests.support.numbers.numbers_syllabus import CHAPTER
from tests.support.submissions.edits import edited, fill
from tests.support.submissions.room import hand_in, released

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"),
]

ESSAY = new_markdown_cell(
    "Your answer",
    metadata={
        "nbgrader": {
            "schema_version": 3, "grade_id": "essay", "grade": True, "solution": True,
            "locked": False, "task": False, "points": 3,
        }
    },
)  # fmt: skip
"""A question that a person grades."""

RIGHT = (
    fill("after", "def after(number):\n    return number + 1 if number >= 0 else number - 1"),
    fill("half", "def half(number):\n    return number / 2"),
    fill("essay", "Ann's essay."),
)
WRONG = (
    fill("after", "def after(number):\n    return number + 1"),
    fill("half", "def half(number):\n    return number"),
    fill("essay", "Bo's essay."),
)
COMMENT = "Say <b>why</b>, größer."
SETTINGS = """
c.ExecuteChecks.syllabus = {syllabus!r}
c.ExecuteChecks.proof = False
c.Exchange.root = {exchange!r}
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classroom in which one student has submitted right answers, and one wrong answers."""
    home = tmp_path_factory.mktemp("formgrader")
    chapter = numbers_room.chapter(home)
    chapter.cells.append(ESSAY)
    create(home / "class", {CHAPTER: chapter})
    (home / "exchange").mkdir(mode=0o777)
    (home / "exchange").chmod(0o777)
    with (home / "class" / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        names = {"syllabus": numbers_syllabus.__name__, "exchange": str(home / "exchange")}
        config.write(SETTINGS.format(**names))
    given = released(home / "class", CHAPTER)
    hand_in(home / "class", "ann", CHAPTER, edited(given, *RIGHT))
    hand_in(home / "class", "bo", CHAPTER, edited(given, *WRONG))
    folder = home / "class" / "submitted" / "ann" / CHAPTER  # like `nbgrader collect`
    (folder / "submission_secret.txt").write_text("1a2b", encoding="utf-8")
    (folder / "timestamp.txt").write_text("2026-11-02 09:00:00 UTC", encoding="utf-8")
    return home / "class"


@pytest.fixture(scope="module")
def desk(room: Path, page: Any) -> Iterator[Desk]:
    """Formgrader, opened from the menu of JupyterLab in the classroom, as in the README."""
    with (
        mock.patch.dict(os.environ, {"PYTHONPATH": str(ROOT)}),
        served(room.parent, room, "-m", "jupyter", "lab", at=room) as lab,
    ):
        yield Desk(page, lab)


class Desk:
    """Formgrader in a tab of JupyterLab, operated as an instructor does."""

    def __init__(self, page: Any, lab: Lab) -> None:
        self.page = page
        page.goto(f"{lab.address}/lab?token={TOKEN}&reset")
        page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
        page.get_by_role("menuitem", name="Formgrader", exact=True).click()
        self.frame = page.frame_locator("iframe").first

    def row(self, name: str) -> Any:
        """The row of a table for an assignment or a student."""
        return self.frame.locator("#main-table tr", has_text=name)

    def press(self, row: str, button: str) -> str:
        """Press a button of a row, wait for the message and close it; return its text."""
        self.row(row).locator(f".{button} a").click()
        modal = self.frame.locator(".modal.in")
        modal.wait_for()
        said = str(modal.inner_text())
        modal.locator(".modal-footer button").click()
        modal.wait_for(state="detached")
        return said

    def open(self, *ends: str) -> None:
        """Follow links by the ends of their addresses, one page after the other."""
        for end in ends:
            self.frame.locator(f'a[href$="/formgrader/{end}"]').first.click()

    def submissions(self) -> None:
        """Open the list of submissions again."""
        self.open("gradebook", "manage_assignments", f"manage_submissions/{CHAPTER}")
        self.row("bo").wait_for()

    def grading_page(self) -> None:
        """Open the only graded submission, under Manual Grading."""
        self.open("gradebook", f"gradebook/{CHAPTER}", f"gradebook/{CHAPTER}/{CHAPTER}")
        self.frame.get_by_role("link", name="Submission #1", exact=True).click()
        self.frame.locator("#essay").wait_for()

    def shows(self, student: str, status: str, score: str) -> None:
        """Check the row of a student in the list of submissions."""
        from playwright.sync_api import expect

        expect(self.row(student).locator(".status")).to_have_text(status)
        expect(self.row(student).locator(".score")).to_have_text(score)

    def write(self, field: str, text: str, kept_at: str) -> None:
        """Fill in a field of the manual grading page, and wait until the server has stored it."""
        with self.page.expect_response(
            lambda answer: kept_at in answer.url and answer.request.method == "PUT"
        ) as answer:
            self.frame.locator(field).fill(text)
            self.frame.locator(field).blur()
        assert answer.value.ok


def grade(room: Path) -> str:
    """Grade the class with `fxcourse grade`; return its output."""
    run = subprocess.run(
        [sys.executable, "-m", "autograder.cli", "grade", str(room)],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_a_class_is_graded_in_formgrader_and_by_our_command(desk: Desk, room: Path) -> None:
    assert desk.row(CHAPTER).locator(".num-submissions").inner_text() == "2"
    assert "Successfully released" in desk.press(CHAPTER, "release")
    desk.submissions()
    desk.shows("bo", "needs autograding", "")
    assert "Successfully autograded" in desk.press("bo", "autograde")
    desk.shows("bo", "needs manual grading", "4 / 12")
    desk.shows("ann", "needs autograding", "")
    grade_by_hand(desk)
    desk.submissions()
    desk.shows("bo", "graded", "6.5 / 12")

    said = grade(room)
    assert "2 graded" in said and "1 waits for a person, with 1 answer" in said, said
    desk.submissions()
    desk.shows("bo", "graded", "6.5 / 12")
    desk.shows("ann", "needs manual grading", "9 / 12")
    feedback(desk, room)


def grade_by_hand(desk: Desk) -> None:
    """Give points and a comment for the essay in the only graded submission."""
    from playwright.sync_api import expect

    desk.grading_page()
    points, comment = map(desk.frame.locator, ("#essay", "#essay-comment"))
    expect(points).to_have_class(re.compile("needs_manual_grade"))
    expect(desk.frame.locator("#check-after")).to_have_attribute("placeholder", "4")
    assert "Bo's essay." in desk.frame.locator("body").inner_text()
    desk.write("#essay", "2.5", "/api/grade/")
    desk.write("#essay-comment", COMMENT, "/api/comment/")
    desk.page.screenshot(path=SCREENSHOTS / "formgrader_grading.png")
    desk.grading_page()
    expect(points).to_have_value("2.5")
    expect(comment).to_have_value(COMMENT)
    expect(points).not_to_have_class(re.compile("needs_manual_grade"))


def feedback(desk: Desk, room: Path) -> None:
    """Make and release the pages: ann has submitted through the exchange, bo has not."""
    for student in ("bo", "ann"):
        assert "Successfully generated feedback" in desk.press(student, "generate-feedback")
    said = desk.press("bo", "release-feedback")
    assert "was not handed in through the exchange: bo. Give these students the pages" in said
    desk.open("manage_assignments")
    said = desk.press(CHAPTER, "release-feedback")
    assert "Successfully released" in said and "through the exchange: bo. " in said, said
    pages = {name: room / "feedback" / name / CHAPTER / f"{CHAPTER}.html" for name in ("ann", "bo")}
    (released_page,) = (room.parent / "exchange" / "class" / "feedback").iterdir()
    assert released_page.read_bytes() == pages["ann"].read_bytes()
    assert released_page.stat().st_mode & 0o004, "students can read it"
    desk.page.goto(pages["bo"].as_uri())
    text = re.sub(r"\s+", " ", desk.page.locator("body").inner_text())
    assert "bo 6.5 of 12 points Exercise" in text, text
    assert "essay 2.5 of 3 points A comment on your answer " + COMMENT in text, text
    assert "after ✗ Not right 4 of 6" in text and "Waits for a person" not in text, text
    desk.page.screenshot(path=SCREENSHOTS / "formgrader_feedback.png")
