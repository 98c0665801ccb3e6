"""Tries a student's answer in the student's kernel, and writes down what happened.

The only part of grading that runs there. It holds nothing that is worth reading: it knows
the cases, not what should come out of them.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.exercise import Case, Exercise, Trial
from autograder.limits import Limits
from autograder.run import run_cases

STATE = "state.json"


def try_answer(
    name: str,
    names: dict[str, Any],
    folder: str,
    syllabus: str,
    cpu: float,
    wall: float,
    seed: int,
) -> None:
    """Try the answer of that name on all cases, hidden ones too, and on random models.

    Args:
        name: the exercise's name.
        names: what the notebook has defined.
        folder: takes the outcomes and the state of the trial.
        syllabus: the module that holds ``EXERCISES``.
        cpu: processor seconds for one case.
        wall: seconds for one case.
        seed: picks the random models.
    """
    place = Path(folder)
    exercise: Exercise = importlib.import_module(syllabus).EXERCISES[name]
    if name not in names:
        _say(place, state="undefined")
        return
    answer = names[name]
    if not callable(answer):
        _say(place, state="not callable", type=type(answer).__name__)
        return
    limits = Limits(cpu=cpu, wall=wall)
    outcomes = run_cases(exercise, answer, _noting(exercise.cases, place), limits=limits)
    if exercise.random and len(outcomes) == len(exercise.cases):
        drawn = _noting(exercise.random.cases(seed), place)
        outcomes += run_cases(exercise, answer, drawn, limits=limits)
    for number, outcome in enumerate(outcomes):
        outcome.save(place / f"{number:03}.outcome")
    _say(place, state="tried")


def _noting(cases: tuple[Case, ...], place: Path) -> tuple[Case, ...]:
    """The cases, made so that it is known which one an answer did not survive."""
    return tuple(_noting_one(case, place) for case in cases)


def _noting_one(case: Case, place: Path) -> Case:
    make: Callable[[int], Trial] = case.make

    def noting(seed: int) -> Trial:
        _say(place, state="trying", case=case.name)
        return make(seed)

    return replace(case, make=noting)


def _say(place: Path, **state: str) -> None:
    (place / STATE).write_text(json.dumps(state), encoding="utf-8")


def try_here(*args: Any) -> None:
    """Try an answer among the names of this kernel."""
    from IPython import get_ipython

    name, *rest = args
    try_answer(name, get_ipython().user_ns, *rest)


def as_source(name: str, folder: Path, syllabus: str, cpu: float, wall: float, seed: int) -> str:
    """Code that tries an answer when a kernel runs it, and leaves no name behind."""
    call = f"try_here({name!r}, {str(folder)!r}, {syllabus!r}, {cpu!r}, {wall!r}, {seed!r})"
    return f"__import__({__name__!r}, fromlist=['try_here']).{call}"
