"""With which of these changes does your model still win its duel?"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

import torch
from torch import fx

from autograder.asking.changed_answer import LIMITS, CannotCompare, Result, judged, same_values
from autograder.asking.changes import changes_of
from autograder.asking.code import Code
from autograder.asking.question import Question
from autograder.asking.subject import Subject
from autograder.asking.tried_changes import Tried, ask_about, confirmed
from autograder.core.execution import seed_all
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import OutOfTime, bounded_output, time_limit
from autograder.judge.answer_key import key_of
from autograder.judge.duels import Fight


def questions(subject: Subject, random: Random) -> Iterator[Question]:
    """Ask for the one change with which the model wins no more, or still wins."""
    turned = random.random() < 0.5
    tried: list[Tried] = []
    for change in changes_of(subject.code, random):
        result = judged(subject.exercise, subject.code, subject.model.case, change.cell)
        if not confirmed(result, partial(duel, subject, change.cell)):
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
    why_wrong = "The duel is lost."
    asked = ask_about(tried, random, "The duel is still won.", why_wrong, turned=turned)
    if asked is None:
        return None
    how = "lose" if asked.finds_wrong else "still win"
    text = f"With which of these changes does your model {how} the duel?"
    recipe = {"cells": asked.keys, "right": asked.results}
    return Question("fight", text, "", "", asked.choices, asked.right, recipe)


def first_way(subject: Subject, recipe: dict[str, Any]) -> list[str]:
    """Let the judge decide each duel."""
    case = subject.model.case
    return [judged(subject.exercise, subject.code, case, cell).result for cell in recipe["cells"]]


def second_way(subject: Subject, recipe: dict[str, Any]) -> list[str]:
    """Decide each duel without the judge."""
    return [duel(subject, cell) for cell in recipe["cells"]]


def duel(subject: Subject, cell: str) -> Result:
    """Whether a changed model wins: all passes run on copies of its trace."""
    fight = key_of(subject.exercise).fight
    assert isinstance(fight, Fight)
    try:
        with preserve_global_state(), bounded_output(0), time_limit(LIMITS):
            return "right" if _wins(fight, subject.code, cell) else "wrong"
    except OutOfTime:
        raise CannotCompare("time") from None
    except Exception:
        return "wrong"  # the model itself cannot be used


def _wins(fight: Fight, code: Code, cell: str) -> bool:
    seed_all(0)
    kind = code.load(cell, "<your changed code>")
    model = kind().eval()
    traced = fx.symbolic_trace(copy.deepcopy(model))
    plain = _results(model, kind.inputs)
    right = [_after(change, traced, kind.inputs) for change in fight.right]
    if any(each is None for each in right):
        return False
    expected = plain if fight.keeps_meaning else right[0]
    if not all(same_values(each, expected) for each in right):
        return False
    calls = sum(node.op.startswith("call_") for node in traced.graph.nodes)
    suspect = _after(fight.suspect, traced, kind.inputs)
    return calls <= fight.limit and (suspect is None or not same_values(suspect, expected))


def _after(change: Any, traced: fx.GraphModule, inputs: tuple[Any, ...]) -> Any:
    """The results of a trace after a pass; ``None`` if something raises."""
    try:
        changed = change(copy.deepcopy(traced))
        changed.recompile()
        return _results(changed, inputs)
    except Exception:
        return None


def _results(model: torch.nn.Module, inputs: tuple[Any, ...]) -> Any:
    """The result on copies of the inputs, and the inputs afterwards."""
    given = copy.deepcopy(inputs)
    return copy.deepcopy(model)(*given), given
