"""The student's files next to a notebook: selects the files to take, and their names."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath

from autograder.classroom.intake.regular_files import read_regular
from autograder.submission.sanitize.harmless_files import is_harmless

MAX_BYTES = 32 * 1024 * 1024
"""The total size limit of the files next to a notebook, in bytes; files over it are left out."""

MAX_FILES = 500
MAX_PATH = 200
"""The longest path of a file next to a notebook, in bytes."""

MAX_PARTS = 8
MAX_NOTES = 20
"""The most sentences about files that were left out."""

STAMP = "timestamp.txt"
"""nbgrader's file with the time of submission."""


class Names:
    """The paths of files next to one notebook, without conflicts between files and folders.

    Args:
        course: the paths of the course's own files, which always have priority.
    """

    def __init__(self, course: Collection[str] = ()) -> None:
        self._files: set[PurePosixPath] = set()
        self._folders: set[PurePosixPath] = set()
        self._course = {PurePosixPath(path) for path in course}
        for path in self._course:
            self._add(path)

    def why_not(self, parts: tuple[str, ...]) -> str:
        """The reason for leaving a path out, in a sentence; ``""`` if it is taken, and then added.

        A file with the name of a course file is also left out; callers do not report it.
        """
        path = PurePosixPath(*parts)
        if not parts or not path.name or ".." in parts:
            return "It has no name."
        if len(os.fsencode(str(path))) > MAX_PATH or len(parts) > MAX_PARTS:
            return f"Its path has more than {MAX_PATH} bytes or {MAX_PARTS} parts."
        if any(part.lower().endswith(".ipynb") for part in parts):
            return "It is called like a notebook, or lies in a folder that is."
        if parts[0].lower() == STAMP:
            return f"{STAMP} is where the course notes when something was handed in."
        if path in self._folders or not self._files.isdisjoint(path.parents):
            return "It is a file where another has a folder of that name."
        if path in self._files:
            return "There is a file of that name already."
        self._add(path)
        return ""

    def is_the_courses(self, parts: tuple[str, ...]) -> bool:
        """Whether the course has a file with this path."""
        return PurePosixPath(*parts) in self._course

    def _add(self, path: PurePosixPath) -> None:
        self._files.add(path)
        self._folders.update(path.parents)


def files_beside(
    folder: Path, *, below: bool = True, course: Collection[str] = ()
) -> tuple[dict[str, bytes], list[str]]:
    """Read the files in a folder, by their paths in it, without notebooks and links, within limits.

    Args:
        folder: the folder.
        below: whether to include the folders in it.
        course: the paths of the course's own files.

    Returns:
        The files, and a sentence about each file that was left out because of its name.
    """
    found: dict[str, bytes] = {}
    notes: list[str] = []
    names, left = Names(course), MAX_BYTES
    for path in sorted(folder.rglob("*") if below else folder.glob("*")):
        parts = path.relative_to(folder).parts
        if path.is_symlink() or not path.is_file() or _has_link_above(path, folder):
            continue
        if path.suffix == ".ipynb" or parts == (STAMP,) or names.is_the_courses(parts):
            continue
        size = path.stat().st_size
        if size > left or len(found) == MAX_FILES:
            continue
        if why_not := names.why_not(parts):
            notes.append(f"{path.relative_to(folder).as_posix()!r} was left out. {why_not}")
            continue
        try:
            content = read_regular(folder, parts, size)
        except OSError as error:
            notes.append(f"{path.relative_to(folder).as_posix()!r} was left out. {error.strerror}.")
            continue
        left -= size
        found[path.relative_to(folder).as_posix()] = content
    return found, notes[:MAX_NOTES]


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """New names for files next to a graded notebook: all but harmless types become text files."""
    given = sorted(names)
    taken = {name for name in given if is_harmless(name)}
    taken |= {str(folder) for name in given for folder in PurePosixPath(name).parents}
    shown = {}
    for name in given:
        as_shown = name
        while not is_harmless(name) and (as_shown == name or as_shown in taken):
            as_shown += ".txt"
        taken.add(as_shown)
        shown[name] = as_shown
    return shown


def as_shown(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Rename files to the names that they have next to a graded notebook."""
    names = shown_names(files)
    return {names[name]: content for name, content in files.items()}


def keep_as_text(folder: Path) -> None:
    """Rename files that a browser could execute, in a graded folder that nbgrader itself filled."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".ipynb"]
    for name, as_shown in shown_names(p.relative_to(folder).as_posix() for p in files).items():
        if name != as_shown:
            (folder / name).rename(folder / as_shown)


def _has_link_above(path: Path, folder: Path) -> bool:
    """Whether a folder on the path to a file is a link."""
    between = path.relative_to(folder).parents
    return any((folder / parent).is_symlink() for parent in between)
