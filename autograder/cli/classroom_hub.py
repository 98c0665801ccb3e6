"""The command ``fxcourse classroom hub``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from autograder.cli.classroom_lms import Folder
from autograder.cli.errors import explained
from autograder.cli.terminal import out


def hub(
    folder: Folder,
    to: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder to write.")],
    exchange: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder through which work is handed out and in. Default: "
            "/srv/nbgrader/exchange.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory limit of a student's server, such as 2.5G. Default: by the chapters.",
        ),
    ] = None,
    instructor: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name on the Hub of a person who teaches; repeatable."),
    ] = None,
    account: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A user of the Hub that owns the class, and whose server all instructors use.",
        ),
    ] = None,
    registry: Annotated[
        str | None,
        typer.Option(metavar="PREFIX", help="Prefix of the images' names: REGISTRY/PROJECT/."),
    ] = None,
) -> None:
    """Write the settings and images with which a JupyterHub runs this class."""
    from autograder.classroom.room.open_classroom import open_classroom
    from autograder.classroom.setup.hub import folder as writing

    with explained("Nothing was written.", OSError), open_classroom(folder) as classroom:
        place = to.expanduser().resolve()
        options = writing.HubOptions(
            exchange or writing.EXCHANGE,
            memory or "",
            tuple(instructor or ()),
            account or "",
            registry or "",
        )
        limit = writing.write(classroom.room, place, options)
    out.print(f"{escape(str(place))}: settings for the Hub, students and instructors.")
    out.print(f"A student's server may use {limit} of memory.")
    out.print("Its README.md lists the next steps. After you change the class, write it again.")


def add_to(app: typer.Typer) -> None:
    """Mount the command."""
    app.command()(hub)
