"""The class of `make grade-demo`: its submissions match their descriptions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import nbformat
import pytest

from autograder.api import verdict_on
from autograder.builder import build, chapters
from autograder.cards.wording import number
from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.classroom.reports.replay import replay
from autograder.core.exercise import RANDOM
from autograder.environment.errors import ClassroomError
from autograder.exercises import EXERCISES, of_chapter
from tests.support.submissions import NOTHING, all_but
from tests.support.submissions.demo import Row, compare, grade, make_room
from tests.support.submissions.reader import all_submissions

SUBMISSIONS = all_submissions()
CHAPTERS = sorted({submission.chapter for submission in SUBMISSIONS})


def test_class_is_large_enough() -> None:
    assert len({submission.student for submission in SUBMISSIONS}) >= 20
    assert max(Counter((s.student, s.chapter) for s in SUBMISSIONS).values()) == 1


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_has_every_kind_of_answer(chapter: str) -> None:
    """For whole chapters, this includes an answer fitted to the visible cases."""
    students = {s.student for s in SUBMISSIONS if s.chapter == chapter}
    fitted = {"eva"} if chapter[2] == "_" else set()
    assert set("ada bert cleo dan finn gina".split()) | fitted <= students


@pytest.mark.parametrize("chapter", [name for name in CHAPTERS if name < "04" and name[2] == "_"])
def test_the_first_chapters_have_every_kind_of_accident(chapter: str) -> None:
    """Other chapters are left out: accidents do not depend on exercises, and each takes time."""
    students = {s.student for s in SUBMISSIONS if s.chapter == chapter}
    assert set("hugo iris jack kate liam mona nico olga".split()) <= students


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_edits_fit_the_chapter(chapter: str) -> None:
    (path,) = (path for path in chapters() if path.stem == chapter)
    released = build(Path(path))
    for submission in SUBMISSIONS:
        if submission.chapter == chapter:
            changed = submission.notebook(released)
            assert (changed != released) == (submission.student != "cleo")
            assert set(submission.points()) == {e.name for e in of_chapter(chapter)}


def test_shares_follow_from_the_weights() -> None:
    first, *others = EXERCISES["retarget"].all_aspects
    assert all_but("retarget", first.key) == NOTHING
    assert all_but("retarget") == 1
    whole = first.weight + sum(aspect.weight for aspect in others)
    left = whole - others[0].weight - RANDOM.weight
    assert all_but("retarget", others[0].key) * whole == left
    with pytest.raises(LookupError, match="retarget has no aspect 'speed', only "):
        all_but("retarget", "speed")


FITTED = [
    (name, text)
    for submission in SUBMISSIONS
    if submission.student == "eva"
    for name, text in submission.answers.items()
]


@pytest.mark.parametrize(("name", "text"), FITTED, ids=[name for name, _ in FITTED])
def test_fitted_answers_pass_the_check_that_students_see(name: str, text: str) -> None:
    names: dict[str, object] = {}
    exec(text, names)
    exercise = EXERCISES[name]
    assert verdict_on(exercise, names[name], hidden=False).passed
    assert not verdict_on(exercise, names[name], hidden=True, seed=1).passed


def test_part_of_the_class_is_graded_by_nbgrader(tmp_path: Path) -> None:
    """From a new classroom to feedback and CSV, with nbgrader's own commands."""
    chosen = [
        submission
        for submission in SUBMISSIONS
        if submission.chapter == "02_nodes" and submission.student in ("dan", "jack", "tess")
    ]
    rows, problems = grade(tmp_path / "a classroom", chosen)
    assert problems == []
    assert [row for row in rows if not row.agrees] == []
    assert len(rows) == 3 * len(of_chapter("02_nodes"))
    replayed = replay(tmp_path / "a classroom", "dan", "count_ops")
    card = str(replayed)
    assert "That is what the gradebook has." in card and f"Seed {replayed.seed}" in card
    assert {case.state for case in replayed.cases} >= {"held", "failed"}
    assert [case.name for case in EXERCISES["count_ops"].cases] == [
        case.name for case in replayed.cases if case.kind != "random"
    ]
    assert "count_ops" in card and "Not right" in card
    share = float(all_but("count_ops", "graphs"))
    assert f"{number(share * EXERCISES['count_ops'].points)} of" in card
    with pytest.raises(ClassroomError, match="Grade the chapter first"):
        replay(tmp_path / "a classroom", "ada", "count_ops")
    with pytest.raises(ClassroomError, match="no exercise called 'count_cops'"):
        replay(tmp_path / "a classroom", "dan", "count_cops")


def card_of(room: Path, row: Row) -> str:
    """The output of an exercise's check; it depends on the class through the random models."""
    chapter = row.submission.chapter
    path = room / "autograded" / row.submission.student / chapter / f"{chapter}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    shown = [out for cell in cells if cell.id == f"check-{row.exercise}" for out in cell.outputs]
    return "\n".join(str(out.get("data", {}).get("text/plain", out)) for out in shown)


@pytest.mark.parametrize("chapter", CHAPTERS[::8])
def test_exercises_can_be_solved_in_the_box(chapter: str, tmp_path: Path) -> None:
    """The box lacks much of a learner's kernel. The folder `long` tries all chapters.

    Half-right answers must get half the points; `make grade-demo` tests this for all chapters.
    """
    grade_in_boxes(tmp_path / "a classroom", {("ada", chapter), ("dan", chapter)})


def grade_in_boxes(room: Path, whose: set[tuple[str, str]]) -> None:
    """Grade submissions by student and chapter, and check their points."""
    chosen = [s for s in SUBMISSIONS if (s.student, s.chapter) in whose]
    assert len(chosen) == len(whose)
    make_room(room, chosen)
    grade_class(room, GradingOptions(jobs=1, settings={"proof": False}))
    rows = list(compare(room, chosen))
    odd = [row for row in rows if not row.agrees]
    assert odd == [], [card_of(room, row) for row in odd]
    assert len(rows) == sum(len(of_chapter(chapter)) for _, chapter in whose)
