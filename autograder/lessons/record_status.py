"""Status of an exercise in a learner's record: of a verdict, or about its solution."""

from __future__ import annotations

PASSED = "passed"
SEEN = "seen"
"""The learner has not passed, and was shown the solution."""

PASSED_SEEN = "passed, solution seen"
"""The learner has passed after the solution was shown."""


def is_passed(status: str | None) -> bool:
    """Whether an exercise with this status is passed."""
    return status in (PASSED, PASSED_SEEN)


def is_settled(status: str | None) -> bool:
    """Whether an exercise with this status is passed or its solution was seen."""
    return is_passed(status) or status == SEEN


def after_verdict(before: str | None, verdict: str) -> str | None:
    """The status of an exercise after a verdict. A pass is final, and *seen* lasts until a pass.

    Args:
        before: the status so far, if there is one.
        verdict: the status of the verdict.
    """
    if verdict == "not attempted" or is_passed(before):
        return before
    if before == SEEN:
        return PASSED_SEEN if verdict == PASSED else SEEN
    return verdict


def better_of(one: str | None, other: str | None) -> str | None:
    """The status of an exercise from two records: a pass counts most, then *seen*."""
    both = [status for status in (one, other) if status is not None]
    passed = [status for status in both if is_passed(status)]
    if passed:
        return passed[0]
    return SEEN if SEEN in both else next(iter(both), None)
