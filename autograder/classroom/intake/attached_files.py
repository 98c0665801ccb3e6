"""The files that a student has put beside a notebook: which are taken, and under which names."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath

from autograder.classroom.intake.regular_files import read_regular
from autograder.submission.sanitize.harmless_files import is_harmless

MAX_BYTES = 32 * 1024 * 1024
"""What all files beside a notebook may have together; more than that is left out."""

MAX_FILES = 500
MAX_PATH = 200
"""Bytes that the path of a file beside a notebook may have."""

MAX_PARTS = 8
MAX_NOTES = 20
"""Sentences about files that are left out."""

STAMP = "timestamp.txt"
"""Where nbgrader notes when something was handed in."""


class Names:
    """Which paths may lie beside one notebook; no two of them are in each other's way.

    Args:
        course: the course's own files, which are there in any case.
    """

    def __init__(self, course: Collection[str] = ()) -> None:
        self._files: set[PurePosixPath] = set()
        self._folders: set[PurePosixPath] = set()
        self._course = {PurePosixPath(path) for path in course}
        for path in self._course:
            self._add(path)

    def why_not(self, parts: tuple[str, ...]) -> str:
        """Why a path is left out, in a sentence; ``""`` where it is taken, and counts from now on.

        A file of the course's own name is left out, too; callers do not say so.
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
        """Whether the course has a file of this path."""
        return PurePosixPath(*parts) in self._course

    def _add(self, path: PurePosixPath) -> None:
        self._files.add(path)
        self._folders.update(path.parents)


def files_beside(
    folder: Path, *, below: bool = True, course: Collection[str] = ()
) -> tuple[dict[str, bytes], list[str]]:
    """The files in a folder, by their paths in it; no notebooks, no links, not too many.

    Args:
        folder: the folder.
        below: whether folders in it are looked into, too.
        course: the course's own files, which lie there in any case.

    Returns:
        The files, and a sentence about each that was left out for its name.
    """
    found: dict[str, bytes] = {}
    notes: list[str] = []
    names, left = Names(course), MAX_BYTES
    for path in sorted(folder.rglob("*") if below else folder.glob("*")):
        parts = path.relative_to(folder).parts
        if path.is_symlink() or not path.is_file() or _is_behind_link(path, folder):
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
    """Under which names files lie beside a graded notebook: all but harmless ones are text."""
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
    """Files under the names that they have beside a graded notebook."""
    names = shown_names(files)
    return {names[name]: content for name, content in files.items()}


def keep_as_text(folder: Path) -> None:
    """Rename what a browser may run in a graded folder that nbgrader itself has filled."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".ipynb"]
    for name, as_shown in shown_names(p.relative_to(folder).as_posix() for p in files).items():
        if name != as_shown:
            (folder / name).rename(folder / as_shown)


def _is_behind_link(path: Path, folder: Path) -> bool:
    """Whether a folder on the way to it is a link."""
    between = path.relative_to(folder).parents
    return any((folder / parent).is_symlink() for parent in between)
