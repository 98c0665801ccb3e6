"""Wrong answers that fail the same cases in the same way are one group."""

from __future__ import annotations

from autograder.classroom.groups.answers import WrongAnswer
from autograder.classroom.groups.grouping import Group, group
from autograder.submission.check_result import CheckResult, KeptFinding
from tests.support.grouped_class import Fails, check


def answers(count: int, fails: Fails | None, message: str = "") -> list[WrongAnswer]:
    return [
        WrongAnswer(f"{message or fails} {place}", check("after", fails, message))
        for place in range(count)
    ]


def groups_of(*those: list[WrongAnswer], cases: int = 10) -> list[Group]:
    return group("after", [one for each in those for one in each], cases)


def sizes(groups: list[Group]) -> list[int]:
    return [len(each.answers) for each in groups]


A: Fails = (("c1", "stale"), ("c2", "stale"))
B: Fails = (("c3", "crashed"), ("c4", "crashed"))
BOTH: Fails = (*A, *B)


def test_equal_sets_are_one_group_and_the_order_does_not_count() -> None:
    found = groups_of(answers(3, A), answers(2, A[::-1]), answers(4, B))
    assert sizes(found) == [5, 4]
    assert found[0].cases == {"c1", "c2"}


def test_the_first_finding_alone_does_not_make_a_group() -> None:
    assert sizes(groups_of(answers(3, A), answers(2, A[:1]))) == [3, 2]


def test_groups_that_fail_the_same_cases_follow_one_another() -> None:
    raises: Fails = tuple((case, "crashed") for case, _ in A)
    found = groups_of(answers(5, A), answers(4, B), answers(1, raises))
    assert [each.rows for each in found] == [frozenset(A), frozenset(raises), frozenset(B)]
    assert [each.alike for each in found] == [False, True, False]


def test_two_common_mistakes_belong_to_both_groups() -> None:
    both = answers(2, BOTH)
    found = groups_of(answers(5, A), answers(4, B), both)
    assert sizes(found) == [7, 6]
    for each in found:
        assert {one.student for one in both} <= set(each.students)


def test_a_common_mistake_is_not_taken_for_two() -> None:
    """The two others are rarer."""
    assert sizes(groups_of(answers(3, A), answers(3, B), answers(3, BOTH))) == [3, 3, 3]


def test_an_answer_that_fails_nearly_everything_is_not_taken_for_two_mistakes() -> None:
    assert sizes(groups_of(answers(5, A), answers(4, B), answers(2, BOTH), cases=4)) == [5, 4, 2]


def test_two_mistakes_have_the_findings_of_both() -> None:
    other: Fails = tuple((case, "another") for case, _ in BOTH)
    assert sizes(groups_of(answers(5, A), answers(4, B), answers(2, other))) == [5, 4, 2]


def test_answers_that_fail_on_random_models_only_are_grouped_by_code() -> None:
    def random_only(code: str, count: int) -> list[WrongAnswer]:
        found = (KeptFinding(code, "It is wrong."),)
        return [
            WrongAnswer(f"{code}{place}", CheckResult("after", "failed", 0.5, found, ()))
            for place in range(count)
        ]

    assert sizes(groups_of(random_only("wrong-value", 3), random_only("stale", 2))) == [3, 2]


def test_after_a_timeout_only_codes_count() -> None:
    """Cases are tried in another order for each student, and the rest is skipped."""
    one, other = ((("c7", "out-of-time"),), (("c2", "out-of-time"),))
    assert sizes(groups_of(answers(1, one), answers(1, other), answers(1, A))) == [2, 1]


def test_an_answer_that_raises_everywhere_is_told_apart_by_its_exception() -> None:
    fails: Fails = tuple((f"c{place}", "crashed") for place in range(10))
    found = groups_of(
        answers(1, fails, "`after` raised `KeyError: 'add_1'`."),
        answers(1, fails, "`after` raised `KeyError: 'relu'`."),
        answers(1, fails, "`after` raised `NameError: name 'grap' is not defined`."),
    )
    assert sizes(found) == [2, 1]


def test_the_id_of_a_group_is_the_same_next_week() -> None:
    (before,) = groups_of(answers(3, A))
    (after,) = groups_of(answers(9, A[::-1]))
    (other,) = group("half", answers(1, A), 10)
    assert before.id == after.id != other.id


def test_answers_of_earlier_versions_are_left_out() -> None:
    assert sizes(groups_of(answers(2, None), answers(1, A))) == [1]
