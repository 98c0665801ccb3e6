"""Whose a file is, as the path says it in which a learning platform packs what was handed in.

Moodle packs ``Anna Example_12345_assignsubmission_file_/x.ipynb``, or without folders
``Anna Example_12345_assignsubmission_file_x.ipynb``. The number is the participant of one
assignment. Canvas packs ``exampleanna_123_456_x-2.ipynb``, with ``LATE`` behind the name of who was
late: the numbers are the user and the file, of which a later one is larger.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<plugin>file|onlinetext)(?:_(?P<file>.*))?$"
)
_CANVAS = (
    re.compile(r"(?P<late>LATE_)?(?P<name>anon)_(?P<number>[^\W_]+)_(?P<serial>\d+)_(?P<file>.+)$"),
    re.compile(
        r"(?P<name>[^\W_].*?)_(?P<late>LATE_)?(?P<number>\d+)_(?P<serial>\d+)_(?P<file>.+)$"
    ),
)
_WRAPPERS = frozenset({"submitted", "submissions", "submission"})


@dataclass(frozen=True)
class Origin:
    """Where a file comes from.

    Attributes:
        platform: who packed it.
        name: the student's name, as the path says it.
        number: the platform's number of the student; ``""`` where it says none.
        file: the file's name, and what of its path is the student's own.
        late: whether the platform says that it came late.
        serial: the platform's number of the file; 0 where it says none.
    """

    platform: Literal["moodle", "canvas", "plain"]
    name: str
    number: str
    file: tuple[str, ...]
    late: bool = False
    serial: int = 0


Path = tuple[str, ...]
"""A file's path, in parts."""


def origins(paths: Collection[Path], assignments: Collection[str]) -> dict[Path, Origin | None]:
    """Where files come from; ``None`` of those whose path does not say it.

    Args:
        paths: of all files that were packed together.
        assignments: what the assignments of the class are called.
    """
    moodle = {path: _of_moodle(path) for path in paths}
    if any(moodle.values()):
        return moodle
    canvas = {path: _of_canvas(path) for path in paths}
    if 2 * sum(map(bool, canvas.values())) > len(canvas):
        return canvas
    return _plain(paths, assignments)


def _of_moodle(path: Path) -> Origin | None:
    for place, part in enumerate(path):
        if found := _MOODLE.match(part):
            file = (found["file"],) if found["file"] else ()
            rest = (*file, *path[place + 1 :])
            return Origin("moodle", found["name"].strip(), found["number"], rest)
    return None


def _of_canvas(path: Path) -> Origin | None:
    for place, part in enumerate(path[:2]):  # in the zip, or in the folder into which it went
        for form in _CANVAS:
            if found := form.match(part):
                rest = (found["file"], *path[place + 1 :])
                return Origin(
                    "canvas", found["name"], found["number"], rest,
                    bool(found["late"]), int(found["serial"]),
                )  # fmt: skip
    return None


def _plain(paths: Collection[Path], assignments: Collection[str]) -> dict[Path, Origin | None]:
    """Whose files are in folders that no platform packed: the first folder is the student's.

    Folders with the names of assignments, and such as ``submitted``, are not looked at, nor is one
    that holds all the rest and in it the work of several.
    """
    skipped = {*assignments, *_WRAPPERS}
    folders = {path: [part for part in path[:-1] if part not in skipped] for path in paths}
    while True:
        first = {found[0] for found in folders.values() if found}
        if len(first) != 1 or not all(folders.values()) or not _holds_several(folders):
            break
        folders = {path: found[1:] for path, found in folders.items()}
    return {
        path: Origin("plain", found[0], "", (*found[1:], path[-1])) if found else None
        for path, found in folders.items()
    }


def _holds_several(folders: dict[Path, list[str]]) -> bool:
    """Whether files of one name lie in different folders of the first one."""
    seen: dict[str, list[str]] = {}
    for path, found in folders.items():
        if len(found) < 2 or not path[-1].endswith(".ipynb"):
            continue
        if seen.setdefault(path[-1], found) != found:
            return True
    return False


def copy_number(file: str) -> int:
    """Which copy a file's name says it is: 2 for ``x (2).ipynb`` and for ``x-2.ipynb``."""
    found = re.search(r"(?:\((\d{1,3})\)|-(\d{1,3}))\.\w+$", file)
    return int(found[1] or found[2]) if found else 0
