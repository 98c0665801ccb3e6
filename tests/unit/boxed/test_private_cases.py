"""The case that a page shows after the deadline: which one, and without other hidden cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.boxed.private_cases import private_case
from autograder.core.exercise import Exercise
from autograder.core.outcome import Outcome
from autograder.core.verdict import Example, Verdict
from autograder.submission.check_result import (
    MAX_MODEL,
    MAX_RESULT,
    CheckResult,
    PrivateCase,
    are_checks,
)
from tests.support.numbers.numbers_syllabus import EXERCISES, _case

AFTER, HALF = EXERCISES["after"], EXERCISES["half"]
NINE = Outcome("nine", "returned", value=77)


def kept(
    exercise: Exercise = AFTER, value: object = 77, fails: tuple[str, ...] = ("nine",)
) -> PrivateCase | None:
    verdict = Verdict(exercise.name, "failed", 0.0, fails=tuple((name, "x") for name in fails))
    outcomes = {case.name: replace(NINE, case=case.name, value=value) for case in exercise.cases}
    return private_case(exercise, verdict, (), outcomes)


def test_the_results_on_a_hidden_case_are_kept() -> None:
    found = kept()
    assert found is not None
    assert (found.case, found.kind, found.call) == ("nine", "hidden", "after(9)")
    assert found.obtained == "77"


def test_a_part_that_a_visible_case_fails_too_needs_no_hidden_one() -> None:
    assert kept(fails=("one", "nine")) is None
    assert kept(fails=("minus one", "nine")) is not None, "that is another part"
    assert kept(fails=("one",)) is None and kept(fails=()) is None


def test_the_simplest_hidden_case_of_the_first_part_is_shown() -> None:
    more = (_case("minus nine", "rare", -9, -10, hidden=True),)
    exercise = replace(AFTER, cases=(*more, *AFTER.cases))
    found = kept(exercise, fails=("minus nine", "nine"))
    assert found is not None and found.case == "nine"


def test_the_random_model_of_the_card_is_kept() -> None:
    (drawn, *_) = HALF.random.cases(3) if HALF.random else ()
    verdict = Verdict("half", "failed", 0.6, example=Example(drawn.name))
    outcomes = {drawn.name: replace(NINE, case=drawn.name)}
    found = private_case(HALF, verdict, (drawn,), outcomes)
    assert found is not None and (found.case, found.kind) == (drawn.name, "random")
    assert private_case(HALF, verdict, (), outcomes) is None


def test_an_answer_cannot_repeat_other_hidden_cases() -> None:
    text = "class Hidden(nn.Module): return torch.softmax(secret_17, dim=1)"
    found = kept(value=text)
    assert found is not None
    for word in ("Hidden", "Module", "softmax", "secret_17"):
        assert word not in found.obtained, found.obtained


def test_a_case_that_cannot_be_described_changes_nothing() -> None:
    broken = replace(AFTER.cases[-1], make=lambda seed: 1 / 0)
    exercise = replace(AFTER, cases=(*AFTER.cases[:-1], broken))
    assert kept(exercise) is None


def test_a_case_is_bounded_and_survives_the_journal() -> None:
    case = PrivateCase("c", "hidden", "m" * 9_999, *["x" * 9_999] * 4).bounded()
    assert case.model == "" and len(case.obtained) == MAX_RESULT
    check = CheckResult("after", "failed", 0.0, private=case)
    assert are_checks([check.to_json()]) and CheckResult.from_json(check.to_json()) == check


@pytest.mark.parametrize(
    "change",
    [{"kind": "shown"}, {"model": "m" * (MAX_MODEL + 1)}, {"obtained": 3}, {"more": "x"}],
)
def test_other_cases_are_not_taken_from_a_judge(change: dict[str, object]) -> None:
    row = CheckResult("after", "failed", 0.0, private=PrivateCase("c", "hidden")).to_json()
    assert are_checks([row])
    assert not are_checks([row | {"private": row["private"] | change}])
