"""Every right answer earns full marks in the boxes that run students' code."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.exercises import of_chapter
from tests.checks.long.test_submissions import CHAPTERS
from tests.support.classes import course


@pytest.mark.parametrize("chapter", ["00_start", *CHAPTERS])
def test_every_right_answer_holds_in_the_box(chapter: str, tmp_path: Path) -> None:
    scores = course.make_of_right_answers(tmp_path / "a classroom", chapter)
    grade_class(tmp_path / "a classroom", GradingOptions(jobs=1))
    count, wrong = course.differences(tmp_path / "a classroom", scores)
    assert wrong == []
    assert count >= 3 * len(of_chapter(chapter))
