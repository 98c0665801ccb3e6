"""A class's random models come from a pool, of which each hand-in gets a share."""

from __future__ import annotations

from autograder.exercises import EXERCISES
from autograder.fuzz.random_models import SETS
from autograder.fuzz.recipe import OWN

RANDOM = EXERCISES["add_to_mul"].random
POOL = 4711


def test_a_share_has_a_model_for_each_place_and_is_made_of_the_pool() -> None:
    pooled = list(RANDOM.pool(POOL))
    assert len(pooled) == SETS * RANDOM.count
    share = RANDOM.cases(POOL * OWN + 5)
    assert [case.name for case in share] == [f"random model {i + 1}" for i in range(RANDOM.count)]
    assert all(any(case is other for other in pooled) for case in share)


def test_a_share_is_the_same_again_and_another_for_another_seed() -> None:
    def recipes(pool: int, own: int) -> list[object]:
        return [case.recipe for case in RANDOM.cases(pool * OWN + own)]

    first = recipes(POOL, 5)
    RANDOM._pooled.clear()
    assert recipes(POOL, 5) == first
    others = [recipes(POOL, own) for own in range(6, 16)]
    assert all(other != first for other in others)
    assert recipes(POOL + 1, 5) != first
    assert RANDOM.cases(POOL * OWN + 5, count=3) == RANDOM.cases(POOL * OWN + 5)[:3]


def test_shares_hold_what_no_single_set_holds() -> None:
    """Nobody's share is a set that somebody else has, too."""
    sets = [list(RANDOM.pool(POOL))[n * RANDOM.count :][: RANDOM.count] for n in range(SETS)]
    shares = [RANDOM.cases(POOL * OWN + own) for own in range(20)]
    assert not any(list(share) in sets for share in shares)


def test_what_was_worked_out_for_the_pool_is_there_in_a_share() -> None:
    for case in RANDOM.pool(POOL):
        case.cache["mark"] = True
    assert all("mark" in case.cache for case in RANDOM.cases(POOL * OWN + 9))
