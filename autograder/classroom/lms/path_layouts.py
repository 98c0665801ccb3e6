"""Whose a file is, as the path says it in which a learning platform packs what was handed in.

Moodle packs ``Anna Example_12345_assignsubmission_file_/x.ipynb``, or without folders
``Anna Example_12345_assignsubmission_file_x.ipynb``. The number is the participant of one
assignment. Canvas packs ``exampleanna_123_456_x-2.ipynb``, with ``LATE`` behind the name of who was
late: the numbers are the user and the file, of which a later one is larger. Folders that no
platform has packed are called after students.

Only the names at the top are read, which a platform or the class's own folder has given. What a
student calls a file, a folder or a zip decides nothing.
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
    """The names at the top do not say who has packed this; the message says which are odd."""


class Layout(StrEnum):
    """Who has given the names at the top."""

    MOODLE = "moodle"
    CANVAS = "canvas"
    FOLDERS = "folders"


@dataclass(frozen=True)
class Origin:
    """Where a file comes from.

    Attributes:
        platform: who packed it.
        entry: the name at the top; of one student on Moodle or Canvas, several may differ.
        name: the student's name, as the entry says it.
        number: the platform's number of the student; ``""`` where it says none.
        file: the file's name, and what of its path is the student's own.
        late: whether the platform says that it came late.
        serial: the platform's number of the file; 0 where it says none.
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
        """What files of one student have in common."""
        is_folder = self.platform is Layout.FOLDERS
        return (self.entry, "") if is_folder else (self.name, self.number)


@dataclass(frozen=True)
class _Entry:
    """A name at the top.

    Attributes:
        name: the name.
        is_folder: whether it is a folder there.
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
        """Whether only other layouts have such names; a loose file says nothing."""
        if layout is Layout.FOLDERS:
            return any(self.is_of(other) for other in (Layout.MOODLE, Layout.CANVAS))
        return not self.is_of(layout) and any(self.is_of(other) for other in Layout)


def origins(
    files: Sequence[tuple[Path, Path]],
    assignments: Collection[str],
    source: str = "",
    layout: Layout | None = None,
) -> list[Origin | str]:
    """Where files come from; of those whose path does not say it, why not, in a sentence.

    Args:
        files: of all files that were packed together, the path, and that of what lies in the
            outer zip or folder: the file itself, or the zip of a student that holds it.
        assignments: what the assignments of the class are called.
        source: what the outer zip is called, without its ending.
        layout: who has given the names at the top, where somebody knows.

    Raises:
        Undecided: nobody knows, and the names do not agree.
    """
    outer = [place for _, place in files]
    top = _top(outer, assignments, source)
    entries = [_Entry(place[top], len(place) > top + 1) for place in outer]
    chosen = layout or _layout(set(entries))
    if not layout and chosen is Layout.FOLDERS:
        _ask_if_one_folder_holds_a_class(outer, top, assignments)
    found = []
    for (path, _), entry in zip(files, entries, strict=True):
        inside = [part for part in path[top + 1 : -1] if part not in assignments]
        inside += path[-1:] if len(path) > top + 1 else ()
        found.append(_origin(entry, tuple(inside), chosen))
    return found


def _top(outer: Collection[Path], assignments: Collection[str], source: str) -> int:
    """How many folders lie around all, with names that the class or the packing gives."""
    top = 0
    while outer and all(len(path) > top + 1 for path in outer):
        names = {path[top] for path in outer}
        is_wrapper = len(names) == 1 and names <= {*_WRAPPERS, source}
        if not is_wrapper and not names <= set(assignments):
            break
        top += 1
    return top


def _layout(entries: Collection[_Entry]) -> Layout | None:
    """The one layout that names at the top may have; ``None`` where all are loose files."""
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
        f"Who has packed this? Most names at the top look like {_SAID[most]}, but {names}"
        f"{f' and {len(odd) - 3} more' if len(odd) > 3 else ''} may mean something else. "
        "Say which it is: --layout moodle, canvas or folders."
    )


_SAID = {
    Layout.MOODLE: "Moodle's",
    Layout.CANVAS: "those of Canvas",
    Layout.FOLDERS: "folders of students",
}


def _ask_if_one_folder_holds_a_class(
    outer: Collection[Path], top: int, assignments: Collection[str]
) -> None:
    """Refuse the only folder at the top if it may be a student's, or hold all students' folders."""
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
            return _of_moodle(entry, inside)
        case Layout.CANVAS:
            return _of_canvas(entry, inside)
    name = entry.name if entry.is_folder else entry.name[: -len(".zip")]
    return Origin(layout, entry.name, name, "", inside)


def _of_moodle(entry: _Entry, inside: Path) -> Origin | str:
    found = _MOODLE.match(entry.name)
    if not found or len(_MARK.findall(entry.name)) > 1:
        return "Its name says more than once whose it is."
    name = found["name"].strip()
    file = _beside(found["file"] or "", inside)
    return Origin(Layout.MOODLE, entry.name, name, found["number"], file)


def _of_canvas(entry: _Entry, inside: Path) -> Origin | str:
    found = next(filter(None, (form.match(entry.name) for form in _CANVAS)))
    return Origin(
        Layout.CANVAS, entry.name, found["name"], found["number"], _beside(found["file"], inside),
        bool(found["late"]), int(found["serial"]),
    )  # fmt: skip


def _beside(file: str, inside: Path) -> Path:
    """A student's own path: of a file at the top, or in a zip at the top, which is a folder."""
    folder = re.sub(r"(?i)[.]zip$", "", file) if inside else file
    return (folder, *inside) if folder else inside


def copy_number(file: str) -> int:
    """Which copy a file's name says it is: 2 for ``x (2).ipynb`` and for ``x-2.ipynb``."""
    found = re.search(r"(?:\((\d{1,3})\)|-(\d{1,3}))\.\w+$", file)
    return int(found[1] or found[2]) if found else 0
