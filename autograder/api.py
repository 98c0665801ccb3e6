"""What a learner calls from a notebook, such as `check`, `hint`, `predict` and `progress`."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from autograder import learners_record, workspace_root
from autograder.cell_truth import cell_problem, stopping_call
from autograder.core import extras
from autograder.core.exercise import Case, Exercise
from autograder.core.verdict import MISSING_PACKAGE, Finding, Verdict
from autograder.debriefing import has_debrief, show_debrief
from autograder.exercises import EXERCISES
from autograder.failed_case import FailedCase, failed_case
from autograder.fuzz.random_models import AT_HAND
from autograder.going_on import links_from
from autograder.grading import Grading, TryHere
from autograder.judge.answer_key import is_known
from autograder.judge.answer_text import source_of_answer
from autograder.leaked_state import with_kept_state
from autograder.predicting import predict, predicted
from autograder.runner.lasting_state import LastingState
from autograder.runner.quickly import quickly
from autograder.runner.stopped import stop_record

if TYPE_CHECKING:
    from autograder.cards.progress import Progress

__all__ = [
    "CheckFailed",
    "NoSuchExercise",
    "check",
    "debrief",
    "failed",
    "grade",
    "hint",
    "predict",
    "progress",
    "verdict_on",
]


class CheckFailed(AssertionError):
    """An answer did not pass its check. The card above it says why."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows this in place of a traceback through the grader's own code.
        return [f"CheckFailed: {self}"]


def grade(name: str, answer: Any) -> Verdict:
    """Judge an answer on all cases of an exercise, hidden ones too.

    Args:
        name: the exercise's name.
        answer: what the learner wrote.

    Returns:
        The verdict. Nothing that the answer does raises an exception here.

    Raises:
        KeyError: if there is no exercise of that name.
    """
    return verdict_on(exercise_called(name), answer, hidden=True)


def verdict_on(exercise: Exercise, answer: Any, *, hidden: bool, seed: int = 0) -> Verdict:
    """Run an answer on an exercise's cases and judge it.

    Args:
        exercise: the exercise.
        answer: what the learner wrote.
        hidden: try the cases that are used when a submission is graded, too.
        seed: picks the random models; 0 in a notebook, the student's own in a classroom.
    """
    return _judged(exercise, answer, hidden=hidden, seed=seed)[0]


def _judged(
    exercise: Exercise, answer: Any, *, hidden: bool, seed: int = 0
) -> tuple[Verdict, list[Case]]:
    """The verdict, and the cases that were tried, random models among them."""
    try:
        with quickly(exercise.procedure):
            return _judged_now(exercise, answer, hidden=hidden, seed=seed)
    except ModuleNotFoundError as error:  # a case needs it: what an answer raises is in its verdict
        if not (needs := extras.advice(error)):
            raise
        return Verdict(exercise.name, "not judged", 0.0, (Finding(MISSING_PACKAGE, needs),)), []


def _judged_now(
    exercise: Exercise, answer: Any, *, hidden: bool, seed: int
) -> tuple[Verdict, list[Case]]:
    cases = exercise.cases if hidden else exercise.visible_cases()
    cases = tuple(case for case in cases if is_known(exercise, case))
    few = None if hidden or exercise.random is None else min(AT_HAND, exercise.random.count)
    attempt = TryHere(exercise, answer, impatient=not hidden)
    source = source_of_answer(answer)
    kept = LastingState(answer)
    grading = Grading(exercise, attempt, seed, few, shrink=True, source=source)
    verdict = grading.verdict(cases)
    tried = [*cases, *grading.drawn]
    if verdict.status not in ("failed", "crashed") or verdict.example is None:
        return verdict, tried
    return with_kept_state(verdict, exercise, kept, cases), tried


def check(answer: Any, *, hidden: bool = False, points: float | None = None) -> None:
    """Check what you wrote, and show a card that says how it went.

    Args:
        answer: your function or class; the exercise is found by its name.
        hidden: try the cases that are used when a submission is graded, too.
        points: full marks, where a class gives others than the course.

    Raises:
        CheckFailed: your answer is not right. Where you have not begun, there is only the card,
            unless this is a grading run: nbgrader gives points to what raises nothing.
    """
    exercise = exercise_called(_name_of(answer))
    verdict = _checked(exercise, answer, hidden=hidden)
    if not verdict.is_unchecked:
        learners_record.note_verdict(exercise.name, verdict.status)
    from autograder.cards.card import Card
    from autograder.cards.display import show

    links = links_from(verdict, exercise)
    card = Card(verdict, exercise.worth(points), debrief=has_debrief(exercise), links=links)
    show(card)
    if verdict.status == "not attempted" and not (hidden or learners_record.is_grading()):
        return
    if verdict.is_unchecked or verdict.status not in ("passed", "not judged"):
        raise CheckFailed(_short(verdict))


