"""Runs and judges an attack's answers in one process, without a class.

For attacks that want points: it takes a second instead of a minute. An attack that reaches beyond
its own process needs a class, which `tests.security.attacks` makes.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable
from typing import Any

from autograder.core.outcome import Outcome
from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.runner import run_cases
from tests.security.attacks import Attack

HEAD = "import operator\nimport torch\nfrom torch import fx, nn\n"


def earned(attack: Attack, prepare: Callable[[], Any] = lambda: None) -> dict[str, float]:
    """The undeserved points that an attack gets, by exercise.

    The attack runs in a new process, which calls `prepare` first. An attack that ends that process
    gets nothing.
    """
    return apart(lambda: _earned(attack), prepare) or {}


def apart(work: Callable[[], Any], prepare: Callable[[], Any]) -> Any:
    """The result of some work in a new process; ``None`` if that process ends early."""
    out, into = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.close(out)
            prepare()
            given = work()
            with os.fdopen(into, "wb") as file:
                pickle.dump(given, file)
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as file:
        sent = file.read()
    os.waitpid(pid, 0)
    return pickle.loads(sent) if sent else None


def _earned(attack: Attack) -> dict[str, float]:
    names: dict[str, Any] = {"__name__": "__main__"}
    for text in (HEAD, attack.cell, *attack.answers.values()):
        exec(compile(text, "<cell>", "exec"), names)
    gained = {}
    for name in attack.answers:
        points = _points(name, names[name]) - attack.points()[name][1]
        if points > 1e-6:
            gained[name] = points
    return gained


def _points(name: str, answer: Any) -> float:
    exercise = EXERCISES[name]
    outcomes = []
    for outcome in run_cases(exercise, answer, exercise.cases):
        file = io.BytesIO()
        outcome.write(file)
        file.seek(0)
        try:
            outcomes.append(Outcome.read(file))
        except ValueError:
            continue  # an invalid outcome does not count
    return judge(exercise, outcomes).score * exercise.points
