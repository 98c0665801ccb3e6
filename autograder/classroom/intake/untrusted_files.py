"""Extracts files from an untrusted zip or folder, without using their names as paths.

Files are copied to numbered files, so no name in the zip decides where a file is written.
"""

from __future__ import annotations

import os
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from autograder.classroom.intake.discover import MAX_NOTEBOOK
from autograder.classroom.intake.regular_files import read_regular
from autograder.environment.errors import ClassroomError

MAX_FILES = 100_000
"""The most files to inspect in total."""

MAX_BYTES = 16 * 1024**3
"""The most bytes to copy in total."""

MAX_NESTED_FILES, MAX_NESTED_BYTES, MAX_DEPTH = 2_000, 4 * MAX_NOTEBOOK, 2
"""Limits of a zip inside the zip, so that one student's zip cannot block the others."""

_JUNK = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", ".ipynb_checkpoints", "desktop.ini"})
_PACKED = (".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz")


@dataclass(frozen=True)
class Taken:
    """A file that was copied.

    Attributes:
        path: its original path, in parts; a zip inside the zip counts as a folder.
        copy: the path of the copy.
        when: its date in the zip or the folder; inside a student's zip, the date of that zip.
        outer: its path in the outer zip or folder; inside a student's zip, the path of that zip.
    """

    path: tuple[str, ...]
    copy: Path
    when: datetime | None
    outer: tuple[str, ...]

    @property
    def packed(self) -> bool:
        """Whether a student packed it, into a zip inside the zip or the folder."""
        return self.outer != self.path


@dataclass(frozen=True)
class LeftOut:
    """A file that was not copied.

    Attributes:
        path: its original path.
        why: the reason, in a sentence.
    """

    path: str
    why: str


@dataclass
class _Budget:
    """The remaining numbers of files and bytes."""

    files: int
    bytes: int

    def look(self) -> bool:
        """Count an inspected entry, and return whether the limit allows it."""
        self.files -= 1
        return self.files >= 0

    def spend(self, size: int) -> bool:
        """Count copied bytes, and return whether the limit allows them."""
        self.bytes -= size
        return self.bytes >= 0


