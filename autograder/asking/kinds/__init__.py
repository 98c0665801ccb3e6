"""The kinds of questions, one module for each.

A module has these functions:

* ``questions(subject, random)`` yields questions about an answer on a model; none if each would be
  trivial.
* ``first_way(subject, recipe)`` and ``second_way(subject, recipe)`` compute the right option from
  the recipe of a question again: by the watched run or the check, and by inserted calls or a plain
  comparison. Both return the same kind of value, which the recipe has as ``"right"``. A recipe with
  ``"easy"`` is asked only if there is no other question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from autograder.asking.kinds import breaks, fight, holds, shows, visits, which
from autograder.asking.question import Question
from autograder.asking.subject import Subject


@dataclass(frozen=True)
class Kind:
    """The functions of a kind."""

    questions: Callable[[Subject, Random], Iterator[Question]]
    first_way: Callable[[Subject, dict[str, Any]], Any]
    second_way: Callable[[Subject, dict[str, Any]], Any]


KINDS = {
    module.__name__.rpartition(".")[2]: Kind(module.questions, module.first_way, module.second_way)
    for module in (breaks, which, holds, shows, visits, fight)
}
