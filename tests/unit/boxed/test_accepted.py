"""The grader accepts a judge's message only if it can be true."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from autograder.classroom.grading.grade_submission import (
    InvalidJudgement,
    _validated,
    notes_in,
    plain_text,
    shares_in,
)
from autograder.core.verdict import Example, Finding, Verdict
from autograder.submission.check_result import (
    MAX_MODEL,
    CheckResult,
    KeptFinding,
    are_checks,
    checks_of,
)
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
    "checks": [
        {
            "exercise": "x",
            "status": "failed",
            "score": 0.75,
            "findings": [["stale", "\x1bA", "m\n"]],
            "fails": [["an \x1balpha", "stale"]],
        }
    ],
    "restarts": 2,
    "repairs": 1,
    "work": "a1" * 32,
}
FOUND = (KeptFinding("stale", " A", "m\n"),)
KEPT = CheckResult("x", "failed", 0.75, FOUND, (("an  alpha", "stale"),))


def accepted(**change: Any) -> Any:
    return _validated(TRUE | change, b"{}", Submission("ann", b""), TERMS, 1.0)


def test_what_can_be_true_is_taken() -> None:
    found = accepted()
    assert found.result == Result(
        "ann", "c", SubmissionStatus.GRADED, 1.5, 2.0, notes=("fine",), seconds=1.0,
        checks=(KEPT,), restarts=2, repairs=1,
    )  # fmt: skip
    assert Result.from_json(json.loads(json.dumps(found.result.to_json()))) == replace(
        found.result, in_this_run=False
    )
    assert found.work == "a1" * 32 and accepted(work="").work == ""
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
        {"checks": None},
        {"checks": [TRUE["checks"][0] | {"exercise": "y"}]},
        {"checks": [TRUE["checks"][0] | {"status": "fine"}]},
        {"checks": [TRUE["checks"][0] | {"score": 2.0}]},
        {"checks": [TRUE["checks"][0] | {"findings": [["a"]]}]},
        {"checks": [TRUE["checks"][0] | {"fails": None}]},
        {"checks": [TRUE["checks"][0] | {"fails": [["a"]]}]},
        {"checks": [TRUE["checks"][0] | {"fails": [["a", 1]]}]},
        {"checks": [TRUE["checks"][0] | {"fails": [["a", "b"]] * 161}]},
        {"checks": TRUE["checks"] * 2},
        {"checks": [TRUE["checks"][0] | {"findings": [["code", "x" * 9_999, ""]]}]},
        {"checks": [TRUE["checks"][0] | {"findings": [["code", "", ""]] * 99}]},
        {"work": None},
        {"work": "A1" * 32},
        {"restarts": -1},
        {"restarts": 1.0},
        {"restarts": 9_999},
        {"repairs": "1"},
    ],
    ids=str,
)
def test_what_cannot_be_true_is_not(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidJudgement):
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
    with pytest.raises(InvalidJudgement):
        shares_in({"shares": shares}, TERMS)
    assert shares_in({"shares": {"check-x": None}}, TERMS) == {"check-x": None}


def test_what_is_kept_of_a_verdict_is_one_finding_of_a_kind_with_its_model() -> None:
    found = [
        Finding("stale", "first", case="a"),
        Finding("stale", "again", case="b"),
        Finding("wrong", "second", case="b"),
        Finding("long", "third", case="c"),
        *(Finding(f"more {i}", "m") for i in range(9)),
    ]
    others = (Example("b", "class B: ..."), Example("c", "x" * (MAX_MODEL + 1)))
    verdict = Verdict("e", "failed", 0.5, tuple(found), example=Example("a", "A"), others=others)
    (kept,) = checks_of([verdict, verdict])
    assert [(each.code, each.message, each.model) for each in kept.findings] == [
        ("stale", "first", "A"),
        ("wrong", "second", "class B: ..."),
        ("long", "third", ""),
        ("more 0", "m", ""),
    ]
    assert are_checks([kept.to_json()])