def _checked(exercise: Exercise, answer: Any, *, hidden: bool) -> Verdict:
    """The verdict, unless the answer is not the one in the cells, or somebody stops the check."""
    global _last_failed
    _last_failed = None
    problem = cell_problem(exercise.name, answer, EXERCISES)
    problem = problem or stopping_call(exercise.name, answer)
    if problem is not None:
        return Verdict(exercise.name, "failed", 0.0, (problem,))
    try:
        verdict, cases = _judged(exercise, answer, hidden=hidden)
    except KeyboardInterrupt as stop:
        return Verdict(exercise.name, "crashed", 0.0, (_stopped(exercise, stop),))
    if verdict.status in ("failed", "crashed") and verdict.example is not None:
        _last_failed = failed_case(exercise, answer, verdict.example, cases)
    return verdict


def _stopped(exercise: Exercise, stop: KeyboardInterrupt) -> Finding:
    """The finding that the reader stopped a check, and where the answer was then."""
    record = stop_record(stop)
    at = f" It was at line {record['line']}: `{record['text']}`." if record["line"] else ""
    loop, *values = record["values"] or [["", ""]]
    held = ", ".join(f"`{name}` was {value}" for name, value in values)
    look = f"The loop `{loop[1]}` was running" + (f"; {held}." if held else ".") if loop[1] else ""
    return Finding("stopped", f"You stopped `{exercise.name}` here.{at}", look)


_last_failed: FailedCase | None = None


def failed() -> FailedCase:
    """The case that the last check has shown: ``.model``, ``.args``, ``.run()``, ``.debug()``.

    Raises:
        LookupError: if the last check has shown none.
    """
    if _last_failed is None:
        raise LookupError("The last `check` has shown no case. Run a check cell that fails first.")
    return _last_failed


def hint(name: str, number: int | None = None) -> None:
    """Show an exercise's hints, folded; or print one of them by its number."""
    from autograder.cards.display import show
    from autograder.cards.hints import Hints

    show(Hints(exercise_called(name), number))


def debrief(name: Any) -> None:
    """After your own pass, show the reference solution, another right answer, and a trap.

    Args:
        name: the exercise's name, or what you wrote for it.
    """
    known = name if isinstance(name, str) else _name_of(name)
    show_debrief(exercise_called(known))


def progress() -> None:
    """Show which exercises you have passed, your predictions, and where to go on."""
    from autograder.cards.display import show

    show(progress_so_far())


def progress_so_far() -> Progress:
    """What `progress` shows."""
    from autograder.cards.progress import Progress, Row

    done = learners_record.verdicts()
    rows = [
        Row(e.chapter, e.name, e.title, e.stars, e.points, done.get(e.name, "not attempted"))
        for e in EXERCISES.values()
    ]
    return Progress(rows, predicted(), linked=workspace_root.current() is not None)


def exercise_called(name: str) -> Exercise:
    """The exercise of that name.

    Raises:
        KeyError: if there is none; the message names the nearest ones.
    """
    if name in EXERCISES:
        return EXERCISES[name]
    near = difflib.get_close_matches(str(name), EXERCISES, n=3)
    guess = f" Did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else ""
    raise NoSuchExercise(f"There is no exercise called `{name}`.{guess}")


class NoSuchExercise(KeyError):
    """There is no exercise of the name given."""

    def __str__(self) -> str:
        return str(self.args[0])


def _name_of(answer: Any) -> str:
    name = getattr(answer, "__name__", None)
    if not isinstance(name, str) or name == "<lambda>":
        raise NoSuchExercise(
            f"`check` finds the exercise by the name of what you wrote, and a "
            f"{'lambda' if name else '`' + type(answer).__name__ + '`'} has none. "
            "Write a function with `def`."
        )
    return name


def _short(verdict: Verdict) -> str:
    if verdict.status == "not attempted":
        return f"`{verdict.exercise}` is not attempted yet."
    first = verdict.findings[0].message if verdict.findings else ""
    if verdict.is_unchecked:
        return f"`{verdict.exercise}` was not checked. {first}"
    return f"`{verdict.exercise}` does not pass yet. {first}"
