"""Describes the case that a student sees only after the last extension; see `reveal`."""

from __future__ import annotations

import builtins
import contextlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from autograder.boxed.work_ahead import LOOKING
from autograder.core.exercise import Case, Exercise
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import OutOfTime, bounded_output, time_limit
from autograder.core.outcome import Outcome
from autograder.core.verdict import Verdict
from autograder.judge import size_of
from autograder.judge.answer_key import key_of
from autograder.judge.counterexample import example_of
from autograder.judge.redaction import LEFT_OUT
from autograder.submission.check_result import PrivateCase


def private_case(
    exercise: Exercise, verdict: Verdict, drawn: Iterable[Case], outcomes: Mapping[str, Outcome]
) -> PrivateCase | None:
    """The failing case whose results are not on the student's card; ``None`` if there is none.

    It is computed after the verdict, which it cannot change.

    Args:
        exercise: the exercise.
        verdict: the verdict on the answer.
        drawn: the random models that the answer was tried on.
        outcomes: what the answer did, by case.
    """
    with contextlib.suppress(OutOfTime, Exception), time_limit(LOOKING):
        with preserve_global_state(), bounded_output(0):
            case = _hidden_case(exercise, verdict) or _random_model(verdict, drawn)
            return _described(exercise, case, outcomes[case.name]) if case else None
    return None


def _hidden_case(exercise: Exercise, verdict: Verdict) -> Case | None:
    """The simplest hidden case of the first part that no visible case fails.

    Where a visible case fails, too, the card shows that one, and the hidden one stays for another
    year.
    """
    failing = [case for case in exercise.cases if case.name in dict(verdict.fails)]
    explained = {case.aspect for case in failing if not case.hidden}
    order = {aspect.key: place for place, aspect in enumerate(exercise.all_aspects)}
    return min(
        (case for case in failing if case.hidden and case.aspect not in explained),
        key=lambda case: (order[case.aspect], size_of(case)),
        default=None,
    )


def _random_model(verdict: Verdict, drawn: Iterable[Case]) -> Case | None:
    """The random model on the student's card, which lacks the answer's result."""
    shown = verdict.example.case if verdict.example else ""
    return next((case for case in drawn if case.name == shown), None)


def _described(exercise: Exercise, case: Case, outcome: Outcome) -> PrivateCase:
    example = example_of(exercise, replace(case, hidden=False), outcome, 0, key_of(exercise))
    nodes = " ".join(f"{box.name} {box.label}" for box in example.before)
    known = (example.source, example.call, example.expected, nodes, exercise.name)
    return PrivateCase(
        case.name,
        "hidden" if case.hidden else "random",
        example.source.strip(),
        example.call,
        "\n".join(example.inputs),
        example.expected,
        _in_known_words(example.obtained, known),
    ).bounded()


def _in_known_words(text: str, known: Iterable[str]) -> str:
    """A text without words that neither the case nor FX nor Python has.

    The answer has seen other hidden cases, and could repeat them in a text.
    """
    words = {word for each in known for word in _WORD.findall(each)}.union(_OPS, dir(builtins))

    def shown(found: re.Match[str]) -> str:
        word = found[0]
        is_known = word in words or re.sub(r"_\d{1,3}$", "", word) in words
        return word if is_known or word in ("nan", "inf") else LEFT_OUT

    return _WORD.sub(shown, text)


_OPS = ("placeholder", "get_attr", "call_function", "call_module", "call_method", "output")
_WORD = re.compile(r"\b[^\W\d]\w{2,}")
