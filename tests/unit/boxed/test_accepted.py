"""What a judge says is taken only if it can be true."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.classroom.grade_submission import Untrue, _accepted, notes_in, plain_text, shares_in
from autograder.submission.contract import GradingConfig, PreloadSpec, Submission
from autograder.submission.result import Result, SubmissionStatus
from autograder.submission.source_cells import SourceCell

CHECK = SourceCell("check-x", "code", "check(x)", None, True, True, False, False, 2.0)
ANSWER = SourceCell("x", "code", "", None, False, False, True, False, None)
TERMS = GradingConfig("c", {"check-x": CHECK, "x": ANSWER}, PreloadSpec("c"))
TRUE: dict[str, Any] = {
    "status": "graded",
    "scores": {"check-x": 1.5},
    "unanswered": ["x"],
    "notes": ["fine"],
}


def accepted(**change: Any) -> Any:
    return _accepted(TRUE | change, b"{}", Submission("ann", b""), TERMS, 1.0)


def test_what_can_be_true_is_taken() -> None:
    found = accepted()
    assert found.result == Result(
        "ann", "c", SubmissionStatus.GRADED, 1.5, 2.0, notes=("fine",), seconds=1.0
    )
    assert accepted(scores={"check-x": None}).scores["check-x"].points is None


@pytest.mark.parametrize(
    "change",
    [
        {"scores": {"check-x": 2.1}},
        {"scores": {"check-x": -0.1}},
        {"scores": {"check-x": float("nan")}},
        {"scores": {"check-x": float("inf")}},
        {"scores": {"check-x": True}},
        {"scores": {"check-x": "2"}},
        {"scores": {"check-x": 1.0, "check-y": 1.0}},
        {"scores": {"x": 1.0}},
        {"scores": {}},
        {"scores": [1.0]},
        {"status": "excellent"},
        {"status": ["graded"]},
        {"unanswered": ["y"]},
        {"unanswered": "x"},
    ],
    ids=str,
)
def test_what_cannot_be_true_is_not(change: dict[str, Any]) -> None:
    with pytest.raises(Untrue):
        accepted(**change)


def test_notes_are_lines_of_bounded_length_without_control_characters() -> None:
    notes = ["\x1b[31mred\x07\nnext", "x" * 9_999, 3, *["more"] * 9_999]
    found = notes_in({"notes": notes})
    assert len(found) == 500 and max(map(len, found)) <= 2_000
    assert "\x1b" not in found[0] and "\n" not in found[0] and found[0].endswith("next")
    assert notes_in({"notes": "no list"}) == ()
    assert plain_text("a\nb\x1b") == "a\nb "


@pytest.mark.parametrize("shares", [{"check-x": 1.1}, {"check-y": 1.0}, {"check-x": "1"}, [], None])
def test_shares_that_cannot_be_true_are_not_taken(shares: Any) -> None:
    with pytest.raises(Untrue):
        shares_in({"shares": shares}, TERMS)
    assert shares_in({"shares": {"check-x": None}}, TERMS) == {"check-x": None}
