"""A hundred typos in right answers: the card suggests the intended word."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, zip_longest

from autograder.core.verdict import Finding
from autograder.exercises import EXERCISES
from tests.checks.typos import Typo, finding_on, right_ones, typos_in
from tests.exercises import exercises_with

EXERCISES_TRIED, TYPOS, BY_PROXY = 40, 100, 10
"""Numbers of exercises and of typos to try, and of typos that a Proxy accepts."""

RECORDED = exercises_with("TYPOS_ARE_RECORDED")


def raising(typos: Iterator[Typo], many: int, *, recorded: bool = False) -> list[Typo]:
    """Find the first typos that raise, and record the check's findings."""
    found: list[Typo] = []
    for typo in typos:
        finding = finding_on(typo)
        if finding is None or (recorded and finding.code == "crashed"):
            continue
        _said[typo] = finding
        found.append(typo)
        if len(found) == many:
            break
    return found


_said: dict[Typo, Finding] = {}


@cache
def panel() -> list[Typo]:
    """The typos: some from each exercise, a few of each kind."""
    names = [name for name in EXERCISES if name not in RECORDED and right_ones(name)]
    lists = []
    for name in names[:: max(1, len(names) // EXERCISES_TRIED)][:EXERCISES_TRIED]:
        lists.append(raising(iter(typos_in(right_ones(name)[0])[:12]), 3))
    answers = chain.from_iterable(right_ones(name) for name in RECORDED)
    mine = chain.from_iterable(methods_of_a_proxy(typos_in(answer)) for answer in answers)
    accepted = raising(mine, BY_PROXY, recorded=True)
    turns = chain.from_iterable(zip_longest(*lists))
    others = [typo for typo in turns if typo is not None][: TYPOS - len(accepted)]
    return [*accepted, *others]


def methods_of_a_proxy(typos: list[Typo]) -> Iterator[Typo]:
    """Misspelled method names, two from each answer."""
    return iter([typo for typo in typos if f".{typo.typed}(" in typo.text][:2])


def test_a_card_names_the_word_that_was_meant() -> None:
    typos = panel()
    assert len(typos) == TYPOS
    assert sum(_said[typo].code != "crashed" for typo in typos) >= BY_PROXY
    asked = {typo: _said[typo].advice.partition("Did you mean")[2] for typo in typos}
    missed = [typo for typo in typos if f"{typo.meant}`" not in asked[typo]]
    assert len(missed) <= TYPOS // 20, [f"{typo}: {_said[typo].advice}" for typo in missed]


def test_a_name_that_the_graph_has_recorded_is_told_with_its_line() -> None:
    typos = [typo for typo in panel() if _said[typo].code == "result-raises"]
    for typo in typos:
        assert "It came from your line" in _said[typo].message, _said[typo].message


def test_a_proxy_is_spoken_of_only_where_one_takes_part() -> None:
    for typo in panel():
        look = _said[typo].advice
        assert "Proxy" not in look or "Proxy" in _said[typo].message + typo.text, look
