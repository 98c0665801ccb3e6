"""The commands under ``fxcourse classroom`` that change the chapters of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from autograder.cli.classroom_lms import Folder
from autograder.cli.errors import explained
from autograder.cli.terminal import out

if TYPE_CHECKING:
    from autograder.classroom.setup.change_chapters import Changed

Chapters = Annotated[list[str], typer.Argument(metavar="CHAPTER", help="Such as 04 05.")]


def add(folder: Folder, chapters: Chapters) -> None:
    """Add chapters to a class."""
    from autograder.classroom.room.open_classroom import open_classroom
    from autograder.classroom.setup import change_chapters
    from autograder.classroom.setup.create import choose

    with (
        explained("The class was not changed.", ValueError, OSError),
        open_classroom(folder) as classroom,
    ):
        _print(
            change_chapters.add(classroom, choose(",".join(chapters)), _say), "is in the class now"
        )


def update(
    folder: Folder,
    chapters: Annotated[
        list[str] | None,
        typer.Argument(metavar="CHAPTER", help="Such as 04 05. Default: all of the class."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace even a source that you have changed.")
    ] = False,
) -> None:
    """Update the chapters of a class to this version of the course. Grades are kept."""
    from autograder.classroom.room.open_classroom import open_classroom
    from autograder.classroom.setup import change_chapters
    from autograder.classroom.setup.create import choose

    with (
        explained("The class was not changed.", ValueError, OSError),
        open_classroom(folder) as classroom,
    ):
        known = choose(",".join(chapters) if chapters else None)
        if not chapters:
            known = {
                name: nb
                for name, nb in known.items()
                if (classroom.room / "source" / name).exists()
            }
        done = change_chapters.update(classroom, known, _say, replace=replace)
    _print(done, "has a new version. Hand the notebook out again")
    if not done:
        out.print("All chapters are up to date.")


def remove(folder: Folder, chapters: Chapters) -> None:
    """Remove chapters from a class. The command `add` restores them with their grades."""
    from autograder.classroom.room.open_classroom import open_classroom
    from autograder.classroom.setup import change_chapters
    from autograder.classroom.setup.create import is_called

    with (
        explained("The class was not changed.", ValueError, OSError),
        open_classroom(folder) as classroom,
    ):
        known = sorted(one.name for one in classroom.gradebook.assignments)
        found = {word: [name for name in known if is_called(name, word)] for word in chapters}
        if unknown := [word for word, names in found.items() if not names]:
            raise ValueError(f"There is no chapter {unknown[0]!r}. Chapters: {', '.join(known)}.")
        chosen = dict.fromkeys(name for names in found.values() for name in names)
        _print(change_chapters.remove(classroom, chosen), "is removed")


def _say(text: str) -> None:
    out.print(escape(text))


def _print(done: list[Changed], became: str) -> None:
    for one in done:
        grades = f" {one.graded} submissions keep their grades." if one.graded else ""
        out.print(f"{escape(one.name)} {became}.{grades}")
        if one.kept:
            out.print(f"  Its earlier source and grades: {escape(str(one.kept))}")
        if one.gone:
            gone = ", ".join(one.gone)
            out.print(f"  [yellow]Removed, but still in that file:[/yellow] {escape(gone)}")


def add_to(app: typer.Typer) -> None:
    """Mount these commands."""
    for command in (add, update, remove):
        app.command()(command)
