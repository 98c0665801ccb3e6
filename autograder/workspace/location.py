"""Where a learner's workspace is: the folder with their chapters, and with what they have done."""

from __future__ import annotations

import os
from pathlib import Path

ENV = "FXCOURSE_WORKSPACE"
"""Names the workspace for everything that `fxcourse lab` starts. Empty: there is none."""

STATE = ".fxcourse"
"""The folder in a workspace with what is not for a person to edit."""

MARK = "workspace.json"
"""The file in that folder by which a workspace is known."""

CLONE = Path(__file__).resolve().parents[2]
"""The project's folder, where the course is not installed from a wheel."""


def is_workspace(folder: Path) -> bool:
    """Whether a folder is a workspace."""
    return (folder / STATE / MARK).is_file()


def usual() -> Path:
    """Where a workspace is made if nobody says otherwise."""
    return CLONE / "my" if (CLONE / "course").is_dir() else Path.home() / "fxcourse"


def current() -> Path | None:
    """The workspace that a check belongs to, wherever it runs; nothing where there is none.

    It is the one that `fxcourse lab` has named, or the one that the working directory is in, or
    the usual one.
    """
    named = os.environ.get(ENV)
    if named is not None:
        return Path(named) if named and is_workspace(Path(named)) else None
    here = Path.cwd()
    for folder in (here, *here.parents):
        if is_workspace(folder):
            return folder
    return usual() if is_workspace(usual()) else None
