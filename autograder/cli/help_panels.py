"""Panels of a help page: the order of an app's commands, and an example for each of them."""

from __future__ import annotations

from collections.abc import Mapping

import typer
from rich.markup import escape
from typer.main import get_command_name
from typer.models import CommandInfo

Panels = Mapping[str, Mapping[str, str]]
"""An example for each command, by the title of a panel and the command's name."""


def arrange(app: typer.Typer, panels: Panels) -> None:
    """Sort an app's commands into panels, and add each command's example to its help.

    A command that no panel names comes last.
    """
    places = {name: title for title, examples in panels.items() for name in examples}
    for info in app.registered_commands:
        name = name_of(info)
        if name in places:
            info.rich_help_panel = places[name]
            info.epilog = f"Example: {escape(panels[places[name]][name])}"
    order = [*places]
    app.registered_commands.sort(
        key=lambda info: order.index(name_of(info)) if name_of(info) in places else len(order)
    )


def name_of(info: CommandInfo) -> str:
    """The name of a command on the command line."""
    return info.name or get_command_name(info.callback.__name__ if info.callback else "")
