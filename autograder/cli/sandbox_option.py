"""The options about the sandbox, for all commands that run students' code."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Sandbox(StrEnum):
    """Ways in which a command runs students' code; `sandbox.walls` has the same words."""

    AUTO = "auto"
    NAMESPACES = "namespaces"
    LANDLOCK = "landlock"
    NONE = "none"


SandboxOption = Annotated[
    Sandbox,
    typer.Option(
        metavar="MODE",
        help="How students' code runs. auto: in the strongest sandbox of this machine; if it "
        "has none, grading stops and says why. namespaces, landlock: in this sandbox. none: "
        "with your permissions.",
    ),
]


def without_sandbox() -> str:
    """The risks of grading without a sandbox, and the options that accept them."""
    from autograder.sandbox.walls import GIVES_AWAY

    return (
        f"{GIVES_AWAY} If you accept that for these students, write: "
        "--sandbox none --i-trust-these-students"
    )


def refuse_untrusted(sandbox: Sandbox, *, trusts: bool) -> None:
    """Require that somebody who grades without a sandbox has accepted the risks."""
    if sandbox is Sandbox.NONE and not trusts:
        raise typer.BadParameter(f"'--sandbox none' is not enough. {without_sandbox()}")
