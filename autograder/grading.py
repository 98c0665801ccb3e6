"""Tries an answer on models drawn at random, after all hand-picked cases have held.

A model that breaks it is made smaller for as long as it still does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autograder.core.exercise import RANDOM, Case, Exercise
from autograder.core.global_state import kept_state
from autograder.core.graph_jobs import GraphRunner, do_here
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome
from autograder.core.verdict import Share, Verdict
from autograder.judge import findings_of, judge, score_of
from autograder.runner import run

if TYPE_CHECKING:
    from autograder.fuzz.random_models import RandomModels


def with_random_models(
    exercise: Exercise,
    random: RandomModels,
    answer: Any,
    verdict: Verdict,
    outcomes: list[Outcome],
    cases: tuple[Case, ...],
    seed: int = 0,
    count: int | None = None,
) -> Verdict:
    """The verdict with the share of random models in it.

    Args:
        exercise: the exercise.
        random: its random models.
        answer: what the learner wrote.
        verdict: the verdict on the hand-picked cases; where it is bad, nothing more is tried.
        outcomes: those of the hand-picked cases.
        cases: the hand-picked cases.
        seed: picks the random models.
        count: how many are tried; all of the exercise's by default.
    """
    if not verdict.passed:
        return without_random_models(verdict)
    drawn = random.cases(seed, count)
    held = frozenset(case.name for case in cases)
    outcomes = list(outcomes)
    for case in drawn:
        outcome = run(exercise, answer, case)
        if fails(exercise, case, outcome):
            worst = random.smallest(case, lambda case: _breaks(exercise, answer, case))
            shown = run(exercise, answer, worst)
            if not fails(exercise, worst, shown):  # an answer that fails now and then
                worst, shown = case, outcome
            outcomes.append(shown)
            return judge(exercise, outcomes, (*cases, worst), held=held)
        outcomes.append(outcome)
        held |= {case.name}
    return judge(exercise, outcomes, (*cases, *drawn), held=held)


def judge_random_models(
    exercise: Exercise,
    random: RandomModels,
    verdict: Verdict,
    outcomes: list[Outcome],
    seed: int = 0,
    runner: GraphRunner = do_here,
) -> Verdict:
    """As `with_random_models`, where the answer has been tried on the random models already.

    Args:
        exercise: the exercise.
        random: its random models.
        verdict: the verdict on the hand-picked cases.
        outcomes: those of all cases.
        seed: picks the random models.
        runner: does what is to be done with the graphs that the outcomes describe.
    """
    if not verdict.passed:
        return without_random_models(verdict)
    held = frozenset(case.name for case in exercise.cases)
    cases = (*exercise.cases, *random.cases(seed))
    return judge(exercise, outcomes, cases, held=held, runner=runner)


def without_random_models(verdict: Verdict) -> Verdict:
    """The verdict on an answer that has not come as far as random models."""
    shares = (*verdict.shares, Share(RANDOM.says, RANDOM.weight, held=False))
    return replace(verdict, shares=shares, score=score_of(shares))


def fails(exercise: Exercise, case: Case, outcome: Outcome) -> bool:
    """Whether an answer fails a case."""
    with kept_state(), bounded_output(0):
        return bool(findings_of(exercise, case, outcome))


def _breaks(exercise: Exercise, answer: Any, case: Case) -> bool:
    return fails(exercise, case, run(exercise, answer, case))
