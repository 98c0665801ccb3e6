"""A feedback page ends a pool of random models; regraded work keeps its old pool."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.grading.plan import commonest_pool
from autograder.classroom.records.pools import KEPT, Pools
from autograder.submission.contract import Submission

SECRET = "of a class"


def test_a_page_ends_a_pool_and_what_was_graded_keeps_it(tmp_path: Path) -> None:
    pools = Pools(tmp_path, SECRET)
    first, other = pools.now("03"), pools.now("04")
    assert first != other and pools.now("03") == first
    pools.note("ann", "03", "her code", first)
    assert Pools(tmp_path, SECRET).now("03") == first, "nobody has seen anything"
    pools.page_made("ann", "03")
    for known in (pools, Pools(tmp_path, SECRET)):
        assert known.now("03") not in (first, other) and known.now("04") == other
        assert known.used("ann", "03") == {"her code": first} and not known.used("bo", "03")


def test_a_page_of_what_was_not_graded_here_ends_nothing(tmp_path: Path) -> None:
    pools = Pools(tmp_path, SECRET)
    before = pools.now("03")
    pools.page_made("ann", "03")
    assert pools.now("03") == before and not (tmp_path / KEPT).exists()


def test_what_is_known_is_not_written_again(tmp_path: Path) -> None:
    pools = Pools(tmp_path, SECRET)
    for _ in range(3):
        pools.note("ann", "03", "code", 5)
        pools.page_made("ann", "03")
    assert len((tmp_path / KEPT).read_text().splitlines()) == 2


def test_a_line_that_was_cut_off_costs_itself_alone(tmp_path: Path) -> None:
    Pools(tmp_path, SECRET).note("ann", "03", "code", 5)
    path = tmp_path / KEPT
    path.write_text(path.read_text() + '\n{"student": "bo", "chap')
    Pools(tmp_path, SECRET).note("cy", "03", "code", 6)
    again = Pools(tmp_path, SECRET)
    assert [again.used(who, "03") for who in ("ann", "bo", "cy")] == [{"code": 5}, {}, {"code": 6}]


def test_an_earlier_hand_in_is_tried_on_its_own_pool_and_a_new_one_on_todays() -> None:
    one = Submission("ann", b"", pool=7, pools={"old": 5})
    assert (one.pool_for("old"), one.pool_for("new")) == (5, 7)


def test_what_most_are_tried_on_again_is_worked_out_ahead(tmp_path: Path) -> None:
    pools = Pools(tmp_path, SECRET)
    for number, student in enumerate(("ann", "bo", "cy")):
        pools.note(student, "03", "code", 5)
        pools.note("cy", "03", f"code {number}", 6)
    assert commonest_pool(pools, "03", ["ann", "bo", "cy"]) == 5
    assert commonest_pool(pools, "03", ["dee"]) == pools.now("03")
