"""Makes a class of any size from right and wrong answers, with the expected score of each.

The score of a chosen answer does not depend on the seed of the student's random models: answers are
right, or fail a hand-picked case.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.classroom.setup.create import choose, create
from autograder.core.exercise import Exercise
from autograder.exercises import EXERCISES, of_chapter
from autograder.grading import without_random_models
from tests.checks.examination import examine
from tests.exercises import Answer, answers_to, constant
from tests.support.submissions import room as rooms
from tests.support.submissions.answer_text import text_of
from tests.support.submissions.edits import edited, fill

KNOWN = "known_scores.json"
"""The classroom's file with the expected scores; grading does not read it."""

RIGHT, WRONG = 0.70, 0.25
"""The shares of right and of wrong answers; the remaining exercises are not attempted."""

WRONG_ONES = 8
"""Number of wrong answers to an exercise that a class uses; each must first be examined."""


@dataclass(frozen=True)
class Choice:
    """The content of one answer cell.

    Attributes:
        style: the style of the answer; empty if the cell stays unchanged.
        text: the cell's source.
        points: the expected points.
    """

    style: str = ""
    text: str = ""
    points: float = 0.0


Scores = dict[str, dict[str, dict[str, float]]]
"""Points by chapter, student and exercise."""


@dataclass(frozen=True)
class Difference:
    """A score in the gradebook that differs from the expected one."""

    chapter: str
    student: str
    exercise: str
    expected: float
    obtained: float | None


def make(room: Path, chapters: str, students: int, seed: int = 0) -> Scores:
    """Make a classroom, submit everything, and write the expected scores.

    Args:
        room: an empty folder, or one that does not exist yet.
        chapters: numbers or names, separated by commas.
        students: the number of students.
        seed: decides each student's answers.

    Raises:
        autograder.classroom.setup.ClassroomError: the classroom cannot be made there.
    """
    return _hand_in(room, chapters, {
        chapter: {student: choices(chapter, student, seed) for student in names(students)}
        for chapter in choose(chapters)
    })  # fmt: skip


def make_of_right_answers(room: Path, chapters: str) -> Scores:
    """Like `make`, with enough students to submit each right answer."""
    chosen: dict[str, dict[str, dict[str, Choice]]] = {}
    for chapter in choose(chapters):
        known = {exercise.name: right_answers(exercise.name) for exercise in of_chapter(chapter)}
        most = max(map(len, known.values()))
        chosen[chapter] = {
            student: {name: own[n] if n < len(own) else Choice() for name, own in known.items()}
            for n, student in enumerate(names(most))
        }
    return _hand_in(room, chapters, chosen)


def _hand_in(
    room: Path, chapters: str, chosen: Mapping[str, Mapping[str, Mapping[str, Choice]]]
) -> Scores:
    """Make a classroom, and submit the choices of each student, by chapter."""
    create(room, choose(chapters))
    for chapter, students in chosen.items():
        released = rooms.released(room, chapter)
        for student, own in students.items():
            written = [fill(name, choice.text) for name, choice in own.items() if choice.style]
            rooms.hand_in(room, student, chapter, edited(released, *written))
    scores = {
        chapter: {
            student: {name: choice.points for name, choice in own.items()}
            for student, own in students.items()
        }
        for chapter, students in chosen.items()
    }
    (room / KNOWN).write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")
    return scores


def names(students: int) -> list[str]:
    """The students' names, such as ``student-0042``, in alphabetical order."""
    return [f"student-{number:04}" for number in range(1, students + 1)]


def choices(chapter: str, student: str, seed: int = 0) -> dict[str, Choice]:
    """A student's answers to the exercises of a chapter."""
    drawn = random.Random(f"{seed} {chapter} {student}")
    found = {}
    for exercise in of_chapter(chapter):
        right, wrong = right_answers(exercise.name), wrong_answers(exercise.name)
        at = drawn.random()
        if at < RIGHT:
            found[exercise.name] = drawn.choice(right)
        elif at < RIGHT + WRONG and wrong:
            found[exercise.name] = drawn.choice(wrong)
        else:
            found[exercise.name] = Choice()
    return found


@cache
def right_answers(name: str) -> tuple[Choice, ...]:
    """Right answers to an exercise that work in a single cell."""
    points = EXERCISES[name].points
    return tuple(Choice(a.style, text, points) for a, text in _usable(_known(name), wrong=False))


@cache
def wrong_answers(name: str) -> tuple[Choice, ...]:
    """Some wrong answers to an exercise that work in a single cell."""
    exercise = EXERCISES[name]
    found: list[Choice] = []
    for answer, text in _usable(_known(name), wrong=True):
        if len(found) == WRONG_ONES:
            break
        share = _share_of_wrong(exercise, answer)
        if share is not None:
            found.append(Choice(answer.style, text, share * exercise.points))
    return tuple(found)


def _known(name: str) -> list[Answer]:
    """The answers to an exercise, in an order that does not depend on the file."""
    known = list(answers_to(name))
    random.Random(name).shuffle(known)
    return known


def _usable(answers: Sequence[Answer], *, wrong: bool) -> Iterator[tuple[Answer, str]]:
    """The right or the wrong answers whose text defines the exercise's name on its own."""
    for answer in answers:
        taken = (answer.finding is not None) == wrong
        if not taken or answer.style in constant(answer.exercise, "TAKES_LONG", {}):
            continue
        try:
            text = text_of(answer.exercise, answer.style)
            found: dict[str, object] = {}
            exec(compile(text, answer.style, "exec"), found)
        except Exception:  # a function makes it, or it needs more than its module's top level
            continue
        if answer.exercise in found:
            yield answer, text


def _share_of_wrong(exercise: Exercise, answer: Answer) -> float | None:
    """The share of the points for a wrong answer; ``None`` if it depends on the seed."""
    _, verdict = examine(answer)
    if verdict.passed:
        return None
    if exercise.random and verdict.shares:
        verdict = without_random_models(verdict)
    return verdict.score


def known_scores(room: Path) -> Scores:
    """The expected scores of a class that `make` made.

    Raises:
        OSError: the folder is not such a class.
    """
    return json.loads((room / KNOWN).read_text(encoding="utf-8"))


def differences(room: Path, scores: Mapping[str, Mapping[str, Mapping[str, float]]]) -> tuple[
    int, list[Difference]
]:  # fmt: skip
    """Compare the gradebook with the expected scores.

    Returns:
        The number of scores, and the scores that differ.
    """
    count, found = 0, []
    for chapter, students in scores.items():
        obtained = rooms.points(room, chapter)
        waiting = set(rooms.waiting(room, chapter))
        for student, expected in students.items():
            got = {} if student in waiting else obtained.get(student, {})
            for name, points in expected.items():
                count += 1
                there = got.get(name)
                if there is None or abs(there - points) > 1e-6:
                    found.append(Difference(chapter, student, name, points, there))
    return count, found
