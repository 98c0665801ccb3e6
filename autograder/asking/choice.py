"""Chooses two questions about an answer, and confirms their keys in two ways."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from autograder.asking.code import Code, definitions
from autograder.asking.kinds import KINDS
from autograder.asking.question import Question
from autograder.asking.small_models import SmallModel, small_models
from autograder.asking.subject import Subject
from autograder.asking.watched_run import TooLong
from autograder.core.exercise import Exercise
from autograder.core.limits import OutOfTime
from autograder.lessons import debriefs
from autograder.runner.lasting_state import LastingState

ASKED = 2
"""Questions after a pass."""

MOST_LINES = 120
_MOST_MODELS = 8
_MODELS_FOR = {"breaks": 2, "shows": 1}
"""Models for kinds that try many changes."""

_MOST_PROBLEMS = 3
"""Models on which nothing can be asked, before the rest is not tried."""

_TRIES = 6
"""Questions of one kind about one model whose key is computed again."""

_IMPORTS = """\
import operator
import torch
import torch.nn.functional as F
from torch import fx, nn
"""


@dataclass
class Chosen:
    """The questions, or the reason why there are none.

    Attributes:
        questions: at most two.
        why: a sentence, if there are fewer than two.
        dropped: for each question that was dropped, its kind and the reason.
    """

    questions: list[Question] = field(default_factory=list)
    why: str = ""
    dropped: list[str] = field(default_factory=list)


def choose(exercise: Exercise, code: Code, turn: int = 1) -> Chosen:
    """Choose the questions about an answer that has passed.

    Args:
        exercise: the exercise.
        code: the answer.
        turn: 2 for two other questions.
    """
    chosen = Chosen()
    if sum(1 for line in code.cell.splitlines() if line.strip()) > MOST_LINES:
        chosen.why = f"Your code has more than {MOST_LINES} lines."
        return chosen
    first = _choose(exercise, code, chosen, set(), f"{code.digest}|1")
    if turn > 1:
        taken = {question.mark for question in first}
        chosen.questions = _choose(exercise, code, chosen, taken, f"{code.digest}|{turn}")
    else:
        chosen.questions = first
    if len(chosen.questions) == ASKED:
        chosen.why = ""
    elif chosen.questions or not chosen.why:
        chosen.why = "No other clear question was found about your code."
    return chosen


def _choose(
    exercise: Exercise, code: Code, chosen: Chosen, taken: set[str], seed: str
) -> list[Question]:
    random = Random(int(seed_number(seed)))
    subjects = _Lazy(_subjects(exercise, code, random.randrange(1 << 20), chosen))
    kinds = ["fight"] if exercise.kind == "witness" else _order(random)
    found: list[Question] = []
    for more in (False, True):  # easy ones, and two of one kind, only if need be
        for kind in kinds:
            if len(found) < ASKED and (more or kind not in {each.kind for each in found}):
                marks = taken | {each.mark for each in found}
                found += _first(kind, subjects, seed, marks, found, chosen, easy=more)
    return found


class _Lazy:
    """The subjects, each made when it is first needed."""

    def __init__(self, subjects: Iterator[Subject]) -> None:
        self._rest, self._known = subjects, list[Subject]()

    def first(self, count: int) -> Iterator[Subject]:
        """Yield the first subjects."""
        for at in range(count):
            if at == len(self._known):
                more = next(self._rest, None)
                if more is None:
                    return
                self._known.append(more)
            yield self._known[at]


def seed_number(seed: str) -> int:
    """A number that depends on a text, and on nothing else."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")


def _order(random: Random) -> list[str]:
    """The kinds in random order; counting is the last, because it shows the least."""
    kinds = ["breaks", "which", "holds", "shows"]
    kinds.sort(key=lambda _: random.random())
    return [*kinds, "visits"]


def _subjects(exercise: Exercise, code: Code, number: int, chosen: Chosen) -> Iterator[Subject]:
    """Small models on which the answer is right and keeps nothing."""
    others = _other_answers(exercise)
    if exercise.kind == "witness":
        yield Subject(exercise, code, SmallModel(exercise.cases[0], "", exercise.name, "", ()))
        return
    count = problems = 0
    for model in small_models(exercise, number):
        subject = Subject(exercise, code, model, others)
        if problem := _problem(subject):
            chosen.why = problem
            problems += 1
            if not count and problems == _MOST_PROBLEMS:
                break
            continue
        yield subject
        count += 1
        if count == _MOST_MODELS:
            break
    if not count and not chosen.why:
        chosen.why = "The exercise has no model that is small enough for a question."


def _problem(subject: Subject) -> str:
    """Why there is no question about an answer on a model."""
    try:
        answer = subject.code.load()
        kept = LastingState(answer)
        if subject.draws_numbers(answer):
            return "Your code draws random numbers."
        if kept.changed():
            return "Your code keeps something from one call to the next."
        if not subject.arrivals:
            return "None of your lines runs."
    except (TooLong, OutOfTime):
        return "Your code runs too long on small models."
    except Exception:
        return "Your code could not be run outside of this notebook."
    return "" if subject.is_right else "Your code could not be checked outside of this notebook."


def _other_answers(exercise: Exercise) -> tuple[Code, ...]:
    """The answers of the debrief."""
    debrief = debriefs().get(exercise.name)
    texts = (debrief.solution, debrief.other) if debrief else ()
    return tuple(Code(exercise.name, definitions(text), _IMPORTS) for text in texts)


def _first(
    kind: str, subjects: _Lazy, seed: str, marks: set[str], found: list[Question],
    chosen: Chosen, *, easy: bool,
) -> list[Question]:  # fmt: skip
    """The first question of a kind whose key is the same a second time, and in the second way."""
    lines = {each.recipe.get("line") for each in found if each.kind == kind} - {None}
    for subject in subjects.first(_MODELS_FOR.get(kind, _MOST_MODELS)):
        made = KINDS[kind].questions(subject, Random(seed_number(f"{seed}|{kind}")))
        for _, question in zip(range(_TRIES), made, strict=False):
            if question.mark in marks or question.recipe.get("line") in lines:
                continue
            if question.recipe.get("easy") and not easy:
                continue
            reason = confirm(subject, question)
            if not reason:
                return [question]
            chosen.dropped.append(f"{kind}: {reason}")
    return []


def confirm(subject: Subject, question: Question) -> str:
    """Why a question must not be asked: its key is another one the second time, or the second way.

    Returns:
        ``""`` if both ways give the key.
    """
    kind, recipe = KINDS[question.kind], question.recipe
    try:
        if kind.first_way(subject.again(), recipe) != recipe["right"]:
            return "another key the second time"
        if kind.second_way(subject.again(), recipe) != recipe["right"]:
            return "another key the second way"
    except (Exception, OutOfTime) as error:
        return f"not computed again: {type(error).__name__}"
    return ""
