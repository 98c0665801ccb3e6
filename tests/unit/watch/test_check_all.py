"""The progress and the summary of a check of all exercises."""

from __future__ import annotations

from pathlib import Path

from autograder.watch.check_all import CheckAll
from autograder.watch.files import ExerciseFile


def run(count: int, *passed: bool) -> CheckAll:
    exercises = [ExerciseFile(f"e{i}", "", Path(f"e{i}.py"), "") for i in range(count)]
    return CheckAll(exercises, [*passed])


def test_progress_fits() -> None:
    assert run(3, True).text(10).plain == "Checked 1 of 3 exercises. Now: e1\n✓ e0"
    assert run(2, True, False).text(10).plain == "Checked 2 of 2 exercises.\n✓ e0\n✗ e1"
    text = run(30, *[True] * 20).text(6).plain.split("\n")
    assert len(text) == 5 and text[-1] == "✓ e19"
    assert run(3).text(6).plain == "Checked 0 of 3 exercises. Now: e0"


def test_a_summary_names_what_fails() -> None:
    assert run(2, True, True).summary() == "2 of 2 checked exercises pass."
    assert run(3, True, False, False).summary() == (
        "1 of 3 checked exercises pass. Failing: e1, e2."
    )
    assert run(3, False).summary() == (
        "Stopped after 1 of 3 exercises. 0 of 1 checked exercises pass. Failing: e0."
    )
    assert [one.name for one in run(3, True, False).failing] == ["e1"]
