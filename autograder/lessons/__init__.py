"""Lesson texts that learners see after an answer: predictions, drills and debriefs.

``fxcourse build`` generates one file for each chapter, ``NN_topic.json``, from the chapter's source
and the answers in ``tests/exercises``. Learners' notebooks and judges read the files; processes
that run answers never do.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Option:
    """One option of a prediction.

    Attributes:
        letter: ``a``, ``b`` and so on.
        text: the option, in markdown.
        why: the reason why it is right or wrong, in markdown.
    """

    letter: str
    text: str
    why: str


@dataclass(frozen=True)
class Prediction:
    """A question whose answer the learner sees after picking a letter.

    Attributes:
        name: chapter and number, such as ``03.1``.
        right: the letter of the right option.
        options: all options, in the order of their letters.
        mark: an id that depends on chapter and question, but not on the number.
        proof: code that asserts the right option, with the chapter's names; may be ``""``.
    """

    name: str
    right: str
    options: tuple[Option, ...]
    mark: str
    proof: str = ""

    @property
    def letters(self) -> str:
        """The letters in words: ``a, b or c``."""
        *first, last = (option.letter for option in self.options)
        return f"{', '.join(first)} or {last}"


@dataclass(frozen=True)
class Debrief:
    """The debrief of an exercise, shown after a pass.

    Attributes:
        solution: the reference solution.
        style: the special feature of the other answer, in a few words.
        other: another right answer.
        trap: a common mistake, in markdown.
    """

    solution: str
    style: str
    other: str
    trap: str


@dataclass(frozen=True)
class Drill:
    """A small task whose answer is one value.

    Attributes:
        name: section and letter, such as ``03.2a``.
        variable: the name that the learner's line sets.
        solution: right lines. They change no object of the notebook.
        mistake: lines with the likeliest mistake.
        says: a sentence for a learner who made it.
        mark: an id that depends on the task, but not on the name.
    """

    name: str
    variable: str
    solution: str
    mistake: str
    says: str
    mark: str


@cache
def drills() -> dict[str, dict[str, Drill]]:
    """All drills: by chapter, such as ``03_manipulation``, then by name."""
    return {
        chapter: {name: Drill(name, **_all_readable(row)) for name, row in lesson["drills"].items()}
        for chapter, lesson in _lessons().items()
    }


@cache
def predictions() -> dict[str, dict[str, Prediction]]:
    """All predictions: by chapter, such as ``03_manipulation``, then by name."""
    return {
        chapter: {name: _prediction(name, row) for name, row in lesson["predictions"].items()}
        for chapter, lesson in _lessons().items()
    }


@cache
def debriefs() -> dict[str, Debrief]:
    """All debriefs, by the exercise's name."""
    return {
        name: Debrief(**_all_readable(row))
        for lesson in _lessons().values()
        for name, row in lesson["debriefs"].items()
    }


def unreadable(text: str) -> str:
    """Encode a text so that a reader of the files does not see it by accident. It is not secret."""
    return base64.b64encode(text.encode()).decode()


def _all_readable(row: dict[str, str]) -> dict[str, str]:
    return {key: _readable(text) for key, text in row.items()}


def _readable(text: str) -> str:
    return base64.b64decode(text).decode()


def _lessons() -> dict[str, dict[str, Any]]:
    files = sorted(FOLDER.glob("[0-9]*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}


def _prediction(name: str, row: dict[str, Any]) -> Prediction:
    options = tuple(Option(**option) for option in row["options"])
    return Prediction(name, row["right"], options, row["mark"], row.get("proof", ""))
