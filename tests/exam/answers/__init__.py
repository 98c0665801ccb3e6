"""The grader's own exam: right and wrong answers for every exercise, one module each.

A module is named after its exercise. `right` marks an answer that must pass, `wrong` one
that must fail with a given finding. A module's `BEYOND` says of wrong answers that random models
alone cannot find why that is so. Its `CLAUSES` names the clause that a wrong answer breaks, where
answers are marked in a loop; else the mark itself does.
"""

from __future__ import annotations

import gc
import importlib
import io
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import Any

from autograder.core.global_state import preserve_global_state
from autograder.core.limits import Limits, bounded_output
from autograder.core.outcome import Outcome
from autograder.core.verdict import Finding, Verdict
from autograder.exercises import EXERCISES
from autograder.judge import findings_of, judge
from autograder.judge.answer_text import source_of_answer
from autograder.judge.source_rules import reading_of, source_findings
from autograder.runner import run, run_cases
from autograder.speed import fx_tracing
from tests.exam import caught_on

fx_tracing.install()


@dataclass(frozen=True)
class Answer:
    """One answer of the exam.

    Attributes:
        exercise: the exercise it answers.
        style: what is special about it, in a few words; unique within the exercise.
        write: the function or class.
        finding: the code of the finding it must get; ``None`` for a right answer.
        clause: ids of the clauses of the contract that it breaks, and no others, with commas
            between them; see `tests.exam.clauses`.
    """

    exercise: str
    style: str
    write: Any
    finding: str | None = None
    clause: str = ""

    def __str__(self) -> str:
        return f"{self.exercise}: {self.style}"


_ANSWERS: list[Answer] = []


def _register(style: str, finding: str | None, clause: str = "") -> Callable[[Any], Any]:
    def mark(write: Any) -> Any:
        exercise = write.__module__.rpartition(".")[2]
        _ANSWERS.append(Answer(exercise, style, write, finding, clause))
        return write

    return mark


def right(style: str, *, debrief: bool = False) -> Callable[[Any], Any]:
    """Mark an answer that must pass; with `debrief`, a learner sees it after a pass of their own.

    The builder reads that mark in the text, with what the answer uses of its module.
    """
    return _register(style, None)


def wrong(style: str, finding: str, clause: str = "") -> Callable[[Any], Any]:
    """Mark an answer that must fail with a finding of that code, and say which clause it breaks."""
    return _register(style, finding, clause)


def kept_by_class(answer: Callable[..., Any]) -> Callable[..., Any]:
    """A wrong answer made of a right one: what it gives once, it gives for all of that class.

    The class of what is given does not say its graph: two chains of one class differ in length.
    """
    kept: dict[tuple[type, ...], Any] = {}

    @wraps(answer)
    def keeping(*given: Any) -> Any:
        classes = tuple(map(type, given))
        if classes not in kept:
            kept[classes] = answer(*given)
        return kept[classes]

    return keeping


ONE_CLASS_EACH = "each random model is of a class of its own"
"""Why random models do not find what `kept_by_class` makes."""

Examined = tuple[tuple[Outcome, ...], Verdict]


def examine(answer: Answer) -> Examined:
    """What became of an answer on all cases, and the verdict.

    It is worked out once, and kept until another exercise's turn comes: every graph module has
    a class of its own, and each trace walks all classes of modules that are alive. What another
    right answer has done on a case, byte for byte, is judged once.
    """
    known = _of(answer.exercise)
    if answer not in known.examined:
        exercise = EXERCISES[answer.exercise]
        outcomes = run_cases(exercise, answer.write, exercise.cases)
        texts = {outcome.case: _written(outcome) for outcome in outcomes}
        held = frozenset(case for case, text in texts.items() if text in known.held)
        source = source_of_answer(answer.write)
        verdict = judge(exercise, outcomes, known=dict.fromkeys(held, []), source=source)
        if verdict.passed:
            known.held.update(texts.values())
        known.examined[answer] = tuple(outcomes), verdict
    return known.examined[answer]


def is_held(exercise: str, outcome: Outcome) -> bool:
    """Whether it is what a right answer of the exam did on that case, byte for byte."""
    for answer in answers_to(exercise):
        if answer.finding is None:
            examine(answer)
    return _written(outcome) in _of(exercise).held


