"""Detects saved files. Editors write in place, or write another file and rename it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Mark = tuple[int, int, int] | None
"""The time, size and inode of a file; ``None`` if there is no file."""

Kind = Literal["saved", "gone"]


@dataclass
class Saves:
    """Detects changes to some files by polling.

    Attributes:
        paths: the files.
    """

    paths: Sequence[Path]
    _seen: dict[Path, Mark] = field(default_factory=dict)
    _told: dict[Path, Mark] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._seen = {path: _mark(path) for path in self.paths}
        self._told = dict(self._seen)

    def look(self) -> list[tuple[Path, Kind]]:
        """The files that were saved or removed since the last call.

        A change is reported when the file is the same in two calls. Until then an editor may still
        be writing, or about to replace the old file with a new one.
        """
        found: list[tuple[Path, Kind]] = []
        for path in self.paths:
            now, before = _mark(path), self._seen[path]
            self._seen[path] = now
            if now == before and now != self._told[path]:
                self._told[path] = now
                found.append((path, "gone" if now is None else "saved"))
        return found


def _mark(path: Path) -> Mark:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
