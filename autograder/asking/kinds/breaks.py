"""With which of these changes of your code is the result wrong?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from autograder.asking.changed_answer import CannotCompare, compared, judged
from autograder.asking.changes import changes_of
from autograder.asking.question import Question
from autograder.asking.subject import Subject
from autograder.asking.tried_changes import Tried, ask_about, confirmed

MOST = 20
"""Changes that are tried on one model."""


def questions(subject: Subject, random: Random) -> Iterator[Question]:
    """Ask for the one change that breaks the answer on this model, or that does not."""
    turned = random.random() < 0.5
    tried: list[Tried] = []
    for change in changes_of(subject.code, random)[:MOST]:
        result = judged(subject.exercise, subject.code, subject.model.case, change.cell)
        if not confirmed(result, partial(_compared, subject, change.cell)):
            continue
        tried.append(Tried(change.cell, change.said, result))
        question = _question(subject, tried, random, turned)
        if question is not None:
            yield question
            asked = question.recipe["cells"]
            tried, turned = [each for each in tried if each.key not in asked], not turned


def _question(
    subject: Subject, tried: list[Tried], random: Random, turned: bool
) -> Question | None:
    why_wrong = "The check finds a mistake."
    asked = ask_about(tried, random, "The result stays right.", why_wrong, turned=turned)
    if asked is None:
        return None
    how = "wrong" if asked.finds_wrong else "still right"
    text = (
        f"With which of these changes of your code is the result of `{subject.model.call}` {how}?"
    )
    recipe = {"cells": asked.keys, "right": asked.results}
    model = subject.model
    return Question("breaks", text, model.shown, model.graph, asked.choices, asked.right, recipe)


def _compared(subject: Subject, cell: str) -> Any:
    right = subject.prints
    if not right:
        raise CannotCompare("the answer itself")
    return compared(subject.exercise, subject.code, subject.model, cell, right)


def first_way(subject: Subject, recipe: dict[str, Any]) -> list[str]:
    """Check each changed answer."""
    case = subject.model.case
    return [judged(subject.exercise, subject.code, case, cell).result for cell in recipe["cells"]]


def second_way(subject: Subject, recipe: dict[str, Any]) -> list[str]:
    """Compare the result of each changed answer with that of the unchanged one."""
    return [_compared(subject, cell) for cell in recipe["cells"]]
