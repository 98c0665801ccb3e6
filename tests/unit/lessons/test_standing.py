"""A learner continues after their furthest work, even if they skipped sections before it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from autograder.lessons.course_map import course_map
from autograder.lessons.standing import Standing

COURSE = course_map()
SECTIONS = {each.number: each for chapter in COURSE.chapters for each in chapter.sections}


def standing(verdicts: Mapping[str, str], picks: Collection[str] = ()) -> Standing:
    return Standing(COURSE, verdicts, picks)


def passed(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "passed")


def everything_before(number: str) -> dict[str, str]:
    names: list[str] = []
    for each in SECTIONS.values():
        if each.number == number:
            break
        names += each.exercises
    return passed(*names)


@pytest.mark.parametrize(
    ("verdicts", "number"),
    [
        ({}, "0.1"),
        ({"node_names": "failed"}, "0.1"),
        (passed("node_names"), "0.2"),
        (passed("retarget"), "3.2"),  # the learner began with chapter 3
        ({**passed("retarget"), "add_to_mul": "crashed"}, "3.2"),
        (passed("node_names", "node_table", "sign_flip"), "1.7"),  # `is_faithful` was skipped
        (everything_before("3.6"), "3.6"),
        (passed("remove_dropout"), "3.6"),
        (passed("relu_after_add", "sound_dce"), "3b.3"),  # the next section of the dive
        (passed("WitnessSelfLoop"), "4.1"),  # after the dive, the next chapter
        ({**passed("node_table"), "is_faithful": "seen"}, "1.6"),  # a seen solution counts as done
        ({"node_names": "passed, solution seen"}, "0.2"),
        (passed("sort_graph"), "12.2"),  # another exercise of the section is open
        (passed("WitnessSorted"), "12.3"),  # the section's other exercise was skipped
    ],
)
def test_the_section_to_go_on_with(verdicts: dict[str, str], number: str) -> None:
    found = standing(verdicts).place()
    assert found is not None and found[1].number == number


def test_a_prediction_is_work_too() -> None:
    mark = SECTIONS["0.4"].predictions[-1]
    found = standing(passed("node_names"), {mark}).place()
    assert found is not None and found[1].number == "0.5"
    assert standing({}, {mark}).is_done(SECTIONS["0.4"])
    assert not standing({}, {mark}).is_done(SECTIONS["0.5"])  # reading leaves no record


def test_a_drill_is_work_too() -> None:
    mark = SECTIONS["3.3"].drills[0]
    found = Standing(COURSE, passed("node_names"), (), {mark}).place()
    assert found is not None and found[1].number == "3.3"


def test_at_the_end_comes_what_was_left_out() -> None:
    every = standing({}).exercises
    some = standing(passed(*(name for name in every if name not in ("sound_dce", "retarget"))))
    found = some.place()
    # Main chapters come before deep dives.
    assert found is not None and found[0].name == "03_manipulation"
    assert standing(passed(*every)).passed(every) == len(every)


def test_what_is_done() -> None:
    here = standing({**passed("retarget"), "add_to_mul": "failed"})
    assert here.is_done(SECTIONS["3.1"]) and not here.is_done(SECTIONS["3.2"])
    assert here.is_begun and not standing({"retarget": "failed"}).is_begun
