"""Identifies the student from a file's path inside a Moodle or Canvas archive.

Moodle packs ``Anna Example_12345_assignsubmission_file_/x.ipynb``, or without folders
``Anna Example_12345_assignsubmission_file_x.ipynb``. The number is a participant of one
assignment. Canvas packs ``exampleanna_123_456_x-2.ipynb``, with ``LATE`` after the name of a late
student. Its numbers are the user and the file; later files have larger numbers. In other archives,
the folders have the names of students.

Only the names at the top count, because the platform or the class's own folder gave them. A student
can choose the names of other files, folders and zips, so these decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from os.path import commonprefix

_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?$"
)
_MARK = re.compile(r"_\d+_assignsubmission_(?:file|onlinetext)(?=_|$)")
_CANVAS = (
    re.compile(r"(?P<late>LATE_)?(?P<name>anon)_(?P<number>[^\W_]+)_(?P<serial>\d+)_(?P<file>.+)$"),
    re.compile(
        r"(?P<name>[^\W_].*?)_(?P<late>LATE_)?(?P<number>\d+)_(?P<serial>\d+)_(?P<file>.+)$"
    ),
)
_WRAPPERS = frozenset({"submitted", "submissions", "submission"})

Path = tuple[str, ...]
"""A file's path, in parts."""


class Undecided(Exception):
    """The names at the top do not agree on a layout; the message names the odd ones."""


class Layout(StrEnum):
    """The origin of the names at the top."""

    MOODLE = "moodle"
    CANVAS = "canvas"
    FOLDERS = "folders"


@dataclass(frozen=True)
class Origin:
    """The origin of a file.

    Attributes:
        platform: the layout of the archive.
        entry: the name at the top; one student on Moodle or Canvas may have several.
        name: the student's name in the entry.
        number: the platform's number of the student; ``""`` if there is none.
        file: the part of the path that the student chose, with the file's name.
        late: whether the platform marks it as late.
        serial: the platform's number of the file; 0 if there is none.
    """

    platform: Layout
    entry: str
    name: str
    number: str
    file: tuple[str, ...]
    late: bool = False
    serial: int = 0

    @property
    def owner(self) -> tuple[str, str]:
        """A key that all files of one student share."""
        is_folder = self.platform is Layout.FOLDERS
        return (self.entry, "") if is_folder else (self.name, self.number)


@dataclass(frozen=True)
class _Entry:
    """A name at the top.

    Attributes:
        name: the name.
        is_folder: whether it is a folder.
    """

    name: str
    is_folder: bool

    def is_of(self, layout: Layout) -> bool:
        """Whether this layout has such names."""
        match layout:
            case Layout.MOODLE:
                return bool(_MOODLE.match(self.name))
            case Layout.CANVAS:
                return not self.is_folder and any(form.match(self.name) for form in _CANVAS)
        return self.is_folder or self.name.lower().endswith(".zip")

    def speaks_against(self, layout: Layout) -> bool:
        """Whether the name is evidence against a layout: only other layouts have such names."""
        if layout is Layout.FOLDERS:
            return any(self.is_of(other) for other in (Layout.MOODLE, Layout.CANVAS))
        return not self.is_of(layout) and any(self.is_of(other) for other in Layout)


def origins(
    files: Sequence[tuple[Path, Path]],
    assignments: Collection[str],
    source: str = "",
    layout: Layout | None = None,
) -> list[Origin | str]:
    """Find the origin of each file, or a sentence about why its path does not reveal it.

    Args:
        files: pairs of paths, one for each file in the archive: the path of the file, and the path
            of its entry in the outer zip or folder, which is the file itself or a student's zip.
        assignments: the names of the class's assignments.
        source: the name of the outer zip, without its suffix.
        layout: the origin of the names at the top, if known.

    Raises:
        Undecided: it is not known, and the names do not agree.
    """
    outer = [place for _, place in files]
    top = _top(outer, assignments, source)
    entries = [_Entry(place[top], len(place) > top + 1) for place in outer]
    chosen = layout or _layout(set(entries))
    if not layout and chosen is Layout.FOLDERS:
        _refuse_single_folder(outer, top, assignments)
    found = []
    for (path, _), entry in zip(files, entries, strict=True):
        inside = [part for part in path[top + 1 : -1] if part not in assignments]
        inside += path[-1:] if len(path) > top + 1 else ()
        found.append(_origin(entry, tuple(inside), chosen))
    return found


