"""Judges a graded answer again, to explain a grade: each case, and the card."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory

from autograder.classroom.grading.grade_submission import plain_text
from autograder.classroom.nbgrader_plugins.execute_checks import CASES, ExecuteChecks
from autograder.classroom.nbgrader_plugins.save_verdicts import SCORES
from autograder.classroom.records.course_digest import LIBRARIES, code
from autograder.classroom.room.nbgrader_api import api
from autograder.core import own_exercises
from autograder.environment.errors import ClassroomError
from autograder.exercises import EXERCISES
from autograder.submission.case_report import CaseReport, reports_in
from autograder.submission.outcome_notes import outcome_of
from autograder.submission.result import SubmissionStatus
from autograder.submission.sanitize import in_a_line
from autograder.submission.seeds import noted_seed
from autograder.submission.source_cells import CHECK, checked_exercise


@dataclass(frozen=True)
class Replayed:
    """An answer that was judged again.

    Attributes:
        student: the student's id.
        exercise: the exercise's name.
        chapter: its chapter.
        seed: the seed of the random models and of the order of cases.
        cases: the result of each case.
        share: the part of the points that the check gives now; ``None`` if a person decides.
        before: the check's points in the gradebook; ``None`` if there are none.
        by_hand: the points that a person gave; ``None`` if there are none.
        max_points: full marks.
        card: the card, as text.
    """

    student: str
    exercise: str
    chapter: str
    seed: int | None
    cases: Sequence[CaseReport]
    share: float | None
    before: float | None
    by_hand: float | None
    max_points: float
    card: str

    def __str__(self) -> str:
        return "\n".join((*_head(self), *_cases(self.cases), "", self.card))


def replay(folder: Path, student: str, exercise: str) -> Replayed:
    """Run a graded notebook up to an exercise's check, and judge the answer again.

    Args:
        folder: the classroom.
        student: the student's id.
        exercise: the exercise's name.

    Raises:
        ClassroomError: there is no such exercise, or no graded notebook.
    """
    own_exercises.install(own_exercises.texts_in(folder / own_exercises.FOLDER))
    if exercise not in EXERCISES:
        raise ClassroomError(f"There is no exercise called '{exercise}'.")
    chapter = EXERCISES[exercise].chapter
    path = folder / "autograded" / student / chapter / f"{chapter}.ipynb"
    if not path.is_file():
        raise ClassroomError(
            f"{path} is not there. Grade the chapter first: fxcourse grade {folder} {chapter}"
        )
    nb = nbformat.read(path, as_version=4)
    ended = outcome_of(nb)
    if ended.status in (SubmissionStatus.REFUSED, SubmissionStatus.UNREADABLE):
        why = in_a_line(" ".join(ended.happened))
        raise ClassroomError(f"What {student} handed in of {chapter} was {ended.status}: {why}")
    execute = ExecuteChecks(config=api(folder.resolve()).config, only=exercise)
    execute.seed = noted_seed(nb)
    db_url = CourseDirectory(config=execute.config).db_url
    ids = {"student": student, "notebook": chapter, "assignment": chapter, "db_url": db_url}
    nb, found = execute.preprocess(nb, {"nbgrader": ids, "metadata": {"path": str(path.parent)}})
    cards = [
        output["data"]["text/plain"]
        for cell in nb.cells
        if checked_exercise(cell) == exercise
        for output in cell.outputs
        if output.output_type == "display_data"
    ]
    if not cards:
        raise ClassroomError(f"{path} has no check of {exercise}.")
    try:
        cases = reports_in(found.get(CASES))
    except ValueError:
        raise ClassroomError(
            f"The judge of {exercise} did not say what became of its cases."
        ) from None
    grade_id = f"{CHECK}{exercise}"
    before, by_hand, most = _points(db_url, student, chapter, grade_id)
    return Replayed(
        student, exercise, chapter, noted_seed(nb), cases, found[SCORES].get(grade_id),
        before, by_hand, most, plain_text(cards[0]),
    )  # fmt: skip


def _points(
    db_url: str, student: str, chapter: str, grade_id: str
) -> tuple[float | None, float | None, float]:
    """The points in the gradebook: from the check, by hand, and full marks."""
    with Gradebook(db_url) as book:
        try:
            grade = book.find_grade(grade_id, chapter, chapter, student)
        except MissingEntry:
            return None, None, float(EXERCISES[grade_id.removeprefix(CHECK)].points)
        return grade.auto_score, grade.manual_score, float(grade.max_score)


def _head(found: Replayed) -> Iterator[str]:
    yield in_a_line(f"{found.exercise} of {found.student}, {found.chapter}")
    libraries = ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)
    yield f"Seed {found.seed}. Course {_version('fxcourse')}, code {code()[:12]}; {libraries};"
    yield f"Python {platform.python_version()}."
    most = f"{found.max_points:g} points"
    now = None if found.share is None else found.share * found.max_points
    yield f"The check gives {_in_words(now)} of {most} now. " + _compared(found.before, now)
    if found.by_hand is not None:
        yield f"A person gave {found.by_hand:g} points; they count."
    yield ""


def _compared(before: float | None, now: float | None) -> str:
    if before is None:
        same = now is None
    else:
        same = now is not None and abs(before - now) < 1e-6
    if same:
        return "That is what the gradebook has."
    return (
        f"The gradebook has {_in_words(before)}. Has the course, a library or the notebook changed "
        "since? fxcourse grade --force writes the new points."
    )


def _in_words(points: float | None) -> str:
    return "no points, because a person decides," if points is None else f"{points:.4g}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "of a copy that is not installed"


_SIGNS = {"held": "✓", "failed": "✗", "not tried": "–"}


def _cases(cases: Sequence[CaseReport]) -> Iterator[str]:
    """A line for each case; a second one with the finding if it failed."""
    tried = [case for case in cases if case.state != "not tried"]
    failed = sum(case.state == "failed" for case in cases)
    yield f"{len(tried)} of {len(cases)} cases were tried, {failed} failed."
    for part in dict.fromkeys(case.part for case in cases):
        yield "  " + in_a_line(f"{part}:")
        for case in cases:
            if case.part == part:
                yield from _case(case)


def _case(case: CaseReport) -> Iterator[str]:
    kind = "" if case.kind == "shown" else f" ({case.kind})"
    state = " not tried" if case.state == "not tried" else ""
    yield "    " + in_a_line(f"{_SIGNS[case.state]} {case.name}{kind}{state}")
    if case.state == "failed":
        yield "        " + in_a_line(f"{case.code}: {case.message}")
