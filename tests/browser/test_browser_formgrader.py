"""An instructor grades a class in Formgrader, in Chromium; `fxcourse grade` keeps what was done."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from nbformat.v4 import new_markdown_cell

from autograder.builder.paths import ROOT
from autograder.classroom.create import create
from autograder.sandbox.probe import why_no_box
from tests.browser.desk import CHROMIUM, TOKEN, Lab, served
from tests.exam.submissions.edits import edited, fill
from tests.exam.submissions.room import hand_in, released
from tests.support import numbers_room, numbers_syllabus
from tests.support.numbers_room import CHAPTER

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
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
SETTINGS = """
c.ExecuteChecks.syllabus = {syllabus!r}
c.ExecuteChecks.proof = False
c.Exchange.root = {exchange!r}
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classroom in which one student has handed in what is right, and one what is not."""
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
    return home / "class"


@pytest.fixture(scope="module")
def desk(room: Path, page: Any) -> Iterator[Desk]:
    """Formgrader, opened as the README says: JupyterLab in the classroom, and its menu."""
    home = room.parent
    with (
        mock.patch.dict(os.environ, {"PYTHONPATH": str(ROOT)}),
        served(home, room, "-m", "jupyter", "lab", at=room) as lab,
    ):
        yield Desk(page, lab)


class Desk:
    """Formgrader in a tab of JupyterLab, used as an instructor uses it."""

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
        """Press a button of a row, wait for the message, close it; what it said."""
        self.row(row).locator(f".{button} a").click()
        modal = self.frame.locator(".modal.in")
        modal.wait_for()
        said = str(modal.inner_text())
        modal.locator(".modal-footer button").click()
        modal.wait_for(state="detached")
        return said

    def open(self, link: str) -> None:
        """Follow a link by its text."""
        self.frame.get_by_role("link", name=link, exact=True).first.click()


def test_formgrader(desk: Desk, room: Path) -> None:
    assert desk.row(CHAPTER).locator(".num-submissions").inner_text() == "2"
    desk.row(CHAPTER).locator(".num-submissions a").click()
    status = desk.row("bo").locator(".status")
    assert status.inner_text() == "needs autograding"
    said = desk.press("bo", "autograde")
    assert re.match("(?s)×\nSuccess.*Successfully autograded", said), said
    assert desk.row("bo").locator(".score").inner_text() == "4 / 12"
    assert desk.row("ann").locator(".status").inner_text() == "needs autograding"
