"""Questions that people ask about FX, each with its symptom, its solution, and a section.

A question is a function that needs only its imports. It asserts the symptom that the person saw,
and then the solution. ``python -m tests.questions`` prints the table of questions and sections.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from autograder.environment import torch_changes
from tests.unit.lessons.topics import sections

QUESTIONS = 76
"""Number of collected questions, numbered from 1; see `question`."""


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        number: its number in the collection, from 1.
        asked: the thread or page of the question.
        text: the question, in a line.
        chapter: the notebook that answers it, such as ``"01_tracing"``.
        section: the heading there, without its number.
        show: asserts the symptom, then the solution.
        until: the first version of PyTorch without the symptom; ``""`` if there is none.
    """

    number: int
    asked: str
    text: str
    chapter: str
    section: str
    show: Callable[[], None]
    until: str = ""

    @property
    def is_asked(self) -> bool:
        """Whether the PyTorch that is loaded has the symptom."""
        return torch_changes.holds(until=self.until)

    @property
    def answered(self) -> bool:
        """Whether the section exists."""
        return any(each.chapter == self.chapter for each in sections().get(self.section, []))


_ALL: dict[int, Question] = {}


def question(
    number: int, asked: str, section: str, until: str = ""
) -> Callable[..., Callable[[], None]]:
    """Add a function to the questions; the first line of its docstring is the text.

    Args:
        number: the number in the collection.
        asked: the thread, such as ``"pytorch#54602"``.
        section: chapter and heading, such as ``"01_tracing: How a trace is made"``.
        until: the first version of PyTorch without the symptom; ``""`` if there is none.

    Raises:
        ValueError: the number is taken.
    """

    def add(show: Callable[[], None]) -> Callable[[], None]:
        if number in _ALL:
            raise ValueError(f"two questions have the number {number}")
        chapter, _, heading = section.partition(": ")
        text = (show.__doc__ or "").partition("\n")[0]
        _ALL[number] = Question(number, asked, text, chapter, heading, show, until)
        return show

    return add


def questions() -> list[Question]:
    """All questions in these modules, by number."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith(("_", "test_")):
            importlib.import_module(f"{__name__}.{module.name}")
    return [_ALL[number] for number in sorted(_ALL)]


def table() -> str:
    """Questions and sections, as a table in Markdown."""
    rows = [f"| {q.number} | {q.text} | {q.chapter}: {q.section} |" for q in questions()]
    answered = sum(q.answered for q in questions())
    head = ["| | question | section |", "|---|---|---|"]
    return "\n".join([*head, *rows, "", f"{answered} of {QUESTIONS} questions have a section."])
