"""Every exercise can be solved in the box, which lacks much of a learner's kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.long.test_submissions import CHAPTERS, grade_in_boxes


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_can_be_solved_in_the_box(chapter: str, tmp_path: Path) -> None:
    grade_in_boxes(tmp_path / "a classroom", {("ada", chapter)})
