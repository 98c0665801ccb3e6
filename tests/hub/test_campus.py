"""A class on a real JupyterHub, from the folder that `fxcourse classroom hub` writes.

Two students fetch, answer, check, validate and submit a chapter in Chromium. The instructor
collects, grades and releases feedback in a terminal of their own server, and a student reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

from tests.browser.desk import Notebook
from tests.hub.campus import NEEDED, fxcourse, make_environment, running_hub, solutions_of
from tests.hub.people import RUN_MS, Person, browsers, wait_until
from tests.support.submissions.room import points

COURSE, CHAPTER, LOST = "fx101", "03_manipulation", 3
CLASS = f"users/prof/{COURSE}"
"""The class, in the home folder of the instructor's server: Formgrader requires that."""

TOTAL = 18
"""The chapter's points."""

pytestmark = NEEDED


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an exchange, the Hub's folder with environments, and an instructor's class."""
    home = tmp_path_factory.mktemp("campus")
    fxcourse("classroom", "create", home / CLASS, "--chapters", "03")
    (home / "exchange").mkdir()
    (home / "exchange").chmod(0o777)
    fxcourse(
        "classroom", "hub", home / CLASS, "--to", home / "hub", "--exchange", home / "exchange",
        "--instructor", "prof",
    )  # fmt: skip
    for role in ("student", "instructor"):
        make_environment(home / "hub" / role)
    return home


@pytest.fixture(scope="module")
def log_in(home: Path) -> Iterator[Callable[[str], Person]]:
    """Logs a person in, with a browser of their own."""
    with (
        running_hub(home, home / "hub", COURSE) as address,
        browsers(address, home / "users") as enter,
    ):
        yield enter


def test_a_class_from_the_first_login_to_feedback(
    home: Path, log_in: Callable[[str], Person]
) -> None:
    prof = log_in("prof")
    prof.open_terminal()
    said = prof.type("fxcourse", "doctor", "--hub")
    assert "The Hub and this server of prof have version" in said, said
    assert f"Its id is {COURSE}" in said and f"It is in {home / CLASS}" in said, said
    assert "Submissions are graded in a sandbox" in said and "BROKEN" not in said, said
    (home / "students.csv").write_text("id,first_name,last_name\nann,Ann,A\nbo,Bo,B\n")
    prof.type("fxcourse", "classroom", "roster", str(home / CLASS), str(home / "students.csv"))
    prof.type("nbgrader", "release_assignment", CHAPTER)

    for name, lost in (("ann", 0), ("bo", LOST)):
        student = log_in(name)
        assert student.menu("Nbgrader") == ["Assignment List"]
        student.page.keyboard.press("Escape")
        fetch(student)
        answer(student, lost)
        validate(student, lost)
        submit(student)
        if name == "ann":
            student.open_terminal()
            said = student.type("fxcourse", "doctor", "--hub")
            assert "This is a student's server" in said and "BROKEN" not in said, said
            ann = student

    prof.type("nbgrader", "collect", CHAPTER)
    assert files(home / CLASS / "submitted" / "ann") >= {f"{CHAPTER}.ipynb", "timestamp.txt"}
    said = prof.type("fxcourse", "grade", str(home / CLASS))
    prof.shot("grade")
    assert "2 graded" in said, said
    modes = {path.stat().st_mode & 0o777 for path in (home / CLASS / "submitted").glob("*/*")}
    assert modes == {0o700}
    scores = {
        student: sum(all_of.values()) for student, all_of in points(home / CLASS, CHAPTER).items()
    }
    assert scores["ann"] == TOTAL and 0 < scores["bo"] < TOTAL, scores
    formgrader(prof)
    prof.open_terminal()
    prof.type("nbgrader", "generate_feedback", CHAPTER)
    prof.type("nbgrader", "release_feedback", CHAPTER)
    read_feedback(ann)


def files(folder: Path) -> set[str]:
    """The names of all files below a folder."""
    return {path.name for path in folder.rglob("*") if path.is_file()}


def fetch(student: Person) -> None:
    """Fetch the chapter with nbgrader's list."""
    student.assignments()
    student.page.locator("#released_assignments_list .list_item").first.wait_for()
    student.shot(f"{student.name}_assignments")
    student.press("released", "Fetch")
    wait_until(lambda: (student.home / CHAPTER / f"{CHAPTER}.ipynb").exists())


def answer(student: Person, lost: int) -> None:
    """Write the answers, except the last ones, run everything, and read the cards."""
    path = student.home / CHAPTER / f"{CHAPTER}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    solved = solutions_of(CHAPTER)
    open_cells = [
        c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") in solved
    ]
    for cell in open_cells[: len(open_cells) - lost]:
        cell.source = solved[cell.metadata.nbgrader.grade_id]
    nbformat.write(notebook, path)
    page = student.page
    page.goto(student.url(f"lab/tree/{CHAPTER}/{CHAPTER}.ipynb?reset"))
    desk = Notebook.opened(page)
    desk.start_all()
    page.wait_for_function(
        "() => { const prompts = [...document.querySelectorAll('.jp-InputPrompt')]"
        ".map(prompt => prompt.textContent);"
        " return prompts.some(text => /\\d/.test(text))"
        " && !prompts.some(text => text.includes('*')); }",
        timeout=RUN_MS,
    )
    checks = desk.panel.locator(".jp-CodeCell", has_text=re.compile(r"\bcheck\("))
    texts = [desk.output(checks.nth(number)) for number in range(checks.count())]
    passed = [text for text in texts if "Passed" in text or "passed" in text]
    checks.first.scroll_into_view_if_needed()
    student.shot(f"{student.name}_card")
    assert len(passed) == len(open_cells) - lost, texts


def validate(student: Person, lost: int) -> None:
    """Press nbgrader's button, which saves the notebook, and read its dialog."""
    page = student.page
    page.locator("jp-button.validate-button").click()
    dialog = page.locator(".nbgrader-ErrorDialog, .nbgrader-SuccessDialog")
    dialog.wait_for(timeout=RUN_MS)
    student.shot(f"{student.name}_validate")
    text = dialog.inner_text()
    if lost:
        assert "not attempted" in text, text
    else:
        assert "passes all the tests" in text, text
    dialog.locator("button.jp-mod-accept").click()


def submit(student: Person) -> None:
    """Submit with nbgrader's list."""
    student.assignments()
    student.page.locator("#fetched_assignments_list .list_item").first.wait_for()
    student.press("fetched", "Submit")
    student.page.locator("#submitted_assignments_list .list_item").first.wait_for()
    student.shot(f"{student.name}_submitted")


def formgrader(prof: Person) -> None:
    """Open Formgrader at its own address, which the page tells."""
    prof.page.goto(prof.url("formgrader"))
    row = prof.page.locator("#main-table tr", has_text=CHAPTER)
    row.wait_for()
    prof.shot("formgrader")
    assert row.locator(".num-submissions").inner_text() == "2"


def read_feedback(student: Person) -> None:
    """Fetch the feedback with nbgrader's list, and read the page."""
    student.assignments()
    student.press("submitted", "Fetch Feedback")
    pages = student.home / CHAPTER / "feedback"
    wait_until(lambda: list(pages.rglob("*.html")))
    (page,) = pages.rglob("*.html")
    student.page.goto(page.as_uri())
    student.shot("feedback")
    text = re.sub(r"\s+", " ", student.page.locator("body").inner_text())
    assert f"{TOTAL} of {TOTAL} points" in text, text
