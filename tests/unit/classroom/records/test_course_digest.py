"""Rewording the course regrades no class; a change that affects grades does, with a message."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from autograder.builder.paths import ROOT
from autograder.classroom.grading.grade_class import Summary, grade_class
from autograder.classroom.records import course_digest
from autograder.cli import grading_progress
from tests.support.stub_class import hand_in

pytestmark = pytest.mark.filterwarnings(
    "ignore:Object of type.*:sqlalchemy.exc.SAWarning"  # from nbgrader
)

SMALL = ("judge", "rules", "core")
"""Packages to copy: reading all of them takes seconds."""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a part of the course, which replaces the whole for grading."""
    home = tmp_path / "autograder"
    for name in SMALL:
        shutil.copytree(
            ROOT / "autograder" / name, home / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in course_digest.MODULES:
        shutil.copy(ROOT / "autograder" / name, home)
    monkeypatch.setattr(course_digest, "GRADING", SMALL)
    return home


def edit(home: Path, path: str, change: Callable[[str], str]) -> None:
    text = (home / path).read_text(encoding="utf-8")
    assert change(text) != text
    (home / path).write_text(change(text), encoding="utf-8")


REWORDED: dict[str, tuple[str, Callable[[str], str]]] = {
    "a comment": ("rules/passes.py", lambda text: text + "\n# What this is for.\n"),
    "a docstring": ("judge/rule.py", lambda text: text.replace('"""', '"""Reworded. ', 1)),
    "a message": ("rules/passes.py", lambda text: text.replace("returned `None`.", "gave `None`.")),
    "the layout of data": ("core/operations.json", lambda text: text.replace(",", " , ")),
}
CHANGED: dict[str, tuple[str, Callable[[str], str]]] = {
    "a condition": ("rules/passes.py", lambda text: text.replace(" is None", " is not None", 1)),
    "a name": ("rules/passes.py", lambda text: text.replace("evidence", "proof")),
    "a word that is compared": ("judge/rule.py", lambda text: text + '\nX = Y == "It is so. "\n'),
    "a model's weights": ("alive.py", lambda text: text.replace("+ 0.5", "+ 0.25", 1)),
    "data": ("core/operations.json", lambda text: text.replace('"', '"x', 1)),
}


@pytest.mark.parametrize("what", REWORDED)
def test_rewording_leaves_the_digest(course: Path, what: str) -> None:
    before = course_digest.digest(course)
    edit(course, *REWORDED[what])
    assert course_digest.digest(course) == before


@pytest.mark.parametrize("what", CHANGED)
def test_what_decides_a_grade_changes_the_digest(course: Path, what: str) -> None:
    before = course_digest.digest(course)
    edit(course, *CHANGED[what])
    assert course_digest.digest(course) != before


def test_a_file_with_another_name_changes_the_digest(course: Path) -> None:
    before = course_digest.digest(course)
    (course / "rules" / "passes.py").rename(course / "rules" / "all_passes.py")
    assert course_digest.digest(course) != before


def test_a_sentence_that_is_compared_decides_something() -> None:
    asked = 'if message.startswith("{} that is compared."):\n    pass\n'
    syntax = course_digest.syntax
    assert syntax(asked.format("A text")) != syntax(asked.format("Another text"))
    equal = 'found = message == "{} that is compared."\n'
    assert syntax(equal.format("A text")) != syntax(equal.format("Another text"))
    told = 'tell(f"{} of `{{name}}` is told.")\n'
    assert syntax(told.format("A text")) == syntax(told.format("Another text"))
    assert syntax(told.format("A text")) != syntax(told.format("A text").replace("name", "other"))


def test_an_instructors_own_exercise_can_be_reworded() -> None:
    first = (("one/cases.py", "X = 1  # one"), ("one/data.txt", "a"))
    deciding = course_digest.deciding
    assert deciding(first) == deciding((("one/cases.py", "X = 1"), ("one/data.txt", "a")))
    assert deciding(first) != deciding((("one/cases.py", "X = 2"), ("one/data.txt", "a")))
    assert deciding(first) != deciding((("one/cases.py", "X = 1"), ("one/data.txt", "b")))
    assert deciding((("one/cases.py", "X ="),)) == (("one/cases.py", "X ="),)


def test_the_digest_is_kept_until_a_file_changes(course: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    first = course_digest._computed_once(course, kept)
    kept.write_text(kept.read_text().replace(first, "kept"), encoding="utf-8")
    assert course_digest._computed_once(course, kept) == "kept"
    edit(course, *REWORDED["a comment"])
    assert course_digest._computed_once(course, kept) == first
    kept.write_text("[", encoding="utf-8")
    assert course_digest._computed_once(course, kept) == first
    assert course_digest._computed_once(course, tmp_path / "no such folder" / "kept") == first


def graded(room: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Summary, str]:
    """Grade a class with a copy of the course; return the summary and its printed form."""
    found = course_digest.digest(home)
    monkeypatch.setattr("autograder.classroom.records.journal.code", lambda: found)
    monkeypatch.setattr("autograder.classroom.records.course_digest.code", lambda: found)
    summary = grade_class(room)
    console = Console(record=True, width=200, file=io.StringIO())
    grading_progress.print_summary(summary, console)
    return summary, console.export_text()


def test_a_class_is_regraded_for_what_decides_and_not_for_words(
    room: Path, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded(room, course, monkeypatch)
    for change in REWORDED.values():
        edit(course, *change)
    again, said = graded(room, course, monkeypatch)
    assert not [row.student for row in again.results if row.in_this_run]
    assert again.regraded == {} and "graded again" not in said
    edit(course, *CHANGED["a name"])
    hand_in(room, "bo", after=6.0, half=2.0)
    after, said = graded(room, course, monkeypatch)
    assert len([row.student for row in after.results if row.in_this_run]) == 3
    assert after.regraded == {"the course's code": 2}
    assert "2 submissions were graded again: the course's code changed." in said
