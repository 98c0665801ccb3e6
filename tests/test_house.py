"""The picture of the house in CONTRIBUTING is true: what it names is there, no room is missing."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.builder.paths import ROOT

PICTURE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("```")[1]
_ENTRY = re.compile(r"^( *)([\w./*, -]+?)(?:  +|$)")


def _entries() -> list[tuple[int, Path]]:
    """What the picture names at the beginning of its lines, with how far the line is indented."""
    found: list[tuple[int, Path]] = []
    folders: list[tuple[int, Path]] = [(-1, ROOT)]
    for line in PICTURE.strip("\n").splitlines():
        entry = _ENTRY.match(line)
        if entry is None or len(entry[1]) > 4:
            continue  # the rest of what was said of the line above
        while folders[-1][0] >= len(entry[1]):
            folders.pop()
        for name in entry[2].split(", "):
            path = folders[-1][1] / name.strip()
            found.append((len(entry[1]), path))
        if entry[2].endswith("/"):
            folders.append((len(entry[1]), found[-1][1]))
    return found


def test_what_the_picture_names_is_there() -> None:
    entries = _entries()
    assert len(entries) > 50
    missing = [
        str(path.relative_to(ROOT))
        for _, path in entries
        if not (path.exists() or path.with_suffix(".py").exists())
    ]
    assert missing == []


def test_no_room_is_missing_in_the_picture() -> None:
    rooms = {path.parent for path in (ROOT / "autograder").glob("*/__init__.py")}
    named = {path for _, path in _entries()}
    assert {room.name for room in rooms - named} == set()
