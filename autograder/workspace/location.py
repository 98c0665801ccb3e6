"""Locations of a learner's work: a workspace, a fetched assignment, and the state folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from autograder.lessons.course_map import course_map
from autograder.workspace.class_wheel import this_class

ENV = "FXCOURSE_WORKSPACE"
"""Variable with the workspace for everything that `fxcourse lab` starts. Empty: there is none."""

STATE = ".fxcourse"
"""The folder in a workspace with files that a person should not edit."""

KEPT = "kept"
"""The folder in a workspace, or in the state folder, with replaced files."""

MARK = "workspace.json"
"""The file in that folder that identifies a workspace."""

CLONE = Path(__file__).resolve().parents[2]
"""The project's folder, if the course is not installed from a wheel."""

_APPLICATION_DATA = {"win32": "~/AppData/Local", "darwin": "~/Library/Application Support"}


def is_workspace(folder: Path) -> bool:
    """Whether a folder is a workspace."""
    return (folder / STATE / MARK).is_file()


def around(folder: Path) -> Path | None:
    """The workspace that a folder is, or is in."""
    return next((each for each in (folder, *folder.parents) if is_workspace(each)), None)


def chapters_in(folder: Path) -> set[str]:
    """The stems of the course's, or the class's, notebooks in a folder."""
    known = {*this_class().chapters, *(chapter.name for chapter in course_map().chapters)}
    return {path.stem for path in folder.glob("*.ipynb")} & known


def is_assignment(folder: Path) -> bool:
    """Whether a folder is an assignment, as nbgrader fetches it: chapters without a workspace.

    A folder of a workspace that contains copies of its notebooks is not an assignment.
    """
    if folder == CLONE / "course" or is_workspace(folder) or not chapters_in(folder):
        return False
    home = around(folder)
    return home is None or folder.relative_to(home).parts[0] not in (STATE, KEPT)


def is_own_clone() -> bool:
    """Whether the course runs from a clone in which this account may write."""
    folder = CLONE / "my"
    is_writable = os.access(folder if folder.exists() else CLONE, os.W_OK)
    return (CLONE / "course").is_dir() and is_writable


def usual() -> Path:
    """The default location of a workspace."""
    return CLONE / "my" if is_own_clone() else Path.home() / "fxcourse"


def default() -> Path | None:
    """The workspace that `fxcourse lab` has set, or the one in the default location."""
    named = os.environ.get(ENV)
    folder = usual() if named is None else Path(named)
    return folder if named != "" and is_workspace(folder) else None


def entered() -> Path | None:
    """The workspace that `fxcourse lab` has set, or the one around the working directory.

    In an assignment outside of a workspace, there is none.
    """
    here = Path.cwd()
    named, home = os.environ.get(ENV), around(here)
    if named is None:
        return home
    return None if home is None and is_assignment(here) else default()


def current() -> Path | None:
    """The workspace of a check, wherever the check runs; None if there is none.

    It is the one that is entered, or the default one. An assignment has none.
    """
    return None if is_assignment(Path.cwd()) else entered() or default()


def make_private(folder: Path) -> None:
    """Make a folder that nobody else can read, because answers are private."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def state_folder() -> Path:
    """The folder for files that belong to no workspace, such as the record of assignments."""
    named = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(named):  # the specification says to ignore other paths
        return Path(named) / "fxcourse"
    system = _APPLICATION_DATA.get(sys.platform, "~/.local/state")
    local = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None
    return Path(os.path.expanduser(local or system)) / "fxcourse"
