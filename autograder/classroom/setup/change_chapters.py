"""Adds, updates and removes chapters of a class while it is running, without losing grades."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from autograder.builder import as_text
from autograder.classroom.records.grade_backup import grades_of, put_back, write_down
from autograder.classroom.room.open_classroom import OpenClassroom
from autograder.classroom.setup.create import is_as_made, remember
from autograder.environment.errors import ClassroomError
from autograder.submission.source_cells import grade_id

KEPT = ".fxcourse/kept"
"""The folder with the grades and sources that an update replaced."""

LEFT_OUT = ".fxcourse/left_out"
"""The folder with removed chapters and their grades."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Changed:
    """The outcome of changing a chapter.

    Attributes:
        name: the chapter.
        graded: the number of its submissions that have kept their grades.
        gone: cells with points or comments that are missing in the new version.
        kept: the folder with its source and grades before the change.
    """

    name: str
    graded: int
    gone: tuple[str, ...] = ()
    kept: Path | None = None


def add(classroom: OpenClassroom, notebooks: Mapping[str, NotebookNode], say: Say) -> list[Changed]:
    """Add chapters to a class; grades of a chapter that was removed before are restored.

    Raises:
        ClassroomError: one is in the class already, or nbgrader cannot release it.
    """
    there = [name for name in notebooks if (classroom.room / "source" / name).exists()]
    if there:
        raise ClassroomError(
            f"{', '.join(there)} is already in the class. To update it: "
            "fxcourse classroom update DIR CHAPTER"
        )
    done = []
    for name, notebook in notebooks.items():
        say(f"{name}: making what students get ...")
        _write_source(classroom.room, name, as_text(notebook))
        try:
            _release(classroom, name)
        except ClassroomError:
            shutil.rmtree(classroom.room / "source" / name, ignore_errors=True)
            raise
        remember(classroom.room, name, as_text(notebook))
        path = classroom.room / LEFT_OUT / name / "grades.json"
        kept = json.loads(path.read_text("utf-8")) if path.exists() else None
        gone = put_back(classroom.gradebook, kept) if kept else []
        if kept:
            os.replace(path.parent, _free(classroom.room, name))
        done.append(Changed(name, len(kept["submissions"]) if kept else 0, tuple(gone)))
    return done


def update(
    classroom: OpenClassroom,
    notebooks: Mapping[str, NotebookNode],
    say: Say,
    *,
    replace: bool = False,
) -> list[Changed]:
    """Update chapters of a class to the course's version, if they differ.

    Args:
        classroom: the class.
        notebooks: the chapters in source form.
        say: called with a line about each step.
        replace: update a chapter even if the instructor has changed its source.

    Raises:
        ClassroomError: a chapter is not in the class, was changed there, or cannot be released.
    """
    sources = {name: classroom.room / "source" / name / f"{name}.ipynb" for name in notebooks}
    missing = [name for name, path in sources.items() if not path.is_file()]
    if missing:
        raise ClassroomError(f"{', '.join(missing)} is not in the class; to put it there: add.")
    new = {
        name: as_text(notebook)
        for name, notebook in notebooks.items()
        if sources[name].read_text("utf-8") != as_text(notebook)
    }
    edited = [name for name in new if not is_as_made(classroom.room, name)]
    if edited and not replace:
        raise ClassroomError(
            f"{', '.join(edited)}: the source was changed in this class, and a new version would "
            "replace it, with points and cells of yours. --replace does so, and keeps a copy."
        )
    return [_update(classroom, name, notebooks[name], text, say) for name, text in new.items()]


def _update(
    classroom: OpenClassroom, name: str, notebook: NotebookNode, text: str, say: Say
) -> Changed:
    say(f"{name}: making what students get ...")
    book, kept_in = classroom.gradebook, _free(classroom.room, name)
    kept = grades_of(book, name)
    write_down(kept, kept_in / "grades.json")
    for place in ("source", "release"):
        if (classroom.room / place / name).is_dir():
            shutil.copytree(classroom.room / place / name, kept_in / place)
    source_cells = {
        cell.name for one in book.find_assignment(name).notebooks for cell in one.source_cells
    }
    others = source_cells != {found for cell in notebook.cells if (found := grade_id(cell))}
    try:
        if others and kept["submissions"]:
            book.remove_assignment(name)
        _write_source(classroom.room, name, text)
        _release(classroom, name)
    except Exception:
        _restore(classroom, name, kept_in)
        put_back(book, kept)
        raise
    remember(classroom.room, name, text)
    gone = put_back(book, kept)
    return Changed(name, len(kept["submissions"]), tuple(gone), kept_in)


def remove(classroom: OpenClassroom, names: Iterable[str]) -> list[Changed]:
    """Remove chapters from a class. Submissions stay, and grades are kept in a file.

    Raises:
        ClassroomError: there is no such chapter.
    """
    done = []
    for name in names:
        kept = grades_of(classroom.gradebook, name)
        place = classroom.room / LEFT_OUT / name
        if place.exists():
            os.replace(place, _free(classroom.room, name))
        write_down(kept, place / "grades.json")
        classroom.gradebook.remove_assignment(name)
        for folder in ("source", "release"):
            if (classroom.room / folder / name).exists():
                os.replace(classroom.room / folder / name, place / folder)
        done.append(Changed(name, len(kept["submissions"]), (), place))
    return done


def _write_source(room: Path, name: str, text: str) -> None:
    path = room / "source" / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _release(classroom: OpenClassroom, name: str) -> None:
    """Have nbgrader make the students' version."""
    classroom.gradebook.db.commit()  # the next process that writes must not wait for this one
    result = classroom.nbgrader.generate_assignment(name, force=True)
    classroom.gradebook.db.expire_all()
    if not result["success"]:
        raise ClassroomError(f"nbgrader could not release {name}:\n{result['log']}")


def _restore(classroom: OpenClassroom, name: str, kept_in: Path) -> None:
    """Restore source, release and cells after a failed update."""
    classroom.gradebook.db.rollback()
    _copy_back(classroom.room, name, kept_in, "source")
    known = [one for one in classroom.gradebook.assignments if one.name == name]
    if not known or not any(notebook.source_cells for notebook in known[0].notebooks):
        _release(classroom, name)
    _copy_back(classroom.room, name, kept_in, "release")


def _copy_back(room: Path, name: str, kept_in: Path, place: str) -> None:
    shutil.rmtree(room / place / name, ignore_errors=True)
    if (kept_in / place).is_dir():
        shutil.copytree(kept_in / place, room / place / name)


def _free(room: Path, name: str) -> Path:
    """The path of a new folder, named after the chapter and the time."""
    home = room / KEPT
    home.mkdir(parents=True, exist_ok=True)
    stem = f"{name}_{datetime.now(UTC):%Y-%m-%d_%H%M%S}"
    number, path = 1, home / stem
    while path.exists():
        number += 1
        path = home / f"{stem}_{number}"
    return path
