"""The replay of a grade, for a student who asks for another one."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from autograder.classroom.reports.replay import Replayed, replay
from autograder.environment.errors import ClassroomError
from autograder.submission.case_report import CaseReport
from autograder.submission.outcome_notes import note_outcome

CASES = (
    CaseReport("one call", "redirects calls", "shown", "held"),
    CaseReport("two calls", "redirects calls", "hidden", "failed", "stale-code", "It\x1b[2J runs."),
    CaseReport("none", "leaves others alone", "shown", "held"),
    CaseReport("three calls", "redirects calls", "hidden", "held"),
    CaseReport("random 1", "models drawn at random", "random", "not tried"),
)


def told(**change: object) -> str:
    known: dict[str, object] = {
        "student": "ann\x1b[2J", "exercise": "retarget", "chapter": "03_manipulation", "seed": 17,
        "cases": CASES, "share": 0.5, "before": 2.0, "by_hand": None, "max_points": 4.0,
        "card": "the card",
    }  # fmt: skip
    return str(Replayed(**known | change))  # type: ignore[arg-type]


def test_all_that_decides_the_grade_is_told() -> None:
    text = told()
    assert (
        "Seed 17." in text and "torch 2." in text and "Python 3." in text and "fxcourse" not in text
    )
    assert "The check gives 2 of 4 points now. That is what the gradebook has." in text
    assert "4 of 5 cases were tried, 1 failed." in text
    assert "  redirects calls:\n    ✓ one call\n    ✗ two calls (hidden)\n" in text
    assert "        stale-code: It" in text and "    – random 1 (random) not tried" in text
    assert text.count("redirects calls:") == 1  # grouped by part
    assert text.endswith("\n\nthe card") and "\x1b" not in text


def test_points_that_are_not_the_same_are_said() -> None:
    assert "The gradebook has 3." in told(before=3.0) and "--force" in told(before=3.0)
    assert "gives no points, because a person decides, of 4" in told(share=None, before=None)
    assert "That is what the gradebook has" in told(share=None, before=None)
    assert "A person gave 2.5 points; they count." in told(by_hand=2.5)


def test_what_was_refused_is_not_judged_as_an_empty_answer(tmp_path: Path) -> None:
    path = tmp_path / "autograded/ann/03_manipulation/03_manipulation.ipynb"
    path.parent.mkdir(parents=True)
    nb = nbformat.v4.new_notebook()
    note_outcome(nb, status="refused", happened=["There is nothing."])
    nbformat.write(nb, path)
    with pytest.raises(ClassroomError, match=r"of 03_manipulation was refused: There is nothing\."):
        replay(tmp_path, "ann", "retarget")
