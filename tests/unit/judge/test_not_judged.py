"""An answer with an unlisted operation is neither right nor wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.api import check, verdict_on
from autograder.cards.card import card_html
from autograder.cards.card_text import card_text
from autograder.core import allowlist
from autograder.core.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.submission.scores import auto_score
from autograder.submission.verdict_outputs import show_verdicts
from tests.exercises import Answer, answers_to

EXERCISE = EXERCISES["remove_dropout"]
GONE = {"torch.relu", "operator.add", "torch.sin", "torch.tanh"}


def answer(finding: bool) -> Answer:
    """A wrong answer if `finding`, else a right one."""
    found = answers_to(EXERCISE.name)
    return next(a for a in found if (a.finding is not None) == finding)


@pytest.fixture
def short_list(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The list of operations without some that this exercise's models use."""

    def forget() -> None:
        allowlist.function_of.cache_clear()
        for case in EXERCISE.cases:
            case.cache.clear()

    monkeypatch.setattr(allowlist, "FUNCTIONS", allowlist.FUNCTIONS - GONE)
    forget()
    yield
    monkeypatch.undo()
    forget()


@pytest.fixture
def verdict(short_list: None) -> Verdict:
    return verdict_on(EXERCISE, answer(finding=False).write, hidden=True)


def test_it_earns_nothing_and_says_which_operation(verdict: Verdict) -> None:
    assert (verdict.status, verdict.score, verdict.passed) == ("not judged", 0.0, False)
    assert not any(share.held for share in verdict.shares)
    assert {finding.code for finding in verdict.findings} == {"unlisted-operation"}
    assert any(name in verdict.findings[0].message for name in GONE)


def test_its_card_is_neither_pass_nor_fail(verdict: Verdict) -> None:
    for text in (card_text(verdict, EXERCISE), card_html(verdict, EXERCISE)):
        assert "Not judged" in text and "Not right yet" not in text and "Passed" not in text
        assert "a person looks at it" in " ".join(text.split())


def test_a_person_decides_on_its_points(verdict: Verdict) -> None:
    name = f"check-{EXERCISE.name}"
    data = {"schema_version": 3, "grade_id": name, "grade": True, "solution": False}
    data |= {"locked": True, "task": False, "points": 4}
    nb = new_notebook(cells=[new_code_cell("", metadata={"nbgrader": data})])
    shares = show_verdicts(nb, {EXERCISE.name: EXERCISE}, {0: verdict})
    assert shares == {name: None}
    assert auto_score(nb.cells[0], shares) is None


def test_a_check_does_not_raise(short_list: None, capsys: pytest.CaptureFixture[str]) -> None:
    write = answer(finding=False).write
    name, write.__name__ = write.__name__, EXERCISE.name
    try:
        check(write)
    finally:
        write.__name__ = name


def test_what_can_be_seen_to_be_wrong_is_wrong(short_list: None) -> None:
    found = verdict_on(EXERCISE, answer(finding=True).write, hidden=True)
    assert found.status == "failed"
