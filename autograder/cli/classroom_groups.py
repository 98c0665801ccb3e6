"""The commands under ``fxcourse classroom`` for groups of wrong answers."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from autograder.cli.classroom_lms import Folder
from autograder.cli.errors import explained
from autograder.cli.terminal import out, print_some

if TYPE_CHECKING:
    from autograder.classroom.groups.course_cases import CaseCode
    from autograder.core.exercise import Exercise

Chapter = Annotated[str, typer.Argument(metavar="CHAPTER", help="The chapter, such as 03.")]


class CasesOfCourse:
    """The hand-picked cases of this version of the course, and of a class's own exercises."""

    def __init__(self, folder: Path) -> None:
        from autograder.core import own_exercises

        texts = own_exercises.texts_in(folder.expanduser() / own_exercises.FOLDER)
        own_exercises.install(texts)

    def _exercise(self, name: str) -> Exercise | None:
        from autograder.exercises import EXERCISES

        return EXERCISES[name] if name in EXERCISES else None

    def count(self, exercise: str) -> int:
        """The number of cases; 0 for an exercise that this version does not have."""
        found = self._exercise(exercise)
        return len(found.cases) if found else 0

    def is_hidden(self, exercise: str, case: str) -> bool:
        """Whether students do not know a case; true for an unknown one."""
        found = self._exercise(exercise)
        return found is None or case not in {one.name for one in found.visible_cases()}

    def smallest(self, exercise: str, names: Collection[str]) -> CaseCode | None:
        """The code of the smallest of these cases; one that students know, if there is any."""
        from autograder.classroom.groups.course_cases import CaseCode
        from autograder.judge import size_of
        from autograder.judge.counterexample import construction, source_of

        found = self._exercise(exercise)
        own = [case for case in found.cases if case.name in names] if found else []
        if not own:
            return None
        case = min(own, key=lambda one: (one.hidden, size_of(one)))
        trial = case.make(0)
        code = source_of(trial, case.expect.built_by) + construction(case, trial.model)
        return CaseCode(case.name, code.strip("\n"), case.hidden)


def groups(
    folder: Folder,
    chapter: Chapter,
    exercise: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Show only this exercise on the page."),
    ] = None,
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", help="Write a page without names and answers instead."),
    ] = False,
) -> None:
    """Group wrong answers that fail the same cases, and write a page about the groups.

    Write a comment for a group into the file next to the page. `fxcourse classroom comment` gives
    it to all students of the group.
    """
    from autograder.classroom.groups import commands, group_file
    from autograder.classroom.room.open_classroom import open_classroom

    with explained("No groups were written.", OSError), open_classroom(folder) as classroom:
        found = commands.make_groups(
            classroom, chapter, CasesOfCourse(folder), exercise=exercise, anonymous=anonymous
        )
        file = group_file.path_of(classroom.room, found.chapter)
    for name, those in found.groups.items():
        out.print(f"{escape(name)}: {found.wrong[name]} wrong answers, groups: {len(those)}.")
    if found.ungrouped:
        out.print(
            f"[yellow]{len(found.ungrouped)} answers were graded before groups:[/yellow] "
            f"fxcourse grade {escape(str(folder))} {escape(found.chapter)} --force"
        )
    out.print(f"The page: {escape(str(found.page))}")
    if not anonymous:
        out.print(f"Write comments into {escape(str(file))}")


def comment(
    folder: Folder,
    chapter: Chapter,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which comments would change. Write nothing.")
    ] = False,
    take_back: Annotated[
        bool, typer.Option("--take-back", help="Remove the comments on groups again.")
    ] = False,
) -> None:
    """Give the comments on groups to their students, in the gradebook.

    They are on the answers, after your own comments. Your own comments and all points stay as they
    are.
    """
    from autograder.classroom.groups import commands
    from autograder.classroom.room.open_classroom import open_classroom

    with explained("No comment was written.", OSError), open_classroom(folder) as classroom:
        if take_back:
            changes = commands.take_back_comments(classroom, chapter, dry_run=dry_run)
        else:
            changes = commands.write_comments(
                classroom, chapter, CasesOfCourse(folder), dry_run=dry_run
            )
    lines = [f"{one.student}, {one.exercise}: {change}." for one, change in changes]
    print_some([escape(line) for line in lines])
    if not changes:
        out.print("All comments are as they should be.")
    elif dry_run:
        out.print("This was a dry run: nothing was written.")
    else:
        out.print(
            "Students see comments on new feedback pages: nbgrader generate_feedback CHAPTER "
            "--force. To undo this: fxcourse classroom undo DIR"
        )


def add_to(app: typer.Typer) -> None:
    """Mount these commands."""
    for command in (groups, comment):
        app.command()(command)
