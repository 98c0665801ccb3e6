"""Exercises without what must come of them: all that a student's process may hold.

The syllabus has to be imported to know the cases. What else it brings (rubrics, oracles,
expectations) is cut off here, and its modules are forgotten, before any student's code runs.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterable
from dataclasses import replace

from autograder.exercise import Case, Exercise

_FORGOTTEN = (
    "autograder.builder", "autograder.classroom", "autograder.judge", "autograder.learner",
    "autograder.models.random.oracles", "autograder.randomly", "autograder.references",
    "autograder.retrace", "autograder.rubric", "autograder.syllabus",
)  # fmt: skip


def exercises_of(syllabus: str, chapter: str) -> dict[str, Exercise]:
    """The exercises of a chapter, as a student's process may have them.

    Args:
        syllabus: the module that holds ``EXERCISES``.
        chapter: the chapter's stem, such as ``03_manipulation``.
    """
    module = importlib.import_module(syllabus)
    found = module.of_chapter(chapter) if hasattr(module, "of_chapter") else [
        exercise for exercise in module.EXERCISES.values() if exercise.chapter == chapter
    ]  # fmt: skip
    return {exercise.name: shorn(exercise) for exercise in found}


def shorn(exercise: Exercise) -> Exercise:
    """An exercise that can be tried and not judged."""
    random = exercise.random
    if hasattr(random, "oracle"):
        random = replace(random, oracle=_nothing, expect={}, expecting=None, _made={})
    cases = tuple(map(_shorn_case, exercise.cases))
    return replace(exercise, rubric=(), cases=cases, random=random)


def _shorn_case(case: Case) -> Case:
    return replace(case, expect={}, oracle=None, known={})


def _nothing(*_: object) -> None:
    """In place of what says what must come of a case."""


def forget(syllabus: str, more: Iterable[str] = ()) -> None:
    """Forget the modules that say what must come of the cases."""
    for name in list(sys.modules):
        if any(name == f or name.startswith(f + ".") for f in (*_FORGOTTEN, syllabus, *more)):
            parent, _, leaf = name.rpartition(".")
            module = sys.modules.pop(name)
            if parent in sys.modules and getattr(sys.modules[parent], leaf, None) is module:
                delattr(sys.modules[parent], leaf)
    gc.collect()