@dataclass
class Taker:
    """Copies the files of a zip or a folder.

    Attributes:
        store: an empty folder for the copies.
        zone: the time zone of dates in a zip, which do not name one.
    """

    store: Path
    zone: tzinfo | None = None
    _count: int = field(default=0, init=False)

    def take(self, source: Path) -> Iterator[Taken | LeftOut]:
        """Copy all files of a zip or a folder.

        Raises:
            ClassroomError: it is neither, or it is too large.
        """
        budget = _Budget(MAX_FILES, MAX_BYTES)
        try:
            found = self._folder(source) if source.is_dir() else self._zip(source, budget)
            for one in found:
                yield one
                if budget.files < 0 or budget.bytes < 0:
                    raise ClassroomError(f"{source.name} holds more than can be a class's work.")
        except (zipfile.BadZipFile, OSError) as error:
            why = getattr(error, "strerror", None) or "it is not a zip file, or it is cut off"
            raise ClassroomError(f"{source} cannot be read: {why}.") from None

    def _folder(self, folder: Path) -> Iterator[Taken | LeftOut]:
        for home, folders, names in os.walk(folder):
            folders.sort()
            links = [name for name in folders if (Path(home) / name).is_symlink()]
            for name in sorted(names) + links:
                path = Path(home) / name
                parts = path.relative_to(folder).parts
                found = path.lstat()
                if _is_junk(parts):
                    continue
                if stat.S_ISLNK(found.st_mode):
                    yield LeftOut(_shown(parts), "It is a link; links are not read.")
                elif not stat.S_ISREG(found.st_mode):
                    yield LeftOut(_shown(parts), "It is not a file.")
                elif found.st_size > MAX_NOTEBOOK:
                    yield LeftOut(_shown(parts), _TOO_LARGE)
                else:
                    yield from self._regular(folder, parts, found.st_mtime)

    def _regular(
        self, folder: Path, parts: tuple[str, ...], changed: float
    ) -> Iterator[Taken | LeftOut]:
        try:
            data = read_regular(folder, parts, MAX_NOTEBOOK)
        except OSError as error:
            yield LeftOut(_shown(parts), f"{error.strerror}.")
            return
        yield from self._file(parts, data, datetime.fromtimestamp(changed, UTC), 0)

    def _zip(
        self,
        path: Path,
        budget: _Budget,
        home: tuple[str, ...] = (),
        when: datetime | None = None,
        depth: int = 1,
        outer: tuple[str, ...] = (),
    ) -> Iterator[Taken | LeftOut]:
        """Copy a zip's files; `depth` counts nested zips, `outer` is the path of the outermost."""
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                own = _parts(_name(entry))
                parts = home + own
                if not budget.look():  # skipped entries also cost time
                    yield LeftOut(_shown(home or parts), _TOO_MUCH)
                    return
                if entry.is_dir() or _is_junk(parts):
                    continue
                if why := _why_not(entry, own):
                    yield LeftOut(_shown(parts), why)
                    continue
                try:
                    with archive.open(entry) as file:
                        data = file.read(MAX_NOTEBOOK + 1)
                except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError):
                    yield LeftOut(_shown(parts), "It is damaged in the zip.")
                    continue
                if not budget.spend(len(data)):
                    yield LeftOut(_shown(home or parts), _TOO_MUCH)
                    return
                if len(data) > MAX_NOTEBOOK:
                    yield LeftOut(_shown(parts), _TOO_LARGE)
                    continue
                date = when if outer else _date(entry, self.zone)
                yield from self._file(parts, data, date, depth, outer)

    def _file(
        self,
        parts: tuple[str, ...],
        data: bytes,
        when: datetime | None,
        depth: int,
        outer: tuple[str, ...] = (),
    ) -> Iterator[Taken | LeftOut]:
        suffix = Path(parts[-1]).suffix.lower()
        if suffix in _PACKED:
            yield LeftOut(_shown(parts), _OTHER_PACKER)
            return
        self._count += 1
        copy = self.store / str(self._count)
        copy.write_bytes(data)
        if suffix != ".zip":
            yield Taken(parts, copy, when, outer or parts)
        elif depth >= MAX_DEPTH:
            yield LeftOut(_shown(parts), "It is a zip in a zip in a zip.")
        else:
            budget = _Budget(MAX_NESTED_FILES, MAX_NESTED_BYTES)
            home = (*parts[:-1], parts[-1][: -len(suffix)])
            try:
                yield from self._zip(copy, budget, home, when, depth + 1, outer or parts)
            except (zipfile.BadZipFile, OSError):
                yield LeftOut(_shown(parts), "It is not a zip file, or it is cut off.")


_OTHER_PACKER = "It is packed in a way that is not read here; ask for the notebook itself."
_TOO_LARGE = f"It has more than {MAX_NOTEBOOK >> 20} MiB."
_TOO_MUCH = "It holds more than one student's work can be; what came before that was taken."


def _why_not(entry: zipfile.ZipInfo, parts: tuple[str, ...]) -> str:
    """The reason for not copying an entry of a zip; ``""`` if it can be copied."""
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "It is a link; links are not read."
    if entry.flag_bits & 1:
        return "It is locked with a password."
    raw = _name(entry).replace("\\", "/")
    if raw.startswith("/") or ".." in parts or (parts and parts[0][1:2] == ":"):
        return "Its name leads out of the zip."
    if not parts or any(not part.isprintable() for part in parts):
        return "Its name has signs that no name has."
    if entry.file_size > MAX_NOTEBOOK:
        return _TOO_LARGE
    return ""


def _name(entry: zipfile.ZipInfo) -> str:
    """An entry's name; many programs write UTF-8 without setting the flag."""
    name = entry.filename
    if not entry.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return unicodedata.normalize("NFC", name)


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))


def _is_junk(parts: tuple[str, ...]) -> bool:
    """Whether a file was created by an operating system, or by JupyterLab on its own."""
    return any(part in _JUNK or part.startswith("._") for part in parts)


def _shown(parts: tuple[str, ...]) -> str:
    text = "/".join(parts)
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    return text if len(text) <= 160 else f"{text[:80]} … {text[-60:]}"


def _date(entry: zipfile.ZipInfo, zone: tzinfo | None) -> datetime | None:
    """The time of an entry's last change: exact if the zip contains it, else in the given zone."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        if kind == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return datetime.fromtimestamp(int.from_bytes(extra[5:9], "little"), UTC)
        extra = extra[4 + size :]
    try:
        local = datetime(*entry.date_time)
    except ValueError:
        return None
    if local.year <= 1980:
        return None  # the date of programs that do not know one
    known = local.replace(tzinfo=zone) if zone else local.astimezone()
    return known.astimezone(UTC)
