"""Grades the same submissions with plain nbgrader, for comparison."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from unittest import mock

from nbformat.notebooknode import NotebookNode

from autograder.builder import as_text
from tests.support.classes.commands import environment
from tests.support.submissions import room as rooms

CONFIG = "c = get_config()\nc.CourseDirectory.course_id = 'stock'\n"


class StockFailed(Exception):
    """A command of nbgrader failed; the message is its log."""


def make(room: Path, chapter: str, source: NotebookNode, handed_in: Path, students: int) -> None:
    """Make a course directory with nbgrader's default settings and the first students of a class.

    Args:
        room: the folder of the course directory.
        chapter: the chapter.
        source: its notebook in source form.
        handed_in: the classroom with the submissions.
        students: the number of students to copy.
    """
    folder = room / "source" / chapter
    folder.mkdir(parents=True)
    (folder / f"{chapter}.ipynb").write_text(as_text(source), encoding="utf-8")
    (room / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    _run(room, "generate_assignment", chapter)
    for name in sorted(os.listdir(handed_in / "submitted"))[:students]:
        shutil.copytree(
            handed_in / "submitted" / name / chapter, room / "submitted" / name / chapter
        )


def grade(room: Path, chapter: str) -> float:
    """Grade everything; return the seconds that it took.

    Raises:
        StockFailed: nbgrader reports an error.
    """
    start = time.time()
    _run(room, "autograde", chapter)
    return time.time() - start


def _run(room: Path, *words: str) -> None:
    with mock.patch.dict(os.environ, environment()):
        run = rooms.nbgrader(room, *words)
    if run.returncode:
        raise StockFailed(run.stdout[-3000:])
