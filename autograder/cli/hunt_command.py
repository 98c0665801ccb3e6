"""The command ``fxcourse hunt``: its options, and the choice of what to hunt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape

from autograder.cli.errors import STOPPED
from autograder.cli.terminal import err, out

if TYPE_CHECKING:
    from autograder.hunt.settings import Settings


def _print_kinds(kinds: str | None) -> str | None:
    """List the kinds of models, even if the command line names no pass."""
    if kinds == "help":
        from autograder.cli import hunt

        out.print(hunt.kinds_text(), markup=False)
        raise typer.Exit()
    return kinds


def hunt(
    function: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODULE:PASS]",
            help="Your pass: my_passes:fold or file.py:fold. Or the name of a table "
            "[tool.fxcourse.hunt.NAME] in pyproject.toml.",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Hunt with each table of pyproject.toml.")
    ] = False,
    oracle: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            help="A function that returns the expected model. Default: the model itself.",
        ),
    ] = None,
    given: Annotated[
        str | None,
        typer.Option(
            help="The input of the pass: trace, model, program, aten, exported or step. "
            "Default: trace."
        ),
    ] = None,
    models: Annotated[
        int | None,
        typer.Option("-n", "--models", min=1, help="The number of random models. Default: 500."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(help="Draw models for this long, and not a number of them."),
    ] = None,
    at_least: Annotated[
        int | None,
        typer.Option(min=1, help="Without this many models the pass has not held. Default: 1."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the random models.")] = 0,
    kinds: Annotated[
        str | None,
        typer.Option(
            callback=_print_kinds,
            is_eager=True,
            help="Kinds of models, with commas between them, or all. To list them: --kinds help",
        ),
    ] = None,
    ignore: Annotated[
        str | None,
        typer.Option(
            help="Changes to allow, with commas between them: gradients, arguments, keywords, "
            "modes, state."
        ),
    ] = None,
    eval_only: Annotated[
        bool, typer.Option("--eval", help="Put all models into eval mode.")
    ] = False,
    enough: Annotated[
        int, typer.Option(min=1, help="Stop after this many different counterexamples.")
    ] = 3,
    html: Annotated[Path | None, typer.Option(help="Write the card to this file.")] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Run the saved counterexamples in this folder first, and write new ones there.",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(help="A file of fingerprints: these counterexamples do not count."),
    ] = None,
    format: Annotated[
        Literal["text", "github"],
        typer.Option(help="With github, print annotations, and add the cards to the summary."),
    ] = "text",
) -> None:
    """Test your own pass on random models, and show the smallest one on which it is wrong.

    The exit status is 0 if the pass held, 1 if there is a counterexample, 2 if the pass could not
    be tested on enough models, and 3 if the hunt itself failed.
    """
    from autograder.cli import hunt as work

    question = {
        "oracle": oracle, "given": given, "kinds": kinds, "ignore": ignore,
        "eval": eval_only or None, "at_least": at_least,
    }  # fmt: skip
    try:
        hunts = _hunts(function, every, question, models, minutes)
        options = work.Options(seed, enough, html, save, baseline, format == "github")
        status = work.run(hunts, options, out, err)
    except work.UNFIT as error:
        err.print(f"[red]Nothing was tested.[/red] {escape(str(error))}")
        raise typer.Exit(work.UNUSABLE) from None
    except KeyboardInterrupt:
        err.print("Stopped.")
        raise typer.Exit(STOPPED) from None
    raise typer.Exit(status)


def _hunts(
    function: str | None,
    every: bool,
    question: dict[str, Any],
    models: int | None,
    minutes: float | None,
) -> Sequence[Settings]:
    """The hunts that the command line asks for.

    Raises:
        CannotLoad: the command line or a table has a mistake.
    """
    from autograder.hunt import settings
    from autograder.hunt.loading import CannotLoad
    from autograder.hunt.vocabularies import KINDS

    if every == (function is not None):
        raise CannotLoad(
            "Name a pass as MODULE:FUNCTION, such as my_passes:fold, or a table of pyproject.toml; "
            "or write --all for all tables."
        )
    if function is not None and ":" in function:
        for key in ("kinds", "ignore"):
            question[key] = None if question[key] is None else _words(question[key])
        if question["kinds"] in ((), ("all",)):
            question["kinds"] = tuple(KINDS) if question["kinds"] else None
        return [settings.of_command_line(function, models=models, minutes=minutes, **question)]
    for key, value in question.items():
        if value is not None:
            raise CannotLoad(
                f"--{key.replace('_', '-')} cannot be used here. Write the key `{key}` into the "
                "table of pyproject.toml."
            )
    found = settings.tables(Path.cwd())
    if function is not None:
        found = {function: settings.named(function, found)}
    return [settings.resized(one, models, minutes) for one in found.values()]


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
