"""The functions that a learner calls in a notebook, such as `check`, `hint` and `progress`."""

from __future__ import annotations

import ast
import difflib
import sys
from typing import TYPE_CHECKING, Any

from autograder.cards.card import Card
from autograder.cards.display import in_notebook, show
from autograder.cards.wording import ANSWER_CELL, FILE, NOTEBOOK, headline, with_solution
from autograder.core import own_exercises
from autograder.core.exercise import Case, Exercise
from autograder.core.verdict import MISSING_PACKAGE, Finding, Verdict
from autograder.drawing import chart
from autograder.environment import extras, notebook_kernel
from autograder.exercises import EXERCISES, of_chapter
from autograder.fuzz.random_models import AT_HAND
from autograder.grading import Grading, TryHere
from autograder.judge.answer_key import is_known
from autograder.judge.answer_text import source_of_answer
from autograder.learner import ask_me as asking
from autograder.learner.check_on_run import CheckOnRun
from autograder.learner.debrief import (
    has_debrief,
    help_after,
    offer_solutions,
    show_debrief,
    show_solution,
)
from autograder.learner.drill import drill
from autograder.learner.failed_case import FailedCase, failed_case
from autograder.learner.next_links import card_links
from autograder.learner.predict import predict, small_tasks
from autograder.learner.replay import replay
from autograder.learner.stale_cell import find_stale_cell, stopping_call
from autograder.learner.state_leak import (
    add_state_leak_finding,
    closing_figures,
    restoring_functions,
)
from autograder.lessons.course_map import course_map
from autograder.runner.interruption import interruption_record
from autograder.runner.lasting_state import LastingState
from autograder.workspace import location, progress_file
from autograder.workspace.overview import standing_so_far

if TYPE_CHECKING:
    from autograder.cards.progress import Progress
    from autograder.cards.wording import Place

__all__ = [
    "CheckFailed",
    "NoSuchExercise",
    "ask_me",
    "check",
    "debrief",
    "drill",
    "failed",
    "grade",
    "hint",
    "predict",
    "progress",
    "replay",
    "solution",
    "verdict_on",
]


