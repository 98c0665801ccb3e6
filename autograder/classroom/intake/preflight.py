"""Checks submissions before reading them, and refuses some with a reason."""

from __future__ import annotations

import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.intake.attached_files import files_beside
from autograder.classroom.intake.discover import (
    MAX_NOTEBOOK,
    GradeIds,
    NotebookPlace,
    is_of_another_chapter,
)
from autograder.classroom.intake.regular_files import read_regular


@dataclass(frozen=True)
class RawSubmission:
    """One submission on disk.

    Attributes:
        student: the student's id.
        folder: its folder.
        text: the content of the notebook's file; ``None`` if the submission is refused.
        files: the files next to the notebook.
        notes: for each refused file, a sentence with the reason.
    """

    student: str
    folder: Path
    text: bytes | None
    files: dict[str, bytes]
    notes: tuple[str, ...]


def read_submission(
    room: Path,
    student: str,
    chapter: str,
    place: NotebookPlace,
    ids: GradeIds,
    course: Collection[str] = (),
) -> RawSubmission:
    """Read a submission, or refuse it with a reason.

    Args:
        room: the classroom.
        student: the student's id.
        chapter: the chapter.
        place: its location.
        ids: the grade ids of each chapter.
        course: the paths of the course's own files, which replace a student's.
    """
    home = room / "submitted" / student
    if place.path is None:
        return _refused(student, home / chapter, place.note)
    path, folder = place.path, place.path.parent
    between = [folder, *folder.parents]
    between = between[: between.index(home) + 1]
    link = next((p for p in reversed(between) if p.is_symlink()), None)
    if link is not None:
        return _refused(student, folder, f"The folder {link.name} is a link; links are not read.")
    if not folder.is_dir():
        return _refused(student, folder, f"{chapter} is not a folder.")
    why_not = _why_not(path)
    if why_not:
        return _refused(student, folder, why_not)
    try:
        text = read_regular(home.parent, path.relative_to(home.parent).parts, MAX_NOTEBOOK)
        files, left_out = files_beside(folder, below=folder != home, course=course)
    except OSError as error:
        return _refused(student, folder, f"{path.name} could not be read: {error.strerror}.")
    other = is_of_another_chapter(text, chapter, ids)
    if other:
        why = f"{path.name} is the notebook of {other}, by its cells; that of {chapter} is missing."
        return _refused(student, folder, why)
    notes = [place.note] if place.note else []
    notes += [*_links_in(folder, below=folder != home), *left_out]
    return RawSubmission(student, folder, text, files, tuple(notes))


def _refused(student: str, folder: Path, why: str) -> RawSubmission:
    return RawSubmission(student, folder, None, {}, (why,))


def _why_not(path: Path) -> str:
    try:
        found = path.lstat()
    except OSError:
        others = sorted(other.name for other in path.parent.glob("*.ipynb"))
        only = f", only {', '.join(others[:5])}" if others else ""
        return f"There is no {path.name} in what was handed in{only}."
    if stat.S_ISLNK(found.st_mode):
        return f"{path.name} is a link; links are not read."
    if not stat.S_ISREG(found.st_mode):
        return f"{path.name} is not a file."
    if found.st_size > MAX_NOTEBOOK:
        size = found.st_size / 1024 / 1024
        return f"{path.name} has {size:.0f} MiB; at most {MAX_NOTEBOOK >> 20} are read."
    return ""


def _links_in(folder: Path, *, below: bool = True) -> list[str]:
    paths = folder.rglob("*") if below else folder.glob("*")
    links = sorted(p.relative_to(folder).as_posix() for p in paths if p.is_symlink())
    return [f"{name!r} next to the notebook is a link, and was left out." for name in links[:20]]
