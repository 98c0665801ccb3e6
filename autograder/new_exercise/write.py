"""Writes an exercise into a classroom, from the template."""

from __future__ import annotations

import keyword
from pathlib import Path

from autograder.builder import BuildRefused, as_text, source_notebook
from autograder.classroom.room.location import classroom_at
from autograder.classroom.setup.create import is_as_made, remember
from autograder.core.exercise import Exercise
from autograder.core.own_exercises import FOLDER
from autograder.environment.errors import ClassroomError
from autograder.exercises import EXERCISES

TEMPLATE = Path(__file__).with_name("template")


def folder_of(room: Path, name: str) -> Path:
    """The folder of an instructor's exercise."""
    return room / FOLDER / name


def write(room: Path, name: str) -> Path:
    """Write an exercise that works, for an instructor to change.

    Raises:
        ClassroomError: the name is taken, or is not a name for a function.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ClassroomError(
            f"{name!r} cannot be the name of a function. Use a name such as add_to_mul."
        )
    if name in EXERCISES:
        raise ClassroomError(f"The course already has an exercise called {name}.")
    home = folder_of(classroom_at(room), name)
    (home / "notebook").mkdir(parents=True)
    for path in sorted(TEMPLATE.glob("*.py.txt")):
        text = path.read_text(encoding="utf-8").replace("NAME", name)
        target = home / path.name.removesuffix(".txt")
        if path.name.startswith("notebook"):
            target = home / "notebook" / f"{name}.py"
        target.write_text(text, encoding="utf-8", newline="\n")
    return home


def write_source(room: Path, exercise: Exercise) -> Path:
    """Make the notebook of an exercise, unless somebody has changed it.

    Raises:
        ClassroomError: its source breaks a rule of the builder.

    Returns:
        The path of the notebook.
    """
    name = exercise.chapter
    path = room / "source" / name / f"{name}.ipynb"
    source = folder_of(room, exercise.name) / "notebook" / f"{name}.py"
    if not source.is_file() or (path.is_file() and not is_as_made(room, name)):
        return path
    try:
        text = as_text(source_notebook(source, (exercise,)))
    except BuildRefused as refused:
        raise ClassroomError(str(refused)) from None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    remember(room, name, text)
    return path
