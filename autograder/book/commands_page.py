"""Generates ``docs/reference/commands.md`` from the command line itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from autograder.builder.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "commands.md"

HEAD = """\
# Commands

**Which commands are there, and what do their options do?** `fxcourse COMMAND --help` prints the
same in your terminal. `make build` generates this page from the command line itself, so do not edit
it. In a usage line, you can leave out what is in `[...]`.
"""

Apps = Mapping[str, typer.Typer]
"""Typer apps, by the words that call them, such as ``fxcourse`` and ``fxcourse classroom``."""


def commands_page(apps: Apps) -> str:
    """The whole page, in markdown."""
    groups = {words: get_command(app) for words, app in apps.items()}
    parts = [HEAD, *_overview(groups)]
    for words, group in groups.items():
        assert isinstance(group, TyperGroup)
        if options := _options(group):
            parts += [f"## {words}\n", _table("option", map(_row, options))]
        for panel, commands in _panels(group):
            parts.append(f"## {_title(words, panel)}\n")
            for command in commands:
                name = f"{words} {command.name}"
                parts += _command(name, command, has_commands=name in groups)
    ends = [group.epilog for group in groups.values() if group.epilog]
    return "\n".join([*parts, *(f"## Notes\n\n```text\n{text}\n```\n" for text in ends)])


def _panels(group: TyperGroup) -> Iterator[tuple[str, list[TyperCommand]]]:
    """The commands of a group, by the titles of their panels; ``""`` if there are no panels."""
    shown = [one for one in group.commands.values() if not one.hidden]
    commands = [one for one in shown if isinstance(one, TyperCommand)]
    for panel, found in groupby(commands, key=_panel):
        yield panel, list(found)


def _panel(command: TyperCommand) -> str:
    panel = command.rich_help_panel
    return panel if isinstance(panel, str) else ""


def _title(words: str, panel: str) -> str:
    """The heading of a panel. Panels of the main command need no name before them."""
    if not panel:
        return words
    return f"{words}: {panel}" if " " in words else panel


def _overview(groups: Mapping[str, object]) -> Iterator[str]:
    """A table of all commands, each with a link to its section."""
    yield "| command | purpose |\n|---|---|"
    for words, group in groups.items():
        assert isinstance(group, TyperGroup)
        for _, commands in _panels(group):
            for command in commands:
                name = f"{words} {command.name}"
                yield f"| [`{name}`](#{name.replace(' ', '-')}) | {_first(command)} |"
    yield ""


def _first(command: TyperCommand) -> str:
    """The first paragraph of a command's help."""
    return _prose(" ".join((command.help or "").partition("\n\n")[0].split()))


def _command(name: str, command: TyperCommand, *, has_commands: bool) -> Iterator[str]:
    """The section of one command: help, usage, arguments and options, an example."""
    yield f"### {name}\n"
    paragraphs = re.split(r"\n\n+", (command.help or "").strip())
    yield "\n\n".join(_prose(" ".join(text.split())) for text in paragraphs) + "\n"
    arguments = [one for one in command.params if isinstance(one, TyperArgument)]
    options = _options(command)
    usage = [name, *(["[OPTIONS]"] if options else []), *map(_usage, arguments)]
    usage += ["COMMAND"] if has_commands else []
    yield f"```\n{' '.join(usage)}\n```\n"
    rows = [f"| `{_usage(one)}` | {_prose(one.help or '')} |" for one in arguments]
    rows += map(_row, options)
    if rows:
        yield _table("argument or option", rows)
    if command.epilog:
        lead, _, example = command.epilog.replace("\\[", "[").partition(": ")
        yield f"{lead}: `{example}`\n"


def _options(command: TyperCommand | TyperGroup) -> list[TyperOption]:
    options = [one for one in command.params if isinstance(one, TyperOption)]
    return [one for one in options if not one.hidden]


def _table(what: str, rows: Iterable[str]) -> str:
    return "\n".join([f"| {what} | meaning |", "|---|---|", *rows, ""])


def _row(option: TyperOption) -> str:
    words = [_prose(option.help or ""), _default(option)]
    return f"| {_spelled(option)} | {' '.join(filter(None, words))} |"


def _usage(argument: TyperArgument) -> str:
    """An argument in a usage line, such as ``[CHAPTER]...``."""
    name = (argument.metavar or argument.name or "").strip("[].").upper()
    shown = name if argument.required else f"[{name}]"
    return shown if argument.nargs == 1 else f"{shown}..."


def _spelled(option: TyperOption) -> str:
    """The names of an option, each as code, with a word for its value."""
    value = _value(option)
    names = [f"`{name} {value}`" if value else f"`{name}`" for name in option.opts]
    return ", ".join([*names, *(f"`{name}`" for name in option.secondary_opts)])


def _value(option: TyperOption) -> str:
    annotation = option.type_descriptor.annotation
    if option.metavar or annotation is bool:
        return option.metavar or ""
    return {int: "N", float: "N", Path: "PATH"}.get(annotation, "TEXT")


def _default(option: TyperOption) -> str:
    """A sentence about the default value, if there is one."""
    value = option.default
    if value is True and option.secondary_opts:
        value = option.opts[0]
    return "" if value is None or value is False or value == "" else f"Default: `{value}`."


def _prose(text: str) -> str:
    """A help text in markdown: code is kept, and all other special characters are escaped."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    return re.sub(r"([*|<\[\]])", r"\\\1", text)
