"""A stopped run resumes and ends as an uninterrupted one; finished work is not repeated."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.classroom.grading.settings import GradingSettings
from autograder.classroom.records import gradebook_writer
from autograder.classroom.records.journal import Journal
from autograder.classroom.room.nbgrader_api import api
from autograder.submission.contract import GradingConfig, Submission, failed_result
from autograder.submission.result import GradedNotebook, Result, Score, SubmissionStatus
from tests.support.classes import commands, two_questions
from tests.support.classes.course import names
from tests.support.classes.two_questions import CHAPTER, work_of
from tests.support.submissions import room as rooms
from tests.support.submissions.edits import edited, fill

pytestmark = pytest.mark.filterwarnings(
    "ignore:Object of type.*:sqlalchemy.exc.SAWarning"  # from nbgrader
)

STUDENTS = 4
FIRST, SECOND, THIRD, FOURTH = names(STUDENTS)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    room = tmp_path_factory.mktemp("made") / "class"
    two_questions.make(room, STUDENTS, seed=3)
    return room


@pytest.fixture
def room(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "class"))


def with_gradebook(room: Path, student: str, act: Callable[[Any], None]) -> None:
    """Change a student's submission, as an instructor does in Formgrader."""
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as book:
        act(book.find_submission(CHAPTER, student))
        book.db.commit()


# ------------------------------------------------- without graders: only the writing of results


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the graders: return each student's known points, and run no notebook."""
    monkeypatch.setattr("autograder.classroom.grading.run.grade_in_parallel", _known_at_once)
    monkeypatch.setattr("autograder.classroom.grading.plan.choose", lambda _: None)


def _known_at_once(
    units: Iterable[Submission], config: GradingConfig, jobs: int
) -> Iterator[GradedNotebook]:
    for unit in units:
        points = work_of(unit.student, seed=3).points
        scores = {f"check-{name}": Score(value, 6.0) for name, value in points.items()}
        result = Result(unit.student, config.chapter, SubmissionStatus.GRADED, seconds=0.1)
        yield GradedNotebook.of(result, unit.text.decode(), scores, ("half",))


def again(room: Path, **options: Any) -> set[str]:
    """Grade; return the students that this run graded."""
    return {
        row.student
        for row in grade_class(room, GradingOptions(**options)).results
        if row.in_this_run
    }


