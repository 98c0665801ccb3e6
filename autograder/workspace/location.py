"""Location of a learner's workspace: the folder with the chapters and the learner's record."""

from __future__ import annotations

import os
from pathlib import Path

ENV = "FXCOURSE_WORKSPACE"
"""Variable with the workspace for everything that `fxcourse lab` starts. Empty: there is none."""

STATE = ".fxcourse"
"""The folder in a workspace with files that a person should not edit."""

MARK = "workspace.json"
"""The file in that folder that identifies a workspace."""

CLONE = Path(__file__).resolve().parents[2]
"""The project's folder, if the course is not installed from a wheel."""


def is_workspace(folder: Path) -> bool:
    """Whether a folder is a workspace."""
    return (folder / STATE / MARK).is_file()


def usual() -> Path:
    """The default location of a workspace."""
    return CLONE / "my" if (CLONE / "course").is_dir() else Path.home() / "fxcourse"


def current() -> Path | None:
    """The workspace of a check, wherever the check runs; None if there is none.

    It is the one that `fxcourse lab` has set, or the one around the working directory, or the
    default one.
    """
    named = os.environ.get(ENV)
    if named is not None:
        return Path(named) if named and is_workspace(Path(named)) else None
    here = Path.cwd()
    for folder in (here, *here.parents):
        if is_workspace(folder):
            return folder
    return usual() if is_workspace(usual()) else None
