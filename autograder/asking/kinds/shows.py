"""On which of these models does a change of your code show?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from autograder.asking.changed_answer import compared, judged
from autograder.asking.changes import changes_of
from autograder.asking.question import Question
from autograder.asking.small_models import SmallModel, random_cases, small_model
from autograder.asking.subject import Subject
from autograder.asking.tried_changes import Tried, ask_about, confirmed

MODELS, CHANGES = 8, 4
_STEPS = 2
_LONGEST = 90


def questions(subject: Subject, random: Random) -> Iterator[Question]:
    """Ask for the one model on which a changed answer fails, or does not."""
    subjects = _tiny(subject, random)
    for change in changes_of(subject.code, random)[:CHANGES]:
        tried = []
        for name, each in subjects.items():
            result = judged(each.exercise, each.code, each.model.case, change.cell)
            if confirmed(result, partial(_compared, each, change.cell)):
                tried.append(Tried(name, f"`{_short(each.model)}`", result))
            why_wrong = "The check finds a mistake."
            asked = ask_about(tried, random, "The result stays right.", why_wrong)
            if asked is None:
                continue
            how = "wrong" if asked.finds_wrong else "still right"
            old = _old_line(subject, change.line)
            text = (
                f"{change.told(old)} For which of these models is the result of "
                f"`{subject.model.call}` {how}?"
            )
            recipe = {"cell": change.cell, "cases": asked.keys, "right": asked.results}
            yield Question("shows", text, "", "", asked.choices, asked.right, recipe)
            break


def _old_line(subject: Subject, line: int) -> str:
    return f"Line {line} is `{subject.code.cell.splitlines()[line - 1].strip()}`."


def _tiny(subject: Subject, random: Random) -> dict[str, Subject]:
    """Models of one or two lines on which the answer is right, by the name of the case."""
    exercise = subject.exercise
    number = int(random.random() * (1 << 20))
    found: dict[str, Subject] = {}
    texts = set()
    for case in (*random_cases(exercise, number, _STEPS), *exercise.visible_cases()):
        if len(found) == MODELS:
            break
        model = small_model(exercise, case)
        if model is None or model.call != subject.model.call or model.said != subject.model.said:
            continue
        each = Subject(exercise, subject.code, model)
        text = _short(model)
        if text and text not in texts and each.is_right:
            texts.add(text)
            found[f"{len(found)}"] = each
    subject.tiny = found
    return found


def _short(model: SmallModel) -> str:
    """The `forward` of a model in one line; ``""`` if the model has more than that."""
    body = ast.parse(model.text).body
    last = body[-1] if body else None
    if not isinstance(last, ast.ClassDef) or any(isinstance(o, ast.ClassDef) for o in body[:-1]):
        return ""
    methods = [part for part in last.body if isinstance(part, ast.FunctionDef)]
    if [method.name for method in methods] != ["forward"] or len(last.body) > 2:
        return ""
    (forward,) = methods
    if any(hasattr(part, "body") for part in forward.body):
        return ""
    lines = "; ".join(ast.unparse(part) for part in forward.body)
    text = f"def forward({ast.unparse(forward.args)}): {lines}"
    return text if len(text) <= _LONGEST else ""


def _compared(subject: Subject, cell: str) -> Any:
    return compared(subject.exercise, subject.code, subject.model, cell, subject.prints)


def first_way(subject: Subject, recipe: dict[str, Any]) -> list[str]:
    """Check the changed answer on each model."""
    subjects = [subject.tiny[name] for name in recipe["cases"]]
    return [judged(s.exercise, s.code, s.model.case, recipe["cell"]).result for s in subjects]


def second_way(subject: Subject, recipe: dict[str, Any]) -> list[str]:
    """Compare the changed answer's result on each model with the unchanged one's."""
    return [_compared(subject.tiny[name].again(), recipe["cell"]) for name in recipe["cases"]]
