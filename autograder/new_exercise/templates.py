"""Fills in the templates of an exercise, for a class or for the course."""

from __future__ import annotations

import keyword
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.environment.errors import ClassroomError
from autograder.exercises import EXERCISES

TEMPLATE = Path(__file__).with_name("template")

REPLACE = "REPLACE"
"""The word in each line of a template that an author must replace."""


def check_name(name: str) -> None:
    """Check that an exercise can have this name.

    Raises:
        ClassroomError: the name is taken, or is not a name for a function.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ClassroomError(
            f"{name!r} cannot be the name of a function. Use a name such as add_to_mul."
        )
    if name in EXERCISES:
        raise ClassroomError(f"The course already has an exercise called {name}.")


def filled_in(file: str, **values: object) -> str:
    """The text of a file of a new exercise.

    Args:
        file: the name of the file, such as ``cases.py``.
        values: ``name``, ``package``, ``number``, ``label`` and ``course`` of the exercise;
            ``course`` is false for a class's own one.
    """
    return _ENVIRONMENT.get_template(f"{file}.txt").render(values)


# The files are Python and Markdown, not HTML: nothing is escaped.
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATE),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
