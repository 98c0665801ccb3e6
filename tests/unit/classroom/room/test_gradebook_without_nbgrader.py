"""The script on the page `if-nbgrader-stops.md`, which reads a gradebook without nbgrader."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.builder.paths import ROOT
from autograder.classroom.room.scripts_path import find_scripts

PAGE = ROOT / "docs" / "explanation" / "if-nbgrader-stops.md"


def _fill(gradebook: Gradebook) -> None:
    """Add two cells; Ben has manual points for the first, and a penalty."""
    gradebook.add_assignment("03")
    gradebook.add_notebook("03", "03")
    for cell in ("first", "second"):
        gradebook.add_grade_cell(cell, "03", "03", max_score=4, cell_type="code")
    for student, points in {"ann": (4, 1), "ben": (0, 2)}.items():
        gradebook.add_student(student)
        gradebook.add_submission("03", student)
        for cell, value in zip(("first", "second"), points, strict=True):
            gradebook.find_grade(cell, "03", "03", student).auto_score = value
    gradebook.find_grade("first", "03", "03", "ben").manual_score = 1.5
    gradebook.find_submission_notebook("03", "03", "ben").late_submission_penalty = 0.5
    gradebook.db.commit()


def test_grades_can_be_read_without_nbgrader(tmp_path: Path) -> None:
    find_scripts()
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}", "class") as gradebook:
        _fill(gradebook)
        scores = {each: gradebook.find_submission("03", each).score for each in ("ann", "ben")}
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert found
    done = subprocess.run(
        [sys.executable, "-c", found[1]], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "ann,03,5.0,0\nben,03,3.5,0.5\n"
    assert scores == {"ann": 5.0, "ben": 3.5}
