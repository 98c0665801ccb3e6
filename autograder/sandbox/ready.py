"""Gets a process ready for notebooks of a chapter: imports, a shell, exercises without answers."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import Any

from autograder.forbid import stand_by
from autograder.sandbox import shell, shorn, standin

_ALWAYS = (
    "autograder.given", "autograder.show.card", "autograder.show.draw", "autograder.show.hints",
    "autograder.show.display", "autograder.show.page", "autograder.show.picture",
    "autograder.show.shapes", "autograder.show.late",
)  # fmt: skip


def get_ready(wanted: dict[str, Any]) -> tuple[Any, ...]:
    """Import what the chapter's cells will import, and forget what they must not find.

    Args:
        wanted: what `worker.Chapter` says, as plain data.

    Returns:
        The shell, the record of what it shows, and the exercises.
    """
    made, record = shell.make_shell()
    for name in (*_ALWAYS, *wanted["imports"]):
        try:
            importlib.import_module(name)
        except Exception:  # a cell that imports it will say so
            continue
    _warm_up(made)
    exercises = shorn.exercises_of(wanted["syllabus"], wanted["chapter"])
    for exercise in exercises.values():
        for case in exercise.cases:
            stand_by(case.make(0).forbidden)
    shorn.forget(exercises.values(), wanted["syllabus"])
    standin.install(exercises)
    gc.collect()  # what was forgotten is in circles, and still there until now
    os.environ.pop("PYTHONPATH", None)
    return made, record, exercises


def _warm_up(made: shell.Shell) -> None:
    """Do once what is slow the first time: a plot, and a traceback."""
    import matplotlib.pyplot as plt

    plt.figure().savefig(os.devnull, format="png")
    plt.close("all")
    try:
        raise ValueError
    except ValueError:
        made.InteractiveTB.structured_traceback(*sys.exc_info())
