"""A class's random models come from a pool; each submission gets some of them."""

from __future__ import annotations

from autograder.exercises import EXERCISES
from autograder.fuzz.random_models import POOL
from autograder.fuzz.recipe import OWN

RANDOM = EXERCISES["add_to_mul"].random
NUMBER = 4711


def test_a_share_is_made_of_the_pool_and_holds_nothing_twice() -> None:
    pooled = list(RANDOM.pool(NUMBER))
    assert len(pooled) == POOL == len({case.recipe for case in pooled})
    share = RANDOM.cases(NUMBER * OWN + 5)
    assert len({case.name for case in share}) == len(share) == RANDOM.count
    assert all(any(case is other for other in pooled) for case in share)


def test_a_share_is_the_same_again_and_another_for_another_seed() -> None:
    def recipes(pool: int, own: int) -> list[object]:
        return [case.recipe for case in RANDOM.cases(pool * OWN + own)]

    first = recipes(NUMBER, 5)
    RANDOM._pooled.clear()
    assert recipes(NUMBER, 5) == first
    others = [recipes(NUMBER, own) for own in range(6, 16)]
    assert all(other != first for other in others)
    assert recipes(NUMBER + 1, 5) != first
    assert RANDOM.cases(NUMBER * OWN + 5, count=3) == RANDOM.cases(NUMBER * OWN + 5)[:3]


def test_every_model_of_a_pool_comes_to_somebody() -> None:
    shares = [RANDOM.cases(NUMBER * OWN + own) for own in range(100)]
    assert {case.name for share in shares for case in share} == {
        f"random model {place + 1}" for place in range(POOL)
    }
    assert len({share[0].name for share in shares}) > POOL / 3, "they begin anywhere"


def test_what_was_worked_out_for_the_pool_is_there_in_a_share() -> None:
    for case in RANDOM.pool(NUMBER):
        case.cache["mark"] = True
    assert all("mark" in case.cache for case in RANDOM.cases(NUMBER * OWN + 9))
