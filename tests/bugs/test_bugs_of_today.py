"""Each bug of the page still exists, and its fix repairs only this bug."""

from __future__ import annotations

import pytest
import torch

from hunts import page
from hunts.bug import Bug
from hunts.known import BUGS
from hunts.suspects import SUSPECTS

EVERY = [bug for each in BUGS for bug in each.every]
IDS = [f"{each.name}-{i}" for each in BUGS for i, _ in enumerate(each.every)]


@pytest.mark.parametrize("bug", EVERY, ids=IDS)
def test_the_bug_shows(bug: Bug) -> None:
    right, got = bug.outcome()
    if not bug.is_in():
        assert right == got
        return
    assert right != got, (
        f"PyTorch {torch.__version__} has fixed {bug.name}: both are {got} now. Write `until` in "
        "hunts/known and a row in torch_changes.json, and run `python -m hunts.page`."
    )
    assert not _is_an_error(right), right
    assert _is_an_error(got) == bug.raises, got


def _is_an_error(text: str) -> bool:
    return text.partition(":")[0].endswith("Error")


@pytest.mark.parametrize("bug", EVERY, ids=IDS)
def test_a_fix_mends_it(bug: Bug) -> None:
    right, got = bug.outcome(fixed=True)
    assert right == got


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.cure], ids=lambda bug: bug.name)
def test_what_is_to_be_done_instead_is_right(bug: Bug) -> None:
    right, got = bug.cured.outcome()
    assert right == got


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_no_other_fix_mends_it(bug: Bug) -> None:
    right, _ = bug.outcome()
    for other in BUGS:
        if other is not bug and bug.is_in():
            with other.fix():
                _, got = bug.outcome()
            assert got != right, f"{bug.name} and {other.name} have one cause"


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_its_model_is_small_and_its_line_is_there(bug: Bug) -> None:
    assert all(each.lines <= 6 for each in bug.every)
    assert not bug.is_in() or bug.place > 0


def test_there_are_enough_different_ones() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS)
    assert sum(not bug.raises for bug in BUGS) >= 12
    known = {197539, 198072, 198077, 188538, 159613, 104593, 68301}
    assert known <= {number for bug in BUGS for number in bug.issues}


def test_each_is_about_passes_that_are_hunted() -> None:
    names = {suspect.name for suspect in SUSPECTS}
    for bug in BUGS:
        for name in bug.suspects:
            assert any(known == name or known.startswith(f"{name},") for known in names), name


def test_the_page_is_what_the_bugs_say() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.text()
