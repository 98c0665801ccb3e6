"""Which files were saved. Editors write in place, or write another file and rename it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Mark = tuple[int, int, int] | None
"""When a file was written, how long it is and which file it is; nothing where there is none."""

Kind = Literal["saved", "gone"]


@dataclass
class Saves:
    """Looks at files again and again.

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
        """What has become of files since the last look.

        A change is told of once the file is the same in two looks: until then an editor may be
        writing, or be about to put a new file in the place of the old one.
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
