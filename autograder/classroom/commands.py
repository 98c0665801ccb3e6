"""The commands under ``fxcourse classroom``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.classroom import desk_commands, mid_term_commands

app = typer.Typer(
    help="Make an nbgrader classroom from the chapters of this course.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(soft_wrap=True, highlight=False)
err = Console(soft_wrap=True, highlight=False, stderr=True)


@app.callback()
def classroom() -> None:
    """Make an nbgrader classroom from the chapters of this course, and look into it."""


@app.command()
def create(
    folder: Annotated[Path, typer.Argument(help="A new folder for the classroom.")],
    chapters: Annotated[
        str | None, typer.Option(help="Chapters such as 01,03; all of them by default.")
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(help="The gradebook, such as postgresql://USER@HOST/NAME; a file by default."),
    ] = None,
) -> None:
    """Make a classroom: source/, release/, nbgrader_config.py, gradebook.db and README.md."""
    from autograder.classroom import create as making

    try:
        chosen = making.choose(chapters)
        making.create(folder, chosen, say=lambda text: out.print(escape(text)), db_url=db)
    except making.CannotCreate as error:
        err.print(f"[red]No classroom was made.[/red] {escape(str(error))}")
        raise typer.Exit(1) from None
    out.print(f"The classroom is in {escape(str(folder))}. Its README.md says how to go on.")


@app.command()
def demo(folder: Annotated[Path, typer.Argument(help="A new folder for the class.")]) -> None:
    """Make a sample class to try grading on: a chapter and six hand-ins with known points."""
    from autograder.classroom import sample_class
    from autograder.classroom.create import CannotCreate

    try:
        sample_class.make(folder, say=lambda text: out.print(escape(text)))
    except CannotCreate as error:
        err.print(f"[red]No class was made.[/red] {escape(str(error))}")
        raise typer.Exit(1) from None
    out.print(f"The sample class is in {escape(str(folder))}. These students have handed in:")
    for line in sample_class.lines():
        out.print(f"  {line}")
    out.print(f"Now grade it: fxcourse grade {escape(str(folder))}")


@app.command()
def undo(
    folder: Annotated[Path, typer.Argument(help="The classroom.")],
    force: Annotated[
        bool, typer.Option("--force", help="Also where the gradebook has changed since.")
    ] = False,
    db: Annotated[
        str | None, typer.Option(help="The gradebook, where that run was given another one.")
    ] = None,
) -> None:
    """Undo the last run of `fxcourse grade` that wrote anything: gradebook and notebooks."""
    from autograder.classroom import undo_run

    try:
        began, count = undo_run.undo(folder, force=force, db_url=db)
    except (*undo_run.UNDOABLE, OSError) as error:
        err.print(f"[red]Not undone.[/red] {escape(str(error))}")
        raise typer.Exit(1) from None
    notebooks = "1 notebook is" if count == 1 else f"{count} notebooks are"
    out.print(f"Undone: the run of {escape(began)}. {notebooks} as before, and the gradebook.")


@app.command()
def waiting(folder: Annotated[Path, typer.Argument(help="The classroom.")]) -> None:
    """Show what was graded by hand and handed in again: old points, new verdict, both answers."""
    from autograder.classroom import waiting as looks

    try:
        shown = looks.shown(folder)
    except looks.CannotShow as error:
        err.print(f"[red]Nothing to show.[/red] {escape(str(error))}")
        raise typer.Exit(1) from None
    out.print(shown, markup=False)


@app.command()
def pin(folder: Annotated[Path, typer.Argument(help="The classroom.")]) -> None:
    """Take the versions that are installed here as those of the class."""
    from autograder.classroom import versions

    if not (folder / "nbgrader_config.py").is_file():
        err.print(f"[red]Stopped.[/red] {escape(str(folder))} is not a classroom.")
        raise typer.Exit(1)
    out.print("The versions of this class are from now on:")
    for name, number in versions.pin(folder).items():
        out.print(f"{escape(name)}: {escape(number)}")


@app.command()
def forget(
    folder: Annotated[Path, typer.Argument(help="The classroom.")],
    student: Annotated[str, typer.Argument(help="The student's id.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Erase a student's data: from gradebook, folders and journal. Shows first what there is."""
    from autograder.classroom import forget as forgetting
    from autograder.classroom.grade_class import CannotGrade

    try:
        found = forgetting.Forgetting(folder, student)
        held = found.held()
        for line in forgetting.lines_about(held):
            out.print(escape(line))
        if not held:
            out.print(f"There is nothing to erase of {escape(student)}.")
            return
        if not yes and not typer.confirm("Erase this for good?"):
            raise typer.Exit(1)
        found.erase()
    except (forgetting.CannotForget, CannotGrade, OSError) as error:
        err.print(f"[red]Not erased.[/red] {escape(str(error))}")
        raise typer.Exit(1) from None
    out.print(f"Erased: {escape(student)}. Copies elsewhere, such as backups, are not known here.")


@app.command()
def lateness(folder: Annotated[Path, typer.Argument(help="The classroom.")]) -> None:
    """Show who was late and what it costs, by deadlines.toml and the due dates as they are now."""
    from autograder.classroom import lateness_preview

    try:
        text = lateness_preview.preview(folder)
    except lateness_preview.CannotShow as error:
        err.print(f"[red]Nothing to show.[/red] {escape(str(error))}")
        raise typer.Exit(1) from None
    out.print(text)


@app.command()
def replay(
    folder: Annotated[Path, typer.Argument(help="The classroom.")],
    student: Annotated[str, typer.Argument(help="Who handed it in.")],
    exercise: Annotated[str, typer.Argument(help="The exercise, such as add_to_mul.")],
) -> None:
    """Judge a graded answer again, on the same models: each case, seed, versions, the card."""
    from autograder.classroom import replay as replaying

    try:
        found = replaying.replay(folder, student, exercise)
    except replaying.CannotReplay as error:
        err.print(f"[red]Nothing to show.[/red] {escape(str(error))}")
        raise typer.Exit(1) from None
    out.print(escape(str(found)))


desk_commands.add_to(app)
mid_term_commands.add_to(app)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The classroom.")],
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Leave out who is who, to pass the report on.")
    ] = False,
    db: Annotated[
        str | None, typer.Option(help="Another gradebook, such as postgresql://USER@HOST/NAME.")
    ] = None,
) -> None:
    """Write a page and a table: how each submission ended, and how the exercises went."""
    from autograder.classroom.class_report import make

    try:
        path = make.report(folder, anonymous=anonymous, db_url=db)
    except make.CannotReport as error:
        err.print(f"[red]There is no report.[/red] {escape(str(error))}")
        raise typer.Exit(1) from None
    out.print(f"The report is {escape(str(path))}, and report.csv beside it.")


if __name__ == "__main__":
    app()
