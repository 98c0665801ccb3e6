"""A classroom for tests: submitting, grading with the real nbgrader, reading scores."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook

from autograder.submission.source_cells import CHECK


def released(room: Path, chapter: str) -> NotebookNode:
    """The notebook that students get."""
    return nbformat.read(room / "release" / chapter / f"{chapter}.ipynb", as_version=4)


def hand_in(room: Path, student: str, chapter: str, work: NotebookNode | str) -> Path:
    """Submit a student's work: a notebook, or the text of a file."""
    folder = room / "submitted" / student / chapter
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{chapter}.ipynb"
    path.write_text(work if isinstance(work, str) else nbformat.writes(work), encoding="utf-8")
    return path


def autograded(room: Path, student: str, chapter: str) -> NotebookNode:
    """A student's notebook after grading."""
    return nbformat.read(room / "autograded" / student / chapter / f"{chapter}.ipynb", as_version=4)


def nbgrader(room: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an nbgrader command in the classroom, as an instructor does."""
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=room,
        text=True,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def points(room: Path, chapter: str) -> dict[str, dict[str, float | None]]:
    """The points in the gradebook, by student and exercise; ``None`` if there are none."""
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as gradebook:
        return {
            submission.student_id: {
                grade.name.removeprefix(CHECK): grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(chapter)
        }


def waiting(room: Path, chapter: str) -> list[str]:
    """The students with cells that a person must still grade."""
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as gradebook:
        return [
            s.student_id for s in gradebook.assignment_submissions(chapter) if s.needs_manual_grade
        ]
