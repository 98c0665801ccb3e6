"""Formgrader on a class of thirty hostile submissions and two honest ones."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook

from autograder.builder.paths import ROOT
from autograder.classroom.setup.create import create
from autograder.sandbox.walls import why_no_box
from tests.browser.desk import CHROMIUM, SCREENSHOTS, served
from tests.browser.test_browser_formgrader import Desk, grade
from tests.hand_ins.test_one_student import SIGNS, hostile_tree
from tests.support.numbers import numbers_room, numbers_syllabus
from tests.support.numbers.numbers_syllabus import CHAPTER
from tests.support.submissions.edits import Edit, edited, fill
from tests.support.submissions.room import hand_in, released

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"),
]

RIGHT = (
    fill("after", "def after(number):\n    return number + 1 if number >= 0 else number - 1"),
    fill("half", "def half(number):\n    return number / 2"),
)
HONEST = ("anna", "zoe")
PAGE = "<html xmlns='http://www.w3.org/1999/xhtml'><script>document.title = 'RAN'</script></html>"
ENDINGS = ("xpdl", "svg", "html", "rdf", "csv")


def _links(nb: Any) -> None:
    text = " ".join(f"[the {ending}](data.{ending})" for ending in ENDINGS)
    nb.cells.append(new_markdown_cell(text))


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class: ids that are not valid names, trees of names, pages, a name that is a page."""
    home = tmp_path_factory.mktemp("hostile")
    create(home / "class", {CHAPTER: numbers_room.chapter(home)})
    room = home / "class"
    with (room / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(f"\nc.ExecuteChecks.syllabus = {numbers_syllabus.__name__!r}\n")
        config.write("c.ExecuteChecks.proof = False\n")
    given = released(room, CHAPTER)
    edits: tuple[Edit, ...] = RIGHT
    for student in (*HONEST, *SIGNS, *(f"tree{seed}" for seed in range(20)), "named", "pages"):
        own = (*edits, _links) if student == "pages" else edits
        hand_in(room, student, CHAPTER, edited(given, *own))
    for seed in range(20):
        for path in hostile_tree(Random(seed)):
            if path.startswith("timestamp.txt"):
                continue  # nbgrader's own list of submissions fails then
            place = room / "submitted" / f"tree{seed}" / CHAPTER / path
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(PAGE, encoding="utf-8")
            except OSError:
                continue  # a file where another path has a folder
    for ending in ENDINGS:
        place = room / "submitted" / "pages" / CHAPTER / f"data.{ending}"
        place.write_text(PAGE, encoding="utf-8")
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as book:
        evil = "<img src=x onerror=\"document.title='RAN'\">"
        book.update_or_create_student("named", first_name=evil, last_name=evil)
    return room


@pytest.fixture(scope="module")
def desk(room: Path, page: Any) -> Iterator[Desk]:
    """Formgrader, opened after the class was graded."""
    said = grade(room)
    assert said.count("refused") >= len(SIGNS)
    with (
        mock.patch.dict(os.environ, {"PYTHONPATH": str(ROOT)}),
        served(room.parent, room, "-m", "jupyter", "lab", at=room) as lab,
    ):
        yield Desk(page, lab)


def nothing_ran(page: Any) -> bool:
    """Whether no student's script has changed a title, in any page or frame."""
    return all("RAN" not in frame.title() for frame in page.frames)


def test_both_honest_students_have_their_points_and_their_pages(desk: Desk, room: Path) -> None:
    desk.open("gradebook", "manage_assignments", f"manage_submissions/{CHAPTER}")
    desk.row("zoe").wait_for()
    for student in HONEST:
        desk.shows(student, "graded", "9 / 9")
    desk.page.screenshot(path=SCREENSHOTS / "hostile_submissions.png")
    desk.open("manage_students")
    desk.row("zoe").wait_for()
    assert nothing_ran(desk.page)
    desk.row("named").get_by_role("link").first.click()
    desk.row(CHAPTER).wait_for()
    assert nothing_ran(desk.page)
    run = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_feedback", CHAPTER],
        cwd=room, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    for student in HONEST:
        page = (room / "feedback" / student / CHAPTER / f"{CHAPTER}.html").read_text("utf-8")
        assert "9 of 9 points" in re.sub(r"<[^>]+>|\s+", " ", page).replace("  ", " ")


def test_no_file_of_a_student_runs_in_the_instructors_browser(desk: Desk, room: Path) -> None:
    folder = room / "autograded" / "pages" / CHAPTER
    assert {path.name for path in folder.iterdir()} == {
        f"{CHAPTER}.ipynb", "data.csv", *(f"data.{ending}.txt" for ending in ENDINGS[:-1])
    }  # fmt: skip
    desk.open("gradebook", f"gradebook/{CHAPTER}", f"gradebook/{CHAPTER}/{CHAPTER}")
    submissions = desk.frame.get_by_role("link", name=re.compile(r"^Submission #\d+$"))
    submissions.first.wait_for()
    seen = []
    for number in range(submissions.count()):
        submissions.nth(number).click()
        desk.frame.locator("#check-after").wait_for()
        seen += [link.get_attribute("href") for link in desk.frame.get_by_text("the csv").all()]
        assert nothing_ran(desk.page)
        desk.open("gradebook", f"gradebook/{CHAPTER}", f"gradebook/{CHAPTER}/{CHAPTER}")
        submissions.first.wait_for()
    assert [link for link in seen if link] == ["data.csv"]
