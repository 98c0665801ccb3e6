"""Several people grade one class on a JupyterHub: they share the server of an account.

Two of them comment on different students in Formgrader, while one grades in a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.hub.campus import NEEDED, fxcourse, make_environment, running_hub, solutions_of
from tests.hub.people import Person, browsers
from tests.support.submissions.edits import edited, fill
from tests.support.submissions.room import hand_in, points, released

COURSE, CHAPTER, ACCOUNT = "fx101", "03_manipulation", "fx101-staff"
ANSWER = "add_to_mul"

pytestmark = NEEDED


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Hub's folder with environments, and a class with two hand-ins in the account's home."""
    home = tmp_path_factory.mktemp("graders")
    room = home / "users" / ACCOUNT / COURSE
    fxcourse("classroom", "create", room, "--chapters", "03")
    given = released(room, CHAPTER)
    hand_in(room, "ann", CHAPTER, edited(given, fill(ANSWER, solutions_of(CHAPTER)[ANSWER])))
    hand_in(room, "bo", CHAPTER, given)
    (home / "exchange").mkdir()
    fxcourse(
        "classroom", "hub", room, "--to", home / "hub", "--exchange", home / "exchange",
        "--instructor", "kim", "--instructor", "lee", "--account", ACCOUNT,
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


def test_two_people_grade_at_once(home: Path, log_in: Callable[[str], Person]) -> None:
    room = home / "users" / ACCOUNT / COURSE
    kim = log_in("kim").on_server_of(ACCOUNT)
    kim.open_terminal()
    said = kim.type("fxcourse", "doctor", "--hub")
    assert f"It is in {room}" in said and "BROKEN" not in said, said
    assert "2 graded" in kim.type("fxcourse", "grade", str(room))
    before = points(room, CHAPTER)
    assert before["ann"][ANSWER] and not before["bo"][ANSWER], before

    lee = log_in("lee").on_server_of(ACCOUNT)
    comment(lee, 1, "lee was here")
    comment(kim, 2, "kim was here")
    kim.shot("graders")
    comment(lee, 2, "kim was here, and lee")
    kim.open_terminal()
    assert "2 graded" in kim.type("fxcourse", "grade", str(room), "--force")
    assert points(room, CHAPTER) == before
    assert comments(room) == {"lee was here", "kim was here, and lee"}

    ann = log_in("ann")
    for path in (f"hub/spawn/{ACCOUNT}", f"user/{ACCOUNT}/lab", f"user/{ACCOUNT}/formgrader"):
        answer = ann.page.goto(f"{ann.address}/{path}")
        assert answer.status in (403, 404), path


def comment(grader: Person, number: int, text: str) -> None:
    """Write a comment on the answer of one of the submissions, on Formgrader's page."""
    grader.page.goto(grader.url(f"formgrader/gradebook/{CHAPTER}/{CHAPTER}"))
    grader.page.get_by_role("link", name=f"Submission #{number}", exact=True).click()
    field = grader.page.locator(f"#{ANSWER}-comment")
    field.wait_for()
    grader.page.wait_for_load_state("networkidle")  # it has read the comments of the page
    with grader.page.expect_response(
        lambda answer: "/api/comment/" in answer.url and answer.request.method == "PUT"
    ) as answer:
        field.fill(text)
        field.blur()
    assert answer.value.ok


def comments(room: Path) -> set[str]:
    """The comments of people on the answers."""
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as gradebook:
        return {
            comment.manual_comment
            for submission in gradebook.assignment_submissions(CHAPTER)
            for notebook in submission.notebooks
            for comment in notebook.comments
            if comment.manual_comment
        }
