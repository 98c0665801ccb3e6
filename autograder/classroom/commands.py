"""The commands under ``fxcourse classroom``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

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
