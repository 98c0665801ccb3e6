"""The result of every case of one exercise, for a person who reviews a grade."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from autograder.core.exercise import RANDOM, Case, Exercise
from autograder.core.global_state import preserve_global_state
from autograder.core.graph_jobs import GraphRunner
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome
from autograder.core.verdict import Finding
from autograder.judge import findings_of
from autograder.submission.case_report import CaseReport


def case_reports(
    exercise: Exercise,
    drawn: Sequence[Case],
    outcomes: Mapping[str, Outcome],
    runner: GraphRunner,
    found: Iterable[Finding] = (),
) -> list[CaseReport]:
    """Report the result of each case.

    Args:
        exercise: the exercise.
        drawn: the random models that the answer was tried on.
        outcomes: by case; a case without one was not tried.
        runner: does jobs with graphs.
        found: the findings of the verdict, for cases that cannot be judged again.
    """
    parts = {aspect.key: aspect.says for aspect in exercise.all_aspects}
    told = {finding.case: finding for finding in found}
    reports = []
    for case in (*exercise.cases, *drawn):
        random = case.aspect == RANDOM.key
        kind = "random" if random else "hidden" if case.hidden else "shown"
        head = (case.name, parts.get(case.aspect, case.aspect), kind)
        outcome = outcomes.get(case.name)
        if outcome is None:
            reports.append(CaseReport(*head, "not tried"))
            continue
        first = _first(exercise, case, outcome, runner, told)
        if first is None:
            reports.append(CaseReport(*head, "held"))
        else:
            reports.append(CaseReport(*head, "failed", first.code, first.message))
    return reports


def _first(
    exercise: Exercise,
    case: Case,
    outcome: Outcome,
    runner: GraphRunner,
    told: Mapping[str, Finding],
) -> Finding | None:
    """The first finding on a case; ``None`` if it passes."""
    try:
        with preserve_global_state(), bounded_output(0):
            return next(iter(findings_of(exercise, case, outcome, runner=runner)), None)
    except Exception:  # the outcome cannot be judged, which the verdict says, too
        message = f"What `{exercise.name}` did on this case could not be judged."
        return told.get(case.name, Finding("unreadable", message))