def _top(outer: Collection[Path], assignments: Collection[str], source: str) -> int:
    """The number of folders around all files whose names come from the class or the archive."""
    top = 0
    while outer and all(len(path) > top + 1 for path in outer):
        names = {path[top] for path in outer}
        is_wrapper = len(names) == 1 and names <= {*_WRAPPERS, source}
        if not is_wrapper and not names <= set(assignments):
            break
        top += 1
    return top


def _layout(entries: Collection[_Entry]) -> Layout | None:
    """The only layout that fits the names at the top; ``None`` if all are loose files."""
    of = {
        one: sum(entry.is_of(one) and not entry.speaks_against(one) for entry in entries)
        for one in Layout
    }
    if not any(entry.is_of(one) for entry in entries for one in Layout):
        return None
    fits = [
        one for one in Layout if of[one] and not any(entry.speaks_against(one) for entry in entries)
    ]
    if len(fits) == 1:
        return fits[0]
    most = max(Layout, key=lambda one: of[one])
    odd = sorted(entry.name for entry in entries if entry.speaks_against(most))
    names = ", ".join(repr(name[:80]) for name in odd[:3]) or "each name"
    raise Undecided(
        f"Who has packed this? Most names at the top look like {_DESCRIPTIONS[most]}, but {names}"
        f"{f' and {len(odd) - 3} more' if len(odd) > 3 else ''} may mean something else. "
        "Say which it is: --layout moodle, canvas or folders."
    )


_DESCRIPTIONS = {
    Layout.MOODLE: "Moodle's",
    Layout.CANVAS: "those of Canvas",
    Layout.FOLDERS: "folders of students",
}


def _refuse_single_folder(outer: Collection[Path], top: int, assignments: Collection[str]) -> None:
    """Refuse a single folder at the top if it may be one student's or contain all students'."""
    folders = [path[:-1] for path in outer]
    around = len(commonprefix(folders))
    below = {path[around] for path in folders if len(path) > around} - set(assignments)
    if around > top and len(below) > 1 and all(len(path) > around for path in folders):
        name = folders[0][top]
        raise Undecided(
            f"All lies in one folder, {name[:80]!r}. If it is a student's, say --layout folders. "
            "If it holds the students' folders, unpack it, and collect that folder."
        )


def _origin(entry: _Entry, inside: Path, layout: Layout | None) -> Origin | str:
    if layout is None or not entry.is_of(layout):
        return "Its path does not say whose it is."
    match layout:
        case Layout.MOODLE:
            return _moodle_origin(entry, inside)
        case Layout.CANVAS:
            return _canvas_origin(entry, inside)
    name = entry.name if entry.is_folder else entry.name[: -len(".zip")]
    return Origin(layout, entry.name, name, "", inside)


def _moodle_origin(entry: _Entry, inside: Path) -> Origin | str:
    found = _MOODLE.match(entry.name)
    if not found or len(_MARK.findall(entry.name)) > 1:
        return "Its name says more than once whose it is."
    name = found["name"].strip()
    file = _own_path(found["file"] or "", inside)
    return Origin(Layout.MOODLE, entry.name, name, found["number"], file)


def _canvas_origin(entry: _Entry, inside: Path) -> Origin | str:
    found = next(filter(None, (form.match(entry.name) for form in _CANVAS)))
    return Origin(
        Layout.CANVAS, entry.name, found["name"], found["number"], _own_path(found["file"], inside),
        bool(found["late"]), int(found["serial"]),
    )  # fmt: skip


def _own_path(file: str, inside: Path) -> Path:
    """The student's part of a path; a zip at the top counts as a folder."""
    folder = re.sub(r"(?i)[.]zip$", "", file) if inside else file
    return (folder, *inside) if folder else inside


def copy_number(file: str) -> int:
    """The number of a copy in a file's name: 2 for ``x (2).ipynb`` and for ``x-2.ipynb``."""
    found = re.search(r"(?:\((\d{1,3})\)|-(\d{1,3}))\.\w+$", file)
    return int(found[1] or found[2]) if found else 0
