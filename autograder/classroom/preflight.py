"""Looks at what was handed in before anything is read from it: what is refused, and why."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.attached_files import files_beside

MAX_NOTEBOOK = 50 * 1024 * 1024
"""Bytes that a notebook's file may have."""


@dataclass(frozen=True)
class RawSubmission:
    """One submission as it lies on disk.

    Attributes:
        student: whose it is.
        folder: where it lies.
        text: the notebook's file; ``None`` where it is refused.
        files: what lies beside it.
        notes: what was refused, and why, a sentence each.
    """

    student: str
    folder: Path
    text: bytes | None
    files: dict[str, bytes]
    notes: tuple[str, ...]


def students_of(room: Path, chapter: str) -> list[str]:
    """Who has handed in a chapter, in order; folders with impossible names are left out."""
    submitted = room / "submitted"
    if not submitted.is_dir():
        return []
    names = [entry.name for entry in os.scandir(submitted) if entry.is_dir()]
    return sorted(name for name in names if os.path.lexists(submitted / name / chapter))


def read_submission(room: Path, student: str, chapter: str) -> RawSubmission:
    """Read a submission, or say why it is refused."""
    folder = room / "submitted" / student / chapter
    link = next((p for p in (folder.parent, folder) if p.is_symlink()), None)
    if link is not None:
        return _refused(student, folder, f"The folder {link.name} is a link; links are not read.")
    if not folder.is_dir():
        return _refused(student, folder, f"{chapter} is not a folder.")
    path = folder / f"{chapter}.ipynb"
    why_not = _why_not(path)
    if why_not:
        return _refused(student, folder, why_not)
    try:
        text = _read(path)
        files = files_beside(folder)
    except OSError as error:
        return _refused(student, folder, f"{path.name} could not be read: {error.strerror}.")
    return RawSubmission(student, folder, text, files, tuple(_links_in(folder)))


def _refused(student: str, folder: Path, why: str) -> RawSubmission:
    return RawSubmission(student, folder, None, {}, (why,))


def _why_not(path: Path) -> str:
    try:
        found = path.lstat()
    except OSError:
        others = sorted(other.name for other in path.parent.glob("*.ipynb"))
        has = f"There is {', '.join(others[:5])}; rename it" if others else "Put it there"
        return f"There is no {path.name}. {has}, and grade again."
    if stat.S_ISLNK(found.st_mode):
        return f"{path.name} is a link; links are not read."
    if not stat.S_ISREG(found.st_mode):
        return f"{path.name} is not a file."
    if found.st_size > MAX_NOTEBOOK:
        size = found.st_size / 1024 / 1024
        return f"{path.name} has {size:.0f} MiB; at most {MAX_NOTEBOOK >> 20} are read."
    return ""


def _read(path: Path) -> bytes:
    """A file's bytes; a link that took its place meanwhile is not followed."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        return file.read(MAX_NOTEBOOK)


def _links_in(folder: Path) -> list[str]:
    links = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_symlink())
    return [f"{name!r} beside the notebook is a link; it was left out." for name in links[:20]]
