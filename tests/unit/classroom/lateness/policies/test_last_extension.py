"""Hidden cases are never shown before the last extension ends, whatever the class's policy is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from autograder.classroom.lateness.deadlines import (
    ALL,
    HandIn,
    OneStudent,
    Policy,
    last_extension,
    work_out,
)
from autograder.classroom.reports.reveal import why_too_early
from autograder.environment.errors import ClassroomError

CHAPTER, OTHER = "03_manipulation", "04_more"
DUE = datetime(2026, 12, 1, 23)
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
STUDENTS = ("ann", "bo", "cy")


def random_policy(chance: random.Random) -> Policy:
    """A policy with exceptions for some students; each late day costs something."""

    def exception() -> OneStudent:
        names = chance.sample((CHAPTER, OTHER, ALL), chance.randrange(4))
        extensions = {name: timedelta(hours=chance.randrange(100)) for name in names}
        return OneStudent(chance.choice((None, 0, chance.randrange(9))), extensions)

    students = {name: exception() for name in chance.sample(STUDENTS, chance.randrange(4))}
    grace = timedelta(minutes=chance.choice((0, chance.randrange(3_000))))
    return Policy(grace=grace, percent_a_day=5, late_days=chance.randrange(4), students=students)


def policies() -> Iterator[tuple[Policy, dict[str, datetime]]]:
    """Policies, each with due dates that nbgrader has for some students."""
    for seed in range(1_000):
        chance = random.Random(seed)
        own = chance.sample(STUDENTS, chance.randrange(3))
        dates = {name: DUE + timedelta(hours=chance.randrange(-50, 100)) for name in own}
        yield random_policy(chance), dates


def percent(policy: Policy, student: str, own: dict[str, datetime], at: datetime) -> float:
    """The cost of handing in at a time, for a student who was never late before."""
    hand_in = HandIn(CHAPTER, own.get(student, DUE), at)
    return work_out(policy, student, [hand_in])[CHAPTER].percent


def book(own: dict[str, datetime], due: datetime | None = DUE) -> Any:
    submissions = [SimpleNamespace(student_id=name, duedate=at) for name, at in own.items()]
    assignment = SimpleNamespace(duedate=due, submissions=submissions)
    return SimpleNamespace(find_assignment=lambda chapter: assignment)


def test_never_before_the_last_extension_and_not_later() -> None:
    for policy, own in policies():
        end, whose = last_extension(policy, CHAPTER, DUE, own)
        everybody = (*STUDENTS, "a student whom nobody knows")
        assert all(percent(policy, one, own, end + SECOND) for one in everybody)
        assert percent(policy, whose, own, end) == 0.0
        assert why_too_early(book(own), CHAPTER, policy, "", end).startswith("The last extension")
        assert why_too_early(book(own), CHAPTER, policy, "", end + SECOND) == ""
        after = why_too_early(book(own), CHAPTER, policy, "2026-11-01", end)
        assert after, "--after does not shorten an extension"


def test_the_reason_names_the_end_and_the_student() -> None:
    zone = ZoneInfo("Europe/Berlin")
    policy = Policy(zone=zone, late_days=1, grace=timedelta(minutes=-1))
    says = why_too_early(book({}), CHAPTER, policy, "", DUE)
    assert says == "The last extension ends on 2 Dec, 23:59 CET."
    ann = {"ann": OneStudent(extensions={CHAPTER: 2 * DAY})}
    policy = Policy(zone=zone, late_days=1, grace=timedelta(minutes=-1), students=ann)
    says = why_too_early(book({}), CHAPTER, policy, "", DUE)
    assert says == "The last extension ends on 4 Dec, 23:59 CET, for ann."


def test_without_a_due_date_somebody_must_name_the_end() -> None:
    with pytest.raises(ClassroomError, match="has no due date.*--after 2026-12-04"):
        why_too_early(book({}, None), CHAPTER, Policy(), "", DUE)
    for after, now in (("2026-12-01", DUE), ("2026-12-01 23:00", DUE), ("2026-12-02", DUE + DAY)):
        said = why_too_early(book({}, None), CHAPTER, Policy(), after, now)
        assert said == f"You said --after {after}, which is not over yet."
        assert why_too_early(book({}, None), CHAPTER, Policy(), after, now + DAY) == ""
    assert "--after" in why_too_early(book({}), CHAPTER, Policy(), "2026-12-09", DUE + 2 * DAY)
    with pytest.raises(ClassroomError, match="--after 'soon' does not hold a time"):
        why_too_early(book({}, None), CHAPTER, Policy(), "soon", DUE)