def _written(outcome: Outcome) -> bytes:
    """All that an outcome tells, its case's name included: a judge has nothing else to go by."""
    stream = io.BytesIO()
    outcome.write(stream)
    return stream.getvalue()


def finding_meant_for(answer: Answer) -> Finding | None:
    """The finding that a wrong answer must get, of the first case that shows it.

    The cases behind that one are not tried: they say nothing more about the answer, and take three
    quarters of the time. Nor are those before it, where `caught_on` knows which it is; if that case
    does not show the finding, all are tried in their order.
    """
    known = _of(answer.exercise).caught
    if answer not in known:
        known[answer] = caught_by(answer)[1]
    return known[answer]


def caught_by(answer: Answer) -> tuple[str, Finding | None]:
    """The case that shows the finding which a wrong answer must get, and that finding."""
    name = caught_on.known(answer)
    if found := _finding_on(answer, name):
        return name, found
    return _first_catch(answer)


def _first_catch(answer: Answer) -> tuple[str, Finding | None]:
    """The first case that shows the finding which a wrong answer must get, and that finding.

    The case is ``""`` where the answer's text shows it, or nothing does.
    """
    exercise = EXERCISES[answer.exercise]
    if source := source_of_answer(answer.write):
        for each in source_findings(exercise, reading_of(exercise, source)):
            if each.code == answer.finding:
                return "", each
    for case in exercise.cases:
        if found := _finding_on(answer, case.name):
            return case.name, found
    return "", None


_ENDLESS = Limits(cpu=2.0)
"""For answers that would go on for ever: less time shows the same."""


def _finding_on(answer: Answer, name: str) -> Finding | None:
    """The finding that a wrong answer must get, if the case of that name shows it."""
    exercise = EXERCISES[answer.exercise]
    for case in exercise.cases:
        if case.name == name:
            limits = _ENDLESS if answer.finding == "out-of-time" else None
            outcome = run(exercise, answer.write, case, limits=limits)
            with preserve_global_state(), bounded_output(0):  # as `judge` looks at outcomes
                found = findings_of(exercise, case, outcome)
            return next((each for each in found if each.code == answer.finding), None)
    return None


@dataclass
class _WorkedOut:
    """What is known of the answers to one exercise."""

    examined: dict[Answer, Examined] = field(default_factory=dict)
    held: set[bytes] = field(default_factory=set)
    caught: dict[Answer, Finding | None] = field(default_factory=dict)


_turn: dict[str, _WorkedOut] = {}
"""What is known of the exercise whose turn it is, by its name."""


def _of(exercise: str) -> _WorkedOut:
    """What was worked out for the exercise whose turn it is."""
    if exercise not in _turn:
        _turn.clear()
        gc.collect()  # what the last one has left is in circles
        gc.freeze()  # and what is there now will stay: the next search need not look at it
        _turn[exercise] = _WorkedOut()
    return _turn[exercise]


@lru_cache(maxsize=1)
def all_answers() -> tuple[Answer, ...]:
    """Every answer of the exam."""
    for name in names():
        importlib.import_module(f"{__name__}.{name}")
    return tuple(_ANSWERS)


def names() -> list[str]:
    """The exercises that the exam has answers to."""
    return [module.name for module in pkgutil.iter_modules(__path__)]


def answers_to(exercise: str) -> tuple[Answer, ...]:
    """The answers to one exercise; no others are imported."""
    importlib.import_module(f"{__name__}.{exercise}")
    return tuple(answer for answer in _ANSWERS if answer.exercise == exercise)


def beyond(answer: Answer) -> str:
    """Why random models cannot find a wrong answer, as its module's `BEYOND` says; or nothing."""
    module = importlib.import_module(f"{__name__}.{answer.exercise}")
    return getattr(module, "BEYOND", {}).get(answer.style, "")


def clauses_of(answer: Answer) -> tuple[str, ...]:
    """Full ids of the clauses that a wrong answer breaks, such as ``extract.aliases``."""
    module = importlib.import_module(f"{__name__}.{answer.exercise}")
    text = answer.clause or getattr(module, "CLAUSES", {}).get(answer.style, "")
    keys = [key.strip() for key in text.split(",") if key.strip()]
    return tuple(key if "." in key else f"{answer.exercise}.{key}" for key in keys)
