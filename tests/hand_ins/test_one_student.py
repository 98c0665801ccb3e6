"""A faulty submission affects only its student: the rest of the class is collected and graded."""

from __future__ import annotations

import errno
import mimetypes
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from random import Random

import pytest

from autograder.classroom.grading.grade_class import Listener, Summary, grade_class
from autograder.classroom.intake.attached_files import Names, as_shown
from autograder.classroom.lms.people import People
from autograder.classroom.records import gradebook_writer
from autograder.classroom.records.roster import Person
from autograder.environment.errors import ClassroomError
from autograder.submission.result import SubmissionStatus
from autograder.submission.sanitize.harmless_files import HARMLESS, is_harmless
from tests.support import stub_class
from tests.support.stub_class import ONE

HONEST = ("anna", "zoe")  # before and after Eve, in every order
DATA = "data.csv"


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class with two right submissions; a file of the course belongs to the chapter."""
    stub_class.use_stubs(monkeypatch)
    return a_class(tmp_path)


def a_class(home: Path) -> Path:
    """A copy of the class in a new folder."""
    return Path(shutil.copytree(_made(), home / "class"))


@lru_cache
def _made() -> Path:
    room = stub_class.make(Path(tempfile.mkdtemp()) / "class")
    (room / "source" / ONE).mkdir(parents=True)
    (room / "source" / ONE / DATA).write_text("1")
    for student in HONEST:
        stub_class.hand_in(room, student, after=6.0, half=4.0)
    return room


def assert_the_honest_have_their_points(room: Path) -> Summary:
    """Grade the class twice, check the honest students' points, and return the second summary."""
    for _ in range(2):
        summary = grade_class(room)
    scores = stub_class.scores(room)
    assert [scores[student] for student in HONEST] == [10.0, 10.0]
    left = [path for path in (room / "autograded").glob("*/.*")]
    assert left == [] and not list((room / ".fxcourse").glob("collecting-*"))
    return summary


def put(room: Path, path: str, content: bytes | None = None, student: str = "eve") -> None:
    """Put a file or a folder into a student's submission."""
    place = room / "submitted" / student / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if content is None:
        place.mkdir(parents=True)
    else:
        place.write_bytes(content)


RIGHT = stub_class.text_of(ONE, after=6.0, half=4.0).encode()
LONG = "/".join(["x" * 250] * 14)


@pytest.mark.parametrize(
    ("paths", "points"),
    [
        ((f"{ONE}/{ONE}.ipynb/", f"{ONE}/below/{ONE}.ipynb"), None),
        ((f"{ONE}/{ONE}.ipynb", f"{ONE}/{DATA}/x"), 10.0),
        ((f"{ONE}/{ONE}.ipynb", f"{ONE}/{LONG}"), 10.0),
        ((f"{ONE}/{ONE}.ipynb", f"{ONE}/timestamp.txt/x"), 10.0),
        ((f"{ONE}/{ONE}.ipynb", f"{ONE}/TIMESTAMP.TXT/x"), 10.0),
        ((f"{ONE}/{ONE}.ipynb", f"{ONE}/a.ipynb/b/c.txt"), 10.0),
        ((f"{ONE}/{ONE}.ipynb", f"{ONE}/page.html", f"{ONE}/page.html.txt/x"), 10.0),
        ((f"{ONE}/{ONE}.ipynb", f"{ONE}/.{ONE}-x/y"), 10.0),
        ((f"{ONE}",), None),
    ],
)
def test_names_in_each_others_way(paths: tuple[str, ...], points: float | None, room: Path) -> None:
    for path in paths:
        put(room, path.rstrip("/"), None if path.endswith("/") else RIGHT)
    assert_the_honest_have_their_points(room)
    if points is not None:
        assert stub_class.scores(room)["eve"] == points


def test_a_stamp_that_was_a_folder_and_is_a_file(room: Path) -> None:
    put(room, f"{ONE}/{ONE}.ipynb", RIGHT)
    put(room, f"{ONE}/timestamp.txt/x", b"")
    assert_the_honest_have_their_points(room)
    for path in ("timestamp.txt/x", "timestamp.txt"):
        os.remove(room / "submitted/eve" / ONE / path) if "/" in path else os.rmdir(
            room / "submitted/eve" / ONE / path
        )
    stub_class.stamp(room, "eve", "2026-11-02 09:00:00 UTC")
    assert_the_honest_have_their_points(room)
    assert stub_class.scores(room)["eve"] == 10.0


def of(summary: Summary, student: str) -> tuple[SubmissionStatus, str]:
    """A student's status, with all notes."""
    result = next(one for one in summary.results if one.student == student)
    return result.status, " ".join(result.notes)


def failing(code: int) -> Callable[..., None]:
    """A function that writes files, but raises a system error for Eve's."""
    right = gradebook_writer._fill

    def fill(folder: Path, files: dict[str, bytes]) -> None:
        if folder.parent.name == "eve":
            raise OSError(code, os.strerror(code))
        right(folder, files)

    return fill


def test_an_error_with_ones_files_is_ones_own(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(room, f"{ONE}/{ONE}.ipynb", RIGHT)
    monkeypatch.setattr(gradebook_writer, "_fill", failing(errno.ENAMETOOLONG))
    summary = assert_the_honest_have_their_points(room)
    state, why = of(summary, "eve")
    assert state is SubmissionStatus.REFUSED and "could not be written: File name too long" in why
    assert summary.unwritten == (f"eve, {ONE}",)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT, errno.EMFILE])
