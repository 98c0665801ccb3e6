"""The registry of answers: right and wrong answers for every exercise, in the exercise's folder.

The folder ``chNN_topic/NAME/`` is about the exercise NAME. In its ``answers.py``, `right` marks an
answer that must pass, and `wrong` one that must fail with a given finding. Its ``clauses.toml`` has
the requirements of the task: see `tests.checks.clauses`.

Constants and functions in ``answers.py`` that tests of all exercises read. Most are a reason:

* ``ADVICE_ON``: errors in an answer, and a part of the advice that a card gives on each.
* ``ASKS_FOR_ORIGINS``: outcomes must say where the parts of a result come from.
* ``BEYOND``: wrong answers that random models alone cannot find, with the reason.
* ``CLAUSES``: the clause that a wrong answer breaks, if answers are marked in a loop. Otherwise the
  mark names it.
* ``DECIDES_NOTHING``: places in an outcome that decide no points, with the reason.
* ``NAMES_MAY_BE_MISSING``: code on its cards may use names that are not defined.
* ``NOT_GROWN``: it is not tried on chains of calls.
* ``NOT_ON_NETWORKS``: it is not tried on networks of torchvision and timm. On these,
  ``is_outside_the_task(network)`` leaves some out, and ``complete_on_network(trial, choice)`` adds
  what the task needs besides a network.
* ``RANDOM_MODELS_ARE_READ``: its random models are not run.
* ``RANDOM_MODELS_MAY_RAISE``: its random models may raise.
* ``RUNS_AFTER``: the exercise whose answer cell must run first.
* ``TAKES_LONG``: answers that no large class hands in, with the reason.
* ``TEXTS_ARE_CLEAN``: no right answer's text may name a forbidden tool.
* ``TYPOS_ARE_RECORDED``: typos in its answers show only when a recorded graph runs.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Answer:
    """An answer to an exercise.

    Attributes:
        exercise: the exercise that it answers.
        style: a few words that tell it from the exercise's other answers.
        write: the function or class.
        finding: the code of the finding that it must get; ``None`` for a right answer.
        clause: ids of the clauses that it breaks, and no others, separated by commas; see
            `tests.checks.clauses`.
    """

    exercise: str
    style: str
    write: Any
    finding: str | None = None
    clause: str = ""

    def __str__(self) -> str:
        return f"{self.exercise}: {self.style}"


_ANSWERS: list[Answer] = []


def _register(style: str, finding: str | None, clause: str = "") -> Callable[[Any], Any]:
    def mark(write: Any) -> Any:
        exercise = write.__module__.split(".")[-2]  # the folder of `answers`
        _ANSWERS.append(Answer(exercise, style, write, finding, clause))
        return write

    return mark


def right(style: str, *, debrief: bool = False) -> Callable[[Any], Any]:
    """Mark an answer that must pass; with `debrief`, a learner sees it after a pass of their own.

    The builder reads that mark in the text, with what the answer uses of its module.
    """
    return _register(style, None)


def wrong(style: str, finding: str, clause: str = "") -> Callable[[Any], Any]:
    """Mark an answer that must fail with a finding of that code, and say which clause it breaks."""
    return _register(style, finding, clause)


def kept_by_class(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Make a wrong answer of a right one: it returns its first result for a class every time.

    The class of an argument does not determine its graph: two chains of one class differ in length.
    """
    kept: dict[tuple[type, ...], Any] = {}

    @wraps(answer)
    def keeping(*given: Any) -> Any:
        classes = tuple(map(type, given))
        if classes not in kept:
            kept[classes] = answer(*given)
        return kept[classes]

    return keeping


GRAPH = r"value\.(graph_module|tail|pieces\[\]\.graph_module)\."
"""The place of a returned graph in an outcome, as a pattern for ``DECIDES_NOTHING``."""

ONE_CLASS_EACH = "each random model is of a class of its own"
"""The reason why random models do not find the answers that `kept_by_class` makes."""


@cache
def folders() -> dict[str, Path]:
    """The folder of each exercise, by its name, in the order of the chapters."""
    return {path.parent.name: path.parent for path in sorted(FOLDER.glob("ch*/*/answers.py"))}


def answers_module(exercise: str) -> ModuleType:
    """Import the answers to one exercise, and no others."""
    if exercise not in folders():
        raise LookupError(f"tests/exercises has no folder with answers to {exercise!r}.")
    chapter = folders()[exercise].parent.name
    return importlib.import_module(f"{__name__}.{chapter}.{exercise}.answers")


def answers_to(exercise: str) -> tuple[Answer, ...]:
    """The answers to one exercise; no others are imported."""
    answers_module(exercise)
    return tuple(answer for answer in _ANSWERS if answer.exercise == exercise)


@cache
def all_answers() -> tuple[Answer, ...]:
    """The answers to all exercises."""
    for name in folders():
        answers_module(name)
    return tuple(_ANSWERS)


def constant(exercise: str, name: str, default: Any = None) -> Any:
    """The value of a constant, or a function, in the module with the answers to an exercise."""
    return getattr(answers_module(exercise), name, default)


@cache
def exercises_with(name: str) -> tuple[str, ...]:
    """The exercises whose answers define a constant or a function of that name.

    The files are searched as text: importing all answers takes seconds, and slows every trace down.
    """
    pattern = re.compile(rf"^(?:def {name}\(|{name}\b.*=)", re.M)
    return tuple(
        exercise
        for exercise, folder in folders().items()
        if pattern.search((folder / "answers.py").read_text(encoding="utf-8"))
    )


def beyond(answer: Answer) -> str:
    """The reason why random models cannot find a wrong answer; ``""`` if they can."""
    return str(constant(answer.exercise, "BEYOND", {}).get(answer.style, ""))


def clauses_of(answer: Answer) -> tuple[str, ...]:
    """Full ids of the clauses that a wrong answer breaks, such as ``extract.aliases``."""
    text = answer.clause or constant(answer.exercise, "CLAUSES", {}).get(answer.style, "")
    keys = [key.strip() for key in text.split(",") if key.strip()]
    return tuple(key if "." in key else f"{answer.exercise}.{key}" for key in keys)
