"""Every case of one exercise and what became of it: asked for when a grade is looked at again."""

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
    """What became of each case.

    Args:
        exercise: the exercise.
        drawn: the random models that it was tried on.
        outcomes: by case; those that are not there were not tried.
        runner: does what is to be done with graphs.
        found: what the verdict says, for cases that cannot be looked at a second time.
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
    """The first finding on a case."""
    try:
        with preserve_global_state(), bounded_output(0):
            return next(iter(findings_of(exercise, case, outcome, runner=runner)), None)
    except Exception:  # an outcome that cannot be judged; the verdict says so, too
        message = f"What `{exercise.name}` did on this case could not be judged."
        return told.get(case.name, Finding("unreadable", message))