class CheckFailed(AssertionError):
    """An answer did not pass its check. The card above it says why."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows this instead of a traceback through the grader's own code.
        return [f"CheckFailed: {self}"]


def grade(name: str, answer: Any) -> Verdict:
    """Judge an answer on all cases of an exercise, including hidden ones.

    Args:
        name: the exercise's name.
        answer: the learner's function or class.

    Returns:
        The verdict. Exceptions of the answer are part of it, and are not raised here.

    Raises:
        KeyError: if there is no exercise of that name.
    """
    return verdict_on(exercise_called(name), answer, hidden=True)


def verdict_on(exercise: Exercise, answer: Any, *, hidden: bool, seed: int = 0) -> Verdict:
    """Run an answer on an exercise's cases and judge it.

    Args:
        exercise: the exercise.
        answer: the learner's function or class.
        hidden: also try the cases that only grading uses.
        seed: selects the random models; 0 in a notebook, the student's own in a classroom.
    """
    return _judged(exercise, answer, hidden=hidden, seed=seed)[0]


def _judged(
    exercise: Exercise, answer: Any, *, hidden: bool, seed: int = 0
) -> tuple[Verdict, list[Case]]:
    """The verdict, and the cases that were tried, including random models."""
    try:
        with closing_figures(), restoring_functions():
            return _judged_now(exercise, answer, hidden=hidden, seed=seed)
    except ModuleNotFoundError as error:  # raised by a case: an answer's error is in its verdict
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
    return add_state_leak_finding(verdict, exercise, kept, cases), tried


def _names() -> set[str]:
    """The names of all exercises, without importing any of them."""
    course = {each for chapter in course_map().chapters for each in chapter.exercises}
    return course | own_exercises.names()


class Check:
    """Check your answer, and show a card with the result: ``check(add_to_mul)``.

    It also runs when you run the cell of an answer. `check.on_run(False)` turns that off.
    """

    def __init__(self) -> None:
        self._cells = CheckOnRun(_names, self._check_cell)
        self._check_cells: dict[str, dict[str, Any]] = {}  # the latest request from it, by exercise

    def __call__(
        self, answer: Any = None, *, hidden: bool = False, points: float | None = None
    ) -> None:
        """Check an answer.

        Args:
            answer: your function or class, or its name.
            hidden: also try the cases that only grading uses.
            points: full points, if a class gives another number than the course.

        Raises:
            CheckFailed: if your answer is not right. An exercise that you have not begun only shows
                the card, unless this is a grading run: nbgrader gives points if nothing is raised.
            NoSuchExercise: if this is not an answer to an exercise.
        """
        if isinstance(answer, str):
            answer = _defined_as(exercise_called(answer).name)
        exercise = exercise_called(_name_of(answer, "check"))
        for_learner = not (hidden or progress_file.is_grading())
        if for_learner:
            self._check_cells[exercise.name] = notebook_kernel.request()
        if for_learner and self._cells.has_passed(exercise.name, answer):
            if find_stale_cell(exercise.name, answer, EXERCISES) is None:
                print("Checked above: passed.")
                return
        place = NOTEBOOK if in_notebook() else FILE
        verdict = self._show(exercise, answer, place, hidden=hidden, points=points)
        if verdict.status == "not attempted" and for_learner:
            return
        if verdict.is_unchecked or verdict.status not in ("passed", "not judged"):
            raise CheckFailed(_short(verdict))

    def on_run(self, on: bool = True) -> None:
        """Turn the check that runs after an answer's cell on or off, until the kernel ends.

        ``"check_on_run": false`` in ``.fxcourse/settings.json`` turns it off permanently.
        """
        self._cells.turn(on)

    def offer_solutions(self, on: bool = True) -> None:
        """Turn on or off that a learner who is stuck may see a solution in this notebook."""
        offer_solutions(on)

    def begin(self) -> None:
        """In a notebook, start checking answers when their cells run, and coloring figures."""
        shell = notebook_kernel.shell()
        self._cells.begin(shell)
        chart.begin(shell)

    def _check_cell(self, name: str, answer: Any) -> bool:
        """Check an answer whose cell has run; return whether it has passed.

        The card in the check cell is about an earlier answer, so a line of text replaces it.
        """
        verdict = self._show(exercise_called(name), answer, ANSWER_CELL, stub=False)
        if verdict.status != "not attempted":
            word = headline(verdict.status, final=False).word.lower()
            before = self._check_cells.get(name, {})
            notebook_kernel.replace_output(before, f"Checked above: {word}.\n")
        return verdict.passed

    def _show(
        self,
        exercise: Exercise,
        answer: Any,
        place: Place,
        *,
        hidden: bool = False,
        points: float | None = None,
        stub: bool = True,
    ) -> Verdict:
        """Judge an answer, record its verdict, and show the card.

        Args:
            exercise: the exercise.
            answer: the learner's function or class.
            place: the place of the card.
            hidden: also try the hidden cases.
            points: full points, if a class gives another number than the course.
            stub: also show the card of an exercise that is not attempted.
        """
        self._cells.note(answer)
        verdict, tried = _checked(exercise, answer, hidden=hidden)
        if verdict.status == "not attempted" and not stub:
            return verdict
        if not (verdict.is_unchecked or _is_first_try(exercise, answer)):
            progress_file.record_verdict(exercise.name, verdict.status)
        folds, solved = help_after(verdict, exercise, answer) if tried else ([], False)
        live = not (progress_file.is_grading() or notebook_kernel.is_automatic())
        if live and in_notebook() and _last_failed is not None:
            folds = [*_last_failed.folds(), *folds]
        card = Card(
            verdict,
            exercise.worth(points),
            debrief=has_debrief(exercise),
            links=card_links(verdict, exercise),
            folds=folds,
            place=with_solution(place) if solved else place,
            live=live,
        )
        show(card)
        return verdict


check = Check()


def _checked(exercise: Exercise, answer: Any, *, hidden: bool) -> tuple[Verdict, bool]:
    """The verdict, and whether the answer was tried.

    It was not if it differs from the one in the cells, or if the learner stopped the check.
    """
    global _last_checked, _last_failed
    _last_checked, _last_failed = exercise.name, None
    problem = find_stale_cell(exercise.name, answer, EXERCISES)
    problem = problem or stopping_call(exercise.name, answer)
    if problem is not None:
        return Verdict(exercise.name, "failed", 0.0, (problem,)), False
    try:
        verdict, cases = _judged(exercise, answer, hidden=hidden)
    except KeyboardInterrupt as stop:
        return Verdict(exercise.name, "crashed", 0.0, (_stopped(exercise, stop),)), False
    if verdict.passed and not hidden:
        asking.note_pass(exercise.name, answer)
    if verdict.status in ("failed", "crashed") and verdict.example is not None:
        _last_failed = failed_case(exercise, answer, verdict.example, cases)
    return verdict, True


def _is_first_try(exercise: Exercise, answer: Any) -> bool:
    """Whether an answer is still the wrong one that its cell contains at first."""
    source = source_of_answer(answer) if exercise.first_try else None
    return source is not None and exercise.first_try in source.cell


def _stopped(exercise: Exercise, stop: KeyboardInterrupt) -> Finding:
    """The finding that the learner stopped a check, with the line that was running."""
    record = interruption_record(stop)
    at = f" It was at line {record['line']}: `{record['text']}`." if record["line"] else ""
    loop, *values = record["values"] or [["", ""]]
    held = ", ".join(f"`{name}` was {value}" for name, value in values)
    look = f"The loop `{loop[1]}` was running" + (f"; {held}." if held else ".") if loop[1] else ""
    return Finding("stopped", f"You stopped `{exercise.name}` here.{at}", look)


_last_checked = ""
_last_failed: FailedCase | None = None


def failed() -> FailedCase:
    """The case that the last check has shown: `model`, `run()`, `replay()`, `debug()`.

    Raises:
        LookupError: if the last check has shown none.
    """
    if _last_failed is None:
        raise LookupError("The last `check` has shown no case. Run a check cell that fails first.")
    return _last_failed


def hint(exercise: Any = None, number: int | None = None) -> None:
    """Show the hints of an exercise, folded; or print one of them.

    Args:
        exercise: its name, or your answer; by default, the exercise that you checked last.
        number: the hint to print, from 1.
    """
    from autograder.cards.hints import Hints

    show(Hints(_exercise_of(exercise, "hint"), number))


def debrief(exercise: Any = None) -> None:
    """After your answer has passed, show the reference solution, another right answer, and a trap.

    Args:
        exercise: its name, or your answer; by default, the exercise that you checked last.
    """
    show_debrief(_exercise_of(exercise, "debrief"))


def solution(exercise: Any = None) -> None:
    """If you are stuck, show a solution: after three different answers that have failed.

    Args:
        exercise: its name, or your answer; by default, the exercise that you checked last.
    """
    show_solution(_exercise_of(exercise, "solution"))


def ask_me(exercise: Any = None, *letters: str, turn: int = 1) -> None:
    """After your answer has passed, show two questions about your own code, or pick their options.

    Args:
        exercise: its name, or your answer; by default, the exercise that you checked last.
        letters: your picks, such as ``"b", "?"``. ``"?"`` picks none. The first picks count.
        turn: 2 for two other questions, as practice.

    Raises:
        CannotAnswer: if a question does not have the option that you picked.
    """
    asking.ask_me(_exercise_of(exercise, "ask_me").name, *letters, turn=turn)


def progress(about: Any = None) -> None:
    """Show which exercises you have passed, your predictions, and where to continue.

    Args:
        about: a chapter such as ``"02"``, or an exercise of it; by default, all chapters.
    """
    show(progress_so_far(None if about is None else _chapter_of(about)))


def progress_so_far(chapter: str | None = None) -> Progress:
    """The content of `progress`.

    Args:
        chapter: the stem of a chapter's file; by default, all chapters.
    """
    from autograder.cards.progress import Progress, Row

    standing = standing_so_far()
    elsewhere = {each.name for each in {*course_map().chapters} - {*standing.course.chapters}}
    rows = [
        Row(e.chapter, e.name, e.title, e.stars, standing.verdicts.get(e.name, "not attempted"))
        for e in (EXERCISES.values() if chapter is None else of_chapter(chapter))
        if e.chapter not in elsewhere
    ]
    linked = location.current() is not None
    return Progress(rows, small_tasks(), standing.place(), linked=linked)


class NoSuchExercise(KeyError):
    """There is no exercise of this name, or the argument does not name one."""

    def __str__(self) -> str:
        return str(self.args[0])

    def _render_traceback_(self) -> list[str]:
        # IPython shows this instead of a traceback through the grader's own code.
        return [f"NoSuchExercise: {self}"]


def exercise_called(name: str) -> Exercise:
    """The exercise of this name.

    Raises:
        NoSuchExercise: if there is none; the message lists similar names.
    """
    if name in EXERCISES:
        return EXERCISES[name]
    near = difflib.get_close_matches(str(name), sorted(_names()), n=3)
    guess = f" Did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else ""
    raise NoSuchExercise(f"There is no exercise called `{name}`.{guess}")


def _exercise_of(exercise: Any, call: str) -> Exercise:
    """The exercise that a learner names by a string or by the answer."""
    if exercise is None and _last_checked:
        exercise = _last_checked
    return exercise_called(exercise if isinstance(exercise, str) else _name_of(exercise, call))


def _chapter_of(about: Any) -> str:
    """The chapter that a learner names by its number, its name, or one of its exercises."""
    word = str(about).removesuffix(".ipynb")
    for chapter in course_map().chapters:
        if word in (chapter.name, chapter.name.partition("_")[0], chapter.number):
            return chapter.name
    if isinstance(about, str) and about not in EXERCISES and about[:1].isdigit():
        names = ", ".join(f"`{chapter.number}`" for chapter in course_map().chapters)
        raise NoSuchExercise(f"There is no chapter `{about}`. Chapters: {names}.")
    return _exercise_of(about, "progress").chapter


def _name_of(answer: Any, call: str) -> str:
    """The name of the exercise that an object answers: its own, or that of its variable."""
    name = getattr(answer, "__name__", None)
    if isinstance(name, str) and name in EXERCISES:
        return name
    for its, value in vars(sys.modules["__main__"]).items():
        if value is answer and answer is not None and its in EXERCISES:
            return its
    if isinstance(name, str) and name != "<lambda>":
        return name
    kind = "lambda" if name else type(answer).__name__
    given = "nothing" if answer is None else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    raise NoSuchExercise(f"You passed {given}. Write `{call}({_meant()})`.")


def _meant() -> str:
    """The exercise to suggest: named in this cell, or checked last, or an example."""
    shell = notebook_kernel.shell()
    try:
        tree = ast.parse(str(shell.user_ns["In"][-1])) if shell else None
    except (SyntaxError, ValueError, LookupError):
        tree = None
    names = (each.id for each in ast.walk(tree) if isinstance(each, ast.Name)) if tree else ()
    return next((name for name in names if name in EXERCISES), _last_checked or "node_names")


def _defined_as(name: str) -> Any:
    """The answer of this name in the notebook."""
    found = vars(sys.modules["__main__"]).get(name)
    if found is None:
        raise NoSuchExercise(f"`{name}` is not defined yet. Run the cell with your answer first.")
    return found


def _short(verdict: Verdict) -> str:
    if verdict.status == "not attempted":
        return f"`{verdict.exercise}` is not attempted yet."
    first = verdict.findings[0].message if verdict.findings else ""
    if verdict.is_unchecked:
        return f"`{verdict.exercise}` was not checked. {first}"
    return f"`{verdict.exercise}` does not pass yet. {first}"