def test_what_a_grader_could_not_finish_is_tried_again(
    room: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(
        units: Iterable[Submission], config: GradingConfig, jobs: int
    ) -> Iterator[GradedNotebook]:
        yield from (failed_result(unit, config, "Its grader was lost.") for unit in units)

    with monkeypatch.context() as patch:
        patch.setattr("autograder.classroom.grading.run.grade_in_parallel", lost)
        assert again(room) == {FIRST, SECOND, THIRD, FOURTH}
    assert set(rooms.points(room, CHAPTER)[FIRST].values()) == {0}
    assert again(room) == {FIRST, SECOND, THIRD, FOURTH}
    assert rooms.points(room, CHAPTER)[FIRST] == work_of(FIRST, 3).points
    assert again(room) == set()


class Stopped(BaseException):
    """Raised by a test instead of killing the process."""


Does = Callable[..., object]


def at_once(real: Does) -> Does:
    """Stop before the call does anything."""

    def does(*words: Any, **more: Any) -> object:
        raise Stopped

    return does


def after(calls: int) -> Callable[[Does], Does]:
    """Let this many calls finish, and stop right after the last."""

    def wrapped(real: Does) -> Does:
        left = iter(range(calls - 1))

        def does(*words: Any, **more: Any) -> object:
            result = real(*words, **more)
            if next(left, None) is None:
                raise Stopped
            return result

        return does

    return wrapped


def half_way(real: Does) -> Does:
    """Write half a line of the journal, and stop."""

    def does(self: Journal, *words: object) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write('{"student": "stud')
        raise Stopped

    return does


STOPS: dict[str, tuple[Any, str, Callable[[Does], Does]]] = {
    "before anything is written": (gradebook_writer.GradebookWriter, "write", at_once),
    "before the folder has its name": (gradebook_writer.os, "replace", at_once),
    "after the first folder": (gradebook_writer.os, "replace", after(1)),
    "after the second folder": (gradebook_writer.os, "replace", after(2)),
    "before the grades": (gradebook_writer.GradebookWriter, "_write_grades", at_once),
    "before the journal": (Journal, "add", at_once),
    "in a line of the journal": (Journal, "add", half_way),
    "after the journal": (Journal, "add", after(1)),
}


@pytest.mark.parametrize("when", STOPS)
@pytest.mark.parametrize("force", [False, True], ids=["new", "graded before"])
def test_wherever_it_is_stopped_it_ends_the_same(
    room: Path, tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch, when: str, force: bool
) -> None:
    whole = Path(shutil.copytree(room, tmp_path / "whole" / "class"))
    grade_class(whole)
    if force:
        grade_class(room)
    place, name, stopping = STOPS[when]
    with monkeypatch.context() as patched, pytest.raises(Stopped):
        patched.setattr(place, name, stopping(getattr(place, name)))
        grade_class(room, GradingOptions(force=force))
    grade_class(room)
    assert commands.snapshot(room, CHAPTER) == commands.snapshot(whole, CHAPTER)
    assert again(room) == set()
    assert rooms.points(room, CHAPTER) == {s: work_of(s, 3).points for s in names(STUDENTS)}


def test_unchanged_class_is_not_graded_again(room: Path, quick: None) -> None:
    assert again(room) == set(names(STUDENTS))
    assert again(room) == set()
    assert again(room, force=True) == set(names(STUDENTS))


def test_what_is_graded_once_more_keeps_its_pool_after_a_page_was_made(
    room: Path, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    tried: dict[str, int] = {}

    def noting(
        units: Iterable[Submission], config: GradingConfig, jobs: int
    ) -> Iterator[GradedNotebook]:
        for unit in units:
            (graded,) = _known_at_once([unit], config, jobs)
            code = hashlib.sha256(unit.text or b"").hexdigest()
            tried[unit.student] = unit.pool_for(code)
            assert config.preload.pool == tried[FIRST], "what most are tried on is worked out ahead"
            yield dataclasses.replace(graded, code=code)

    monkeypatch.setattr("autograder.classroom.grading.run.grade_in_parallel", noting)
    grade_class(room)
    (pool,) = set(tried.values())
    settings = GradingSettings.of(api(room).config)
    settings.pools.page_made(FIRST, CHAPTER)
    assert settings.pools.now(CHAPTER) != pool
    assert again(room) == set(), "a page is no reason to grade anybody again"
    work = edited(rooms.released(room, CHAPTER), fill("half", "def half(n):\n    return n / 2"))
    rooms.hand_in(room, SECOND, CHAPTER, work)
    assert again(room, force=True) == set(names(STUDENTS))
    new = tried.pop(SECOND)
    assert (set(tried.values()), new) == ({pool}, settings.pools.now(CHAPTER))


def test_torn_last_line_of_the_journal_costs_one_submission(room: Path, quick: None) -> None:
    grade_class(room)
    path = room / commands.JOURNAL
    path.write_text(path.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    assert again(room) == {FOURTH}
    assert again(room) == set()
    assert len(commands.done(room)) == STUDENTS, "the torn line stands by itself"


def test_journal_with_nonsense_in_it_is_no_reason_to_stop(room: Path, quick: None) -> None:
    grade_class(room)
    path = room / commands.JOURNAL
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[1:3] = ["null", '{"student": 3}', '["notes"]', "\x00\x00\x00"]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert again(room) == {SECOND, THIRD}


def test_journal_of_an_earlier_version_is_read(room: Path, quick: None) -> None:
    grade_class(room)
    path = room / commands.JOURNAL
    lines = []
    for entry in commands.done(room):
        entry["most"] = entry.pop("max_points")
        lines.append(json.dumps(entry) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    assert again(room) == set()
    assert {result.max_points for result in grade_class(room).results} == {12.0}


def test_result_on_disk_is_what_it_was() -> None:
    result = Result("ann", "c", SubmissionStatus.TAMPERED, 1.5, 4.0, ("one", "two"), 0.25)
    again = Result.from_json(json.loads(json.dumps(result.to_json())))
    assert again == dataclasses.replace(result, in_this_run=False)
    assert again.status is SubmissionStatus.TAMPERED


@pytest.mark.parametrize(
    "change",
    [
        {"status": "a status of tomorrow"},
        {"status": None},
        {"student": 3},
        {"points": "1.5"},
        {"points": True},
        {"points": float("nan")},
        {"max_points": -1.0},
        {"notes": "no list"},
        {"notes": [3]},
        {"checks": [3]},
        {"restarts": -1},
    ],
    ids=str,
)
def test_result_that_is_none_is_not_read(change: dict[str, Any]) -> None:
    result = Result("ann", "c", SubmissionStatus.GRADED, 1.5, 4.0)
    name = next(iter(change))
    with pytest.raises(ValueError, match="tomorrow|no sound " + name):
        Result.from_json(result.to_json() | change)


def test_deleted_folder_is_graded_again(room: Path, quick: None) -> None:
    grade_class(room)
    shutil.rmtree(room / "autograded" / SECOND)
    assert again(room) == {SECOND}
    assert commands.check_outputs(room, SECOND, CHAPTER)


def test_lost_gradebook_entry_is_graded_again(room: Path, quick: None) -> None:
    grade_class(room)
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as book:
        book.remove_submission(CHAPTER, THIRD)
    assert again(room) == {THIRD}
    assert rooms.points(room, CHAPTER)[THIRD] == work_of(THIRD, 3).points


def test_changed_submission_is_graded_again_and_a_persons_work_is_kept(
    room: Path, quick: None
) -> None:
    grade_class(room)

    def look(submission: Any) -> None:
        notebook = submission.notebooks[0]
        grade = next(g for g in notebook.grades if g.name == "check-after")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 5.0, 1.0, False
        comment = next(c for c in notebook.comments if c.name == "half")
        comment.manual_comment = "See me."

    with_gradebook(room, SECOND, look)
    work = edited(rooms.released(room, CHAPTER), fill("half", "def half(n):\n    return n / 2"))
    rooms.hand_in(room, SECOND, CHAPTER, work)
    assert again(room) == {SECOND}

    def kept(submission: Any) -> None:
        notebook = submission.notebooks[0]
        grade = next(g for g in notebook.grades if g.name == "check-after")
        assert (grade.manual_score, grade.extra_credit) == (5.0, 1.0)
        assert grade.needs_manual_grade, "a person is to look at the changed work"
        comment = next(c for c in notebook.comments if c.name == "half")
        assert (comment.manual_comment, comment.comment) == ("See me.", "See me.")

    with_gradebook(room, SECOND, kept)


def test_file_beside_a_notebook_counts_as_a_change(room: Path, quick: None) -> None:
    grade_class(room)
    (room / "submitted" / FIRST / CHAPTER / "helper.py").write_text("one = 1")
    assert again(room) == {FIRST}
    assert (room / "autograded" / FIRST / CHAPTER / "helper.py").is_file()


# ------------------------------------------------------------------ with graders, in the box
