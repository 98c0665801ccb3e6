"""`ask_me`: questions about the learner's own answer, after it has passed."""

from __future__ import annotations

import base64
import contextlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.asking.client import CLIENT
from autograder.asking.code import Code, code_of
from autograder.asking.question import LETTERS, Question
from autograder.cards.asked_card import AskedCard, AskedOption, AskedQuestion
from autograder.cards.display import show
from autograder.workspace import location, progress_file
from autograder.workspace.class_wheel import this_class

OPEN = "?"
"""The placeholder for a letter."""

_FOLDER = "asked"
_VERSION = 1
_TURNS = (1, 2)

_passed: dict[str, Any] = {}
"""The latest answer to each exercise that has passed in this kernel."""


class CannotAnswer(ValueError):
    """The question does not have this option."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows this instead of a traceback through the course's own code.
        return [f"CannotAnswer: {self}"]


def note_pass(exercise: str, answer: Any) -> None:
    """Keep an answer that has passed, for questions about it. Nothing else is done now."""
    _passed[exercise] = answer


@dataclass
class Asked:
    """The questions about an answer, and the first picks.

    Attributes:
        exercise: the name of the exercise.
        turn: 1, or 2 for two other questions.
        digest: the answer's digest.
        cell: the text that the questions are about.
        questions: the questions.
        first: the first picks, by the mark of the question.
        why: why there are fewer than two questions.
    """

    exercise: str
    turn: int
    digest: str
    cell: str
    questions: tuple[Question, ...]
    first: dict[str, str] = field(default_factory=dict)
    why: str = ""


def ask_me(exercise: str, *letters: str, turn: int = 1) -> None:
    """Show the questions about an answer that has passed, or take the learner's letters.

    Args:
        exercise: the name of the exercise.
        letters: the picks; `OPEN` picks none.
        turn: 2 for two other questions, as practice.

    Raises:
        CannotAnswer: a question does not have this option, or there is no such turn.
    """
    if progress_file.is_grading():
        return
    if turn not in _TURNS:
        raise CannotAnswer(f"There is no turn {turn!r}. Write turn=2 for two other questions.")
    asked = _questions(exercise, turn)
    if asked is None:
        print(f"This opens after your own pass: run check({exercise}) first.")
        return
    if not asked.questions:
        print(f"There is no question about your code of {exercise}. {asked.why}".strip())
        return
    picks = [_letter(asked, number, letter) for number, letter in enumerate(letters)]
    picks += [""] * (len(asked.questions) - len(picks))
    for question, pick in zip(asked.questions, picks, strict=False):
        if pick:
            asked.first.setdefault(question.mark, pick)
    _write(asked)
    show(_card(asked, picks))


def _letter(asked: Asked, number: int, letter: str) -> str:
    """A pick as a letter, ``""`` for none."""
    pick = str(letter).strip().lower()
    if pick in (OPEN, ""):
        return ""
    if number >= len(asked.questions):
        raise CannotAnswer(
            f"There are {len(asked.questions)} questions about {asked.exercise}, so write at most "
            "one letter for each."
        )
    known = LETTERS[: len(asked.questions[number].choices)]
    if len(pick) != 1 or pick not in known:
        raise CannotAnswer(
            f"Question {number + 1} has no option {letter!r}. Write "
            f"{', '.join(known[:-1])} or {known[-1]} in quotes."
        )
    return pick


def _questions(exercise: str, turn: int) -> Asked | None:
    """The questions about the answer that has passed; those on disk if it has not changed."""
    known = _read(exercise, turn)
    answer = _passed.get(exercise)
    if answer is None:
        return known
    code = code_of(exercise, answer)
    if code is None:
        return Asked(exercise, turn, "", "", (), why="Its text is not known to Python.")
    if known is not None and known.digest == code.digest:
        return known
    return _make(exercise, code, turn)


def _make(exercise: str, code: Code, turn: int) -> Asked:
    reply = CLIENT.ask(exercise, code, turn)
    return Asked(exercise, turn, code.digest, code.cell, reply.questions, why=reply.why)


def _card(asked: Asked, picks: list[str]) -> AskedCard:
    shown = tuple(
        AskedQuestion(
            question.text,
            question.model,
            question.graph,
            tuple(
                AskedOption(letter, choice.text, choice.why)
                for letter, choice in zip(LETTERS, question.choices, strict=False)
            ),
            LETTERS[question.right],
            pick,
            asked.first.get(question.mark, ""),
        )
        for question, pick in zip(asked.questions, picks, strict=False)
    )
    places = ", ".join(f'"{pick or OPEN}"' for pick in picks)
    turn = f", turn={asked.turn}" if asked.turn > 1 else ""
    call = f'ask_me("{asked.exercise}", {places}{turn})'
    return AskedCard(asked.exercise, asked.cell, shown, call, asked.why)


# ------------------------------------------------------------------ the file


def _path(exercise: str, turn: int) -> Path:
    home = location.entered()
    if home is not None:
        folder = home / location.STATE / _FOLDER
    else:
        folder = location.state_folder() / _FOLDER / this_class().id
    return folder / (f"{exercise}.json" if turn == 1 else f"{exercise}-{turn}.json")


def _write(asked: Asked) -> None:
    """Write the questions, completely or not at all. If that fails, only they are lost."""
    path = _path(asked.exercise, asked.turn)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    text = json.dumps(_to_json(asked), indent=1) + "\n"
    try:
        location.make_private(path.parent)
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _to_json(asked: Asked) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "exercise": asked.exercise,
        "turn": asked.turn,
        "code": asked.digest,
        "cell": asked.cell,
        "questions": [_row(question) for question in asked.questions],
        "first": asked.first,
        "why": asked.why,
    }


def _row(question: Question) -> dict[str, Any]:
    """A question as data; its key is not readable by accident."""
    data = question.to_json()
    told = {"right": data.pop("right"), "choices": data.pop("choices")}
    del data["recipe"]
    options = [choice.text for choice in question.choices]
    secret = base64.b64encode(json.dumps(told).encode()).decode()
    return data | {"mark": question.mark, "options": options, "told": secret}


def _read(exercise: str, turn: int) -> Asked | None:
    """The questions on disk; ``None`` if there are none, or the file is damaged."""
    try:
        data = json.loads(_path(exercise, turn).read_text(encoding="utf-8"))
        if data["version"] != _VERSION:
            return None
        questions = tuple(_question(row) for row in data["questions"])
        first = {str(mark): str(letter) for mark, letter in data["first"].items()}
        return Asked(exercise, turn, data["code"], data["cell"], questions, first, data["why"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _question(row: dict[str, Any]) -> Question:
    told = json.loads(base64.b64decode(row["told"]))
    plain = {key: row[key] for key in ("kind", "text", "model", "graph")}
    return Question.from_json({**plain, **told, "recipe": {}})
