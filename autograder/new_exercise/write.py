"""Writes an exercise into a classroom, from the templates."""

from __future__ import annotations

from pathlib import Path

from autograder.builder import BuildRefused, as_text, source_notebook
from autograder.classroom.room.location import classroom_at
from autograder.classroom.setup.create import is_as_made, remember
from autograder.core.exercise import Exercise
from autograder.core.own_exercises import FOLDER, PACKAGE
from autograder.environment.errors import ClassroomError
from autograder.new_exercise.templates import check_name, filled_in

FILES = ("models.py", "cases.py", "redraws.py", "key.py", "answers.py")
"""The files of an exercise in a class, next to its notebook's cells."""


def folder_of(room: Path, name: str) -> Path:
    """The folder of an instructor's exercise."""
    return room / FOLDER / name


def write(room: Path, name: str) -> Path:
    """Write an exercise that works, for an instructor to change.

    Raises:
        ClassroomError: the name is taken, or is not a name for a function.
    """
    check_name(name)
    home = folder_of(classroom_at(room), name)
    values = {"name": name, "package": f"{PACKAGE}.{name}", "number": 1, "course": False}
    texts = {home / file: filled_in(file, **values) for file in FILES}
    texts[home / "notebook" / f"{name}.py"] = filled_in("cells.py", **values)
    (home / "notebook").mkdir(parents=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", newline="\n")
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
