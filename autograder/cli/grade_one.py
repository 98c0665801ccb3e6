"""`fxcourse grade-one`: grade one notebook with a bundle, for a platform or a program."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from autograder.cli.errors import interruptible
from autograder.cli.sandbox_option import Sandbox, SandboxOption, refuse_untrusted
from autograder.cli.terminal import err
from autograder.environment import extras
from autograder.environment.errors import ClassroomError
from autograder.speed.imports import faster_imports

if TYPE_CHECKING:
    from autograder.formats.feedback import Feedback
    from autograder.submission.bundle import Bundle

CANNOT_GRADE = 3
"""The exit status if this machine cannot grade; then there is no result."""


class Format(StrEnum):
    """The forms of a result; each is a module of `formats`."""

    JSON = "json"
    GRADESCOPE = "gradescope"
    JUNIT = "junit"
    GITHUB = "github"
    COURSERA = "coursera"


_MODULES = {Format.JSON: "plain"}
"""The modules of formats that have another name."""


def grade_one(
    notebook: Annotated[
        Path,
        typer.Argument(metavar="NOTEBOOK", help="The notebook, or a folder with it."),
    ],
    bundle: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The bundle of `fxcourse classroom bundle`."),
    ],
    student: Annotated[
        str, typer.Option(help="The student's id. It decides which random models are used.")
    ] = "",
    metadata: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Gradescope's submission_metadata.json, which says who the student is.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Attempts in 24 hours, by --metadata. After that, the last result is given again.",
        ),
    ] = None,
    format: Annotated[
        Format,
        typer.Option(
            metavar="FORM",
            help="The form of the result: json, gradescope, junit, github or coursera.",
        ),
    ] = Format.JSON,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the result to this file. Default: print it."),
    ] = None,
    sandbox: SandboxOption = Sandbox.AUTO,
    trusts: Annotated[
        bool,
        typer.Option(
            "--i-trust-these-students",
            help="Allow --sandbox none. The notebook can then read the bundle, and write a result "
            "of its own.",
        ),
    ] = False,
) -> None:
    """Grade one notebook with a bundle. It needs no classroom.

    The exit status is 0 if there is a result, whatever its points. It is 3 if this machine cannot
    grade; then nothing is written, so that no student gets 0 points for it.
    """
    refuse_untrusted(sandbox, trusts=trusts)
    extras.require("nbgrader")
    if not notebook.exists():
        raise typer.BadParameter(f"{notebook} does not exist.")
    if out is not None:
        out.unlink(missing_ok=True)  # an earlier result must not look like this one
    with interruptible("There is no result."):
        user, text = _gradescope(metadata, limit) if metadata else ("", None)
        if text is None:
            text = _graded(notebook, bundle, student or user, format, sandbox)
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")


def _gradescope(path: Path, limit: int | None) -> tuple[str, str | None]:
    """The student, and the last result if they have used up their attempts."""
    from autograder.formats import gradescope

    try:
        data = json.loads(path.read_bytes())
        last = gradescope.last_result(data, limit) if limit else None
        return gradescope.student_of(data), last
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise typer.BadParameter(
            f"{path} is not Gradescope's submission_metadata.json: {error!r}."
        ) from None


def _graded(notebook: Path, bundle: Path, student: str, format: Format, sandbox: Sandbox) -> str:
    """Grade the notebook, and return the text of the result."""
    with faster_imports():
        from autograder.classroom.grading import grade_one as grading
        from autograder.formats.feedback import feedback_on
        from autograder.sandbox.walls import NoBox
    found = _read(bundle)
    try:
        grading.refuse_if_shown(bundle)
        graded = grading.grade_one(notebook, student, found, sandbox.value)
    except NoBox as error:
        err.print(f"[red]There is no result.[/red] {escape(str(error))}")
        raise typer.Exit(CANNOT_GRADE) from None
    except ClassroomError as error:
        raise typer.BadParameter(str(error)) from None
    module = importlib.import_module(f"autograder.formats.{_MODULES.get(format, format)}")
    write: Callable[[Feedback], str] = module.text
    return write(feedback_on(graded))


def _read(path: Path) -> Bundle:
    """Read a bundle, and print how the versions here differ from those of its class."""
    from autograder.classroom.records.versions import numbers
    from autograder.submission.bundle import Bundle, InvalidBundle

    try:
        found = Bundle.from_json(path.read_bytes())
    except (InvalidBundle, OSError) as error:
        raise typer.BadParameter(f"{path} is not a bundle. {error}") from None
    here = numbers()
    for name, number in found.versions.items():
        if here.get(name) != number:
            err.print(f"The class grades with {name} {number}; here it is {here.get(name)}.")
    return found
