"""The files that a student has put beside a notebook."""

from __future__ import annotations

from pathlib import Path

MAX_BYTES = 32 * 1024 * 1024
"""What all files beside a notebook may have together; more than that is left out."""

MAX_FILES = 500
_OWN = ("timestamp.txt",)


def files_beside(folder: Path, *, below: bool = True) -> dict[str, bytes]:
    """The files in a folder, by their paths in it; no notebooks, no links, not too many.

    Args:
        folder: the folder.
        below: whether folders in it are looked into, too.
    """
    found: dict[str, bytes] = {}
    left = MAX_BYTES
    for path in sorted(folder.rglob("*") if below else folder.glob("*")):
        if path.is_symlink() or not path.is_file() or _is_left_out(path.relative_to(folder)):
            continue
        size = path.stat().st_size
        if size > left or len(found) == MAX_FILES or _is_behind_link(path, folder):
            continue
        left -= size
        found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def _is_left_out(path: Path) -> bool:
    return path.suffix == ".ipynb" or path.name in _OWN or ".." in path.parts


def _is_behind_link(path: Path, folder: Path) -> bool:
    """Whether a folder on the way to it is a link."""
    between = path.relative_to(folder).parents
    return any((folder / parent).is_symlink() for parent in between)
