"""Reads an exercise from its folder: ``cases.py`` and ``redraws.py``.

The folder says what the files need not: the exercise's name, its chapter and the module of its
key. A case is hidden if it is in ``redraws.py``. So `fxcourse classroom pack` only omits that file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a process with a gradebook has no PyTorch
    from autograder.core.exercise import Case, Exercise

REDRAWS = "redraws.py"
"""The file with hidden cases. An exercise without hidden cases has none."""
REFERENCES = "references.jsonl"
"""Stored references, one case a line. A hidden case has a line with its name alone."""
HIDDEN_REFERENCES = "references_hidden.jsonl"
"""Stored references of hidden cases."""
TRAP = "trap.md"
"""The trap of a debrief: what many answers get wrong."""


def load_exercise(package: str, chapter: str) -> Exercise:
    """Import an exercise, and fill in what its folder says.

    Args:
        package: the package of its folder, such as ``own_exercises.NAME``.
        chapter: the stem of its chapter's file, unless `EXERCISE` names another.

    Raises:
        ValueError: ``cases.py`` has a hidden case.
    """
    declared: Exercise = import_module(f"{package}.cases").EXERCISE
    if hidden := [case.name for case in declared.cases if case.hidden]:
        raise ValueError(f"Move hidden cases into {REDRAWS}: {hidden[0]!r} is in cases.py.")
    return replace(
        declared,
        name=package.rpartition(".")[2],
        chapter=declared.chapter or chapter,
        key=f"{package}.key",
        cases=(*declared.cases, *_redraws_of(package)),
    )


def _redraws_of(package: str) -> Iterable[Case]:
    module = f"{package}.{REDRAWS.removesuffix('.py')}"
    declared: tuple[Case, ...] = import_module(module).REDRAWS if find_spec(module) else ()
    return map(_as_redraw, declared)


def _as_redraw(case: Case) -> Case:
    """A hidden case, with a name that no visible case has."""
    return replace(case, name=f"redraw: {case.name}", hidden=True)
