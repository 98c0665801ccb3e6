"""Output for an instructor in a terminal of 80 columns."""

from __future__ import annotations

from rich.console import Console

from autograder.classroom.grading.grade_class import Summary
from autograder.cli.grading_progress import print_summary
from autograder.submission.result import Result, SubmissionStatus

CHAPTER = "04_replace_pattern"


def test_the_table_cuts_nothing_off_at_80_columns() -> None:
    results = [
        Result(f"student {number}", CHAPTER, status, 1.0, 18.0)
        for number, status in enumerate(SubmissionStatus)
    ]
    console = Console(record=True, width=80)
    print_summary(Summary(tuple(results), 10.0), console)
    text = console.export_text()
    assert "…" not in text and CHAPTER in text
    words = " ".join(text.replace("│", " ").split())
    assert all(f"1 {status}" in words for status in ("graded", "restored", "refused", "unreadable"))
    assert max(map(len, text.splitlines())) <= 80
