"""The page of commands matches this command line, and pages name only existing commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.core import TyperGroup
from typer.main import get_command

from autograder.book.commands_page import PAGE, commands_page
from autograder.builder.paths import ROOT
from autograder.cli.main import all_apps

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == commands_page(all_apps()), "run 'make build'"


def test_every_command_has_a_section() -> None:
    text = commands_page(all_apps())
    for words, app in all_apps().items():
        group = get_command(app)
        assert isinstance(group, TyperGroup)
        for name in group.commands:
            assert f"\n### {words} {name}\n" in text
            assert f"(#{words.replace(' ', '-')}-{name})" in text


def test_a_command_is_described_with_arguments_options_and_defaults() -> None:
    app = typer.Typer(add_completion=False)

    @app.command(epilog="Example: x paint 3 \\[red]")
    def paint(
        coats: Annotated[int, typer.Argument(help="How many | coats.")],
        colors: Annotated[list[str] | None, typer.Argument(metavar="COLOR")] = None,
        speed: Annotated[int, typer.Option("-s", "--speed", help="In `m*s`, *not* in km.")] = 0,
        dry: Annotated[bool, typer.Option(help="Wait.")] = True,
        secret: Annotated[str, typer.Option(hidden=True)] = "",
    ) -> None:
        """Paint it.

        All of
        it.
        """

    @app.command(rich_help_panel="More")
    def leave() -> None:
        """Go away."""

    page = commands_page({"x": app})
    assert "| [`x paint`](#x-paint) | Paint it. |\n" in page
    assert page[page.index("## x\n") :] == (
        "## x\n\n### x paint\n\nPaint it.\n\nAll of it.\n\n"
        "```\nx paint [OPTIONS] COATS [COLOR]...\n```\n\n"
        "| argument or option | meaning |\n|---|---|\n"
        "| `COATS` | How many \\| coats. |\n"
        "| `[COLOR]...` |  |\n"
        "| `-s N`, `--speed N` | In `m*s`, \\*not\\* in km. Default: `0`. |\n"
        "| `--dry`, `--no-dry` | Wait. Default: `--dry`. |\n\n"
        "Example: `x paint 3 [red]`\n\n"
        "## More\n\n### x leave\n\nGo away.\n\n```\nx leave\n```\n"
    )


# ------------------------------------------------------------------ other pages


def code_in(page: Path) -> Iterator[str]:
    """The lines of fenced blocks, and the code in backticks elsewhere."""
    fenced = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            yield line.partition("  #")[0]
        else:
            yield from re.findall(r"`([^`]+)`", line)


def named(code: str) -> Iterator[tuple[str, str, list[str]]]:
    """The commands in a piece of code: the app, the command and its options."""
    for words, name, rest in re.findall(
        r"(?:^|[ (])(fxcourse(?: classroom)?) ([a-z][a-z-]*)\b(?![.:/])([^|&;]*)", code
    ):
        yield words, name, re.findall(r"(?<![\w-])(--?[a-zA-Z][\w-]*)", rest)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_name_commands_and_options_that_exist(page: Path) -> None:
    groups = {words: get_command(app) for words, app in all_apps().items()}
    for code in code_in(page):
        for words, name, options in named(code):
            if (words, name) == ("fxcourse", "classroom"):
                continue
            group = groups[words]
            assert isinstance(group, TyperGroup)
            assert name in group.commands, code
            if name == "lab":
                continue  # `fxcourse lab` passes options to JupyterLab
            spellings = {
                spelling
                for parameter in group.commands[name].params
                for spelling in (*parameter.opts, *parameter.secondary_opts)
            }
            assert set(options) <= spellings | {"--help", "-h"}, code