def test_a_disk_that_takes_nothing_stops_the_run(
    code: int, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(room, f"{ONE}/{ONE}.ipynb", RIGHT)
    monkeypatch.setattr(gradebook_writer, "_fill", failing(code))
    with pytest.raises(ClassroomError):
        grade_class(room)


def hostile_tree(random: Random) -> list[str]:
    """Paths that collide with the course's files, with one another, and with file system limits."""
    words = [
        f"{ONE}.ipynb",
        ONE,
        DATA,
        "timestamp.txt",
        "x.html",
        "x.html.txt",
        "a" * 120,
        "é",
        ".h",
    ]
    return ["/".join(random.choices(words, k=random.randint(1, 4))) for _ in range(12)]


def assert_trees_are_their_owners(seeds: range, home: Path) -> None:
    """Random trees next to many students' notebooks change nothing for the other students."""
    room = a_class(home)
    for seed in seeds:
        put(room, f"{ONE}/{ONE}.ipynb", RIGHT, f"eve{seed}")
        for path in hostile_tree(Random(seed)):
            try:
                put(room, f"{ONE}/{path}", b"", f"eve{seed}")
            except OSError:
                continue  # a file where another path has a folder
    summary = assert_the_honest_have_their_points(room)
    assert len(summary.results) == len(seeds) + len(HONEST) and not summary.unwritten


def test_drawn_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub_class.use_stubs(monkeypatch)
    assert_trees_are_their_owners(range(10), tmp_path)


def test_of_two_names_in_each_others_way_the_first_stays() -> None:
    names = Names([DATA])
    assert not names.why_not(("a", "b.txt")) and not names.why_not(("c",))
    for parts in (
        ("a",),
        ("c", "d"),
        (DATA, "x"),
        ("timestamp.txt",),
        ("x" * 201,),
        ("a",) * 9,
        (),
    ):
        assert names.why_not(parts).endswith("."), parts


INVENTED = [f"ending{number}" for number in range(10)] + [
    "HTML", "Svg", "xpdl", "rdf", "wsdl", "xhtml", "htm ", "js", "", "ipynb",
]  # fmt: skip


def test_beside_a_graded_notebook_lies_only_what_no_browser_runs(room: Path) -> None:
    put(room, f"{ONE}/{ONE}.ipynb", RIGHT)
    for number, ending in enumerate(INVENTED[:-1]):
        put(room, f"{ONE}/file{number}.{ending}", b"<script>")
    put(room, f"{ONE}/table.csv", b"1")
    grade_class(room)
    graded = {path.name for path in (room / "autograded/eve" / ONE).iterdir()} - {f"{ONE}.ipynb"}
    assert len(graded) == len(INVENTED) + 1 and "table.csv" in graded
    assert all(map(is_harmless, graded))


def test_no_ending_on_the_list_is_run_by_a_browser() -> None:
    run = re.compile(r"html|xml|svg|javascript|pdf|flash|wasm|message/")
    types = {ending: mimetypes.guess_type(f"x.{ending}")[0] or "" for ending in HARMLESS}
    assert {ending for ending, said in types.items() if run.search(said)} == set()
    assert run.search(mimetypes.guess_type("x.svg")[0] or "")


def test_no_two_files_are_shown_under_one_name() -> None:
    files = {"a.html": b"1", "a.html.txt": b"2", "a.html.txt.txt": b"3", "b.TXT": b"4", "c": b"5"}
    assert as_shown(files | {"d": b"", "d.txt/x.md": b""}) == {
        "a.html.txt.txt.txt": b"1", "a.html.txt": b"2", "a.html.txt.txt": b"3", "b.TXT": b"4",
        "c.txt": b"5", "d.txt.txt": b"", "d.txt/x.md": b"",
    }  # fmt: skip


SIGNS = ["<b>", "a>b", "a&b", 'a"b', "a\\b", "a\x07b", "a\x1b[2Jb", "a\u202eb"]


@pytest.mark.parametrize("sign", SIGNS)
def test_an_id_that_is_no_plain_text_is_refused(sign: str, room: Path) -> None:
    stub_class.hand_in(room, sign, after=6.0, half=4.0)
    summary = assert_the_honest_have_their_points(room)
    (refused,) = [one for one in summary.results if one.student not in HONEST]
    assert refused.status is SubmissionStatus.REFUSED and "Rename the folder" in refused.notes[0]
    assert set(stub_class.scores(room)) == set(HONEST)


@pytest.mark.parametrize("name", ["O'Brien", "anna [2]", "José", "李", "a.b-c_d 1"])
def test_other_ids_are_graded(name: str, room: Path) -> None:
    stub_class.hand_in(room, name, after=6.0, half=4.0)
    assert_the_honest_have_their_points(room)
    assert stub_class.scores(room)[name] == 10.0


def test_names_in_a_gradebook_lose_what_is_html(room: Path) -> None:
    with stub_class.gradebook(room) as book:
        book.add_student(
            "anna", first_name="<img src=x onerror=alert(1)>", last_name="O'Brien & Co"
        )
        book.add_student("<b>x", first_name="B\u202eo")
    said: list[str] = []
    grade_class(room, listener=Listener(warn=said.append))
    with stub_class.gradebook(room) as book:
        anna = book.find_student("anna")
        assert (
            anna.first_name == "‹img src=x onerror=alert(1)›" and anna.last_name == "O'Brien & Co"
        )
    assert any("name of anna had HTML" in one for one in said)
    assert any("Do not open Formgrader" in one for one in said)


def test_names_of_people_are_text() -> None:
    person = Person("eve", "<script>", "a\x1b[2Jb", "<x>@y.org")
    assert (person.first, person.email) == ("‹script›", "‹x›@y.org")
    assert "\x1b" not in person.last
    people = People()
    assert people.known == []
