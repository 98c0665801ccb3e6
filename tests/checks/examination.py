"""Tries answers as a grader does, and caches the results of one exercise."""

from __future__ import annotations

import gc
import io
from dataclasses import dataclass, field

from autograder.core.global_state import preserve_global_state
from autograder.core.limits import Limits, bounded_output
from autograder.core.outcome import Outcome
from autograder.core.verdict import Finding, Verdict
from autograder.exercises import EXERCISES
from autograder.judge import findings_of, judge
from autograder.judge.answer_text import source_of_answer
from autograder.judge.source_rules import reading_of, source_findings
from autograder.runner import run, run_cases
from tests.checks.clauses import cases_for
from tests.exercises import Answer, answers_to

Examined = tuple[tuple[Outcome, ...], Verdict]


def examine(answer: Answer) -> Examined:
    """The outcomes of an answer on all cases, and the verdict.

    They are cached until another exercise is examined: every graph module has its own class, and
    each trace visits all live module classes. If another right answer had the same outcome on a
    case, byte for byte, the case is not judged again.
    """
    known = _results_of(answer.exercise)
    if answer not in known.examined:
        exercise = EXERCISES[answer.exercise]
        outcomes = run_cases(exercise, answer.write, exercise.cases)
        texts = {outcome.case: _as_bytes(outcome) for outcome in outcomes}
        held = frozenset(case for case, text in texts.items() if text in known.held)
        source = source_of_answer(answer.write)
        verdict = judge(exercise, outcomes, known=dict.fromkeys(held, []), source=source)
        if verdict.passed:
            known.held.update(texts.values())
        known.examined[answer] = tuple(outcomes), verdict
    return known.examined[answer]


def is_held(exercise: str, outcome: Outcome) -> bool:
    """Whether a right answer to the exercise had this outcome on this case, byte for byte."""
    for answer in answers_to(exercise):
        if answer.finding is None:
            examine(answer)
    return _as_bytes(outcome) in _results_of(exercise).held


def _as_bytes(outcome: Outcome) -> bytes:
    """All of an outcome, with its case's name: the judge uses nothing else."""
    stream = io.BytesIO()
    outcome.write(stream)
    return stream.getvalue()


def finding_meant_for(answer: Answer) -> Finding | None:
    """The finding that a wrong answer must get, if its text or a case that is about it shows it."""
    known = _results_of(answer.exercise).caught
    if answer not in known:
        known[answer] = find_catching_case(answer)[1]
    return known[answer]


def find_catching_case(answer: Answer) -> tuple[str, Finding | None]:
    """The first case that shows the finding which a wrong answer must get, and that finding.

    Only cases of the clauses that the answer breaks are tried. The case is ``""`` if the answer's
    text shows the finding, or if nothing does.
    """
    exercise = EXERCISES[answer.exercise]
    if source := source_of_answer(answer.write):
        for each in source_findings(exercise, reading_of(exercise, source)):
            if each.code == answer.finding:
                return "", each
    for name in cases_for(answer):
        if found := finding_on(answer, name):
            return name, found
    return "", None


_ENDLESS = Limits(cpu=2.0)
"""Limits for answers that would run forever: less time shows the same."""


def finding_on(answer: Answer, name: str) -> Finding | None:
    """The finding that a wrong answer must get, if the case of this name shows it."""
    exercise = EXERCISES[answer.exercise]
    for case in exercise.cases:
        if case.name == name:
            limits = _ENDLESS if answer.finding == "out-of-time" else None
            outcome = run(exercise, answer.write, case, limits=limits)
            with preserve_global_state(), bounded_output(0):  # as in `judge`
                found = findings_of(exercise, case, outcome)
            return next((each for each in found if each.code == answer.finding), None)
    return None


@dataclass
class _Results:
    """The results of the answers to one exercise.

    Attributes:
        examined: outcomes and verdicts.
        held: outcomes of right answers, as bytes.
        caught: the finding meant for each wrong answer.
    """

    examined: dict[Answer, Examined] = field(default_factory=dict)
    held: set[bytes] = field(default_factory=set)
    caught: dict[Answer, Finding | None] = field(default_factory=dict)


_current: dict[str, _Results] = {}
"""The results of the exercise that is examined now, by its name."""


def _results_of(exercise: str) -> _Results:
    """The results of an exercise; those of the exercise before it are dropped."""
    if exercise not in _current:
        _current.clear()
        gc.collect()  # the last exercise's objects are in reference cycles
        gc.freeze()  # the next collection skips all remaining objects
        _current[exercise] = _Results()
    return _current[exercise]
