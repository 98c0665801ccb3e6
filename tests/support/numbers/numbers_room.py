"""A classroom with one small chapter, and grading in the test's own process."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

from nbformat.notebooknode import NotebookNode

from autograder.builder import source_notebook
from autograder.builder.paths import ROOT
from autograder.classroom.room.nbgrader_api import api
from autograder.classroom.setup.create import create
from tests.support.numbers import numbers_syllabus
from tests.support.numbers.numbers_syllabus import CHAPTER, EXERCISES
from tests.support.submissions.room import hand_in

TEXT = '''\
# %% [markdown]
# # Numbers

# %%
import math

# %% [markdown] card="after"
# **Return** the next number, counted away from zero.

# %% solve="after"
def after(number: int) -> int:
    """The next number, counted away from zero."""
    ### BEGIN SOLUTION
    return abs(number) + 1 if number >= 0 else number - 1
    ### END SOLUTION

# %% check="after"
check(after)

# %% [markdown] card="half"
# **Return** half of a number.

# %% solve="half"
def half(number: float) -> float:
    """Half of a number."""
    ### BEGIN SOLUTION
    return number / 2
    ### END SOLUTION

# %% check="half"
check(half)
'''


def chapter(folder: Path) -> NotebookNode:
    """The chapter in source form; its file is written into the folder."""
    path = folder / f"{CHAPTER}.py"
    path.write_text(TEXT, encoding="utf-8")
    return source_notebook(path, tuple(EXERCISES.values()))


def room(folder: Path) -> Path:
    """A classroom with this chapter, made in a folder."""
    create(folder / "class", {CHAPTER: chapter(folder)})
    return folder / "class"


def grade(room: Path, students: dict[str, NotebookNode | str], **settings: object) -> str:
    """Submit and grade, with nbgrader in this process.

    Args:
        room: a classroom with this chapter.
        students: each student's notebook or file text.
        settings: settings of `ExecuteChecks`.

    Returns:
        nbgrader's log.
    """
    known = {"syllabus": numbers_syllabus.__name__, "cell_cpu": 10.0, "case_cpu": 1.0}
    known |= {"proof": False, **settings}  # `test_canary` covers that
    log = ""
    with mock.patch.dict(os.environ, {"PYTHONPATH": str(ROOT)}):
        for student, work in students.items():
            hand_in(room, student, CHAPTER, work)
            nbgrader = api(room)
            nbgrader.config.ExecuteChecks.update(known)
            result = nbgrader.autograde(CHAPTER, student, force=True)
            log += f"{result['log']}{result.get('error', '')}"
    return log
