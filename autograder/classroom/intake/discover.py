"""Finds submitted notebooks under any name, and explains why it does not read the others.

A notebook is identified by its grade ids. The search uses the file's bytes, because the file is
decoded only in a sandbox.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.classroom.intake.identify import grade_ids, most_alike
from autograder.submission.sanitize import in_a_line

MAX_NOTEBOOK = 50 * 1024 * 1024
"""The size limit of a notebook's file, in bytes."""

MAX_FOUND = 20_000
"""The most notebooks to inspect."""

_CHECKPOINTS = ".ipynb_checkpoints"
"""The folder in which JupyterLab saves its own copies."""

_HIDDEN = "Its folder's name begins with a dot. Put it into a student's folder."

GradeIds = Mapping[str, Collection[str]]
"""The grade ids of each chapter."""


@dataclass(frozen=True)
class NotebookPlace:
    """The location of a student's notebook of a chapter.

    Attributes:
        path: the notebook; ``None`` if it is refused.
        note: a sentence if it is in the wrong place, or the reason for refusing it.
    """

    path: Path | None
    note: str = ""


@dataclass
class Found:
    """The notebooks below a folder of submissions.

    Attributes:
        places: the locations, by chapter and student.
        unread: for each notebook that is not read, its location and the reason, in a sentence.
    """

    places: dict[str, dict[str, NotebookPlace]] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)

    def students(self, chapter: str) -> list[str]:
        """The students with a submission for a chapter, in order."""
        return sorted(self.places.get(chapter, ()))


def find_notebooks(
    submitted: Path, chapters: Sequence[str], ids_of: Callable[[], GradeIds]
) -> Found:
    """Find the notebooks below a folder of submissions.

    Args:
        submitted: the folder, with one folder for each student.
        chapters: the chapters of the class.
        ids_of: returns the grade ids of each chapter; called only if a notebook is in the wrong
            place.
    """
    found = Found({chapter: {} for chapter in chapters})
    odd: dict[tuple[str, str], list[tuple[int, Path]]] = {}
    ids: GradeIds | None = None
    for student, chapter in _folders(submitted, chapters):
        found.places[chapter][student] = NotebookPlace(
            submitted / student / chapter / f"{chapter}.ipynb"
        )
    for path in _notebooks(submitted):
        parts = path.relative_to(submitted).parts
        if len(parts) == 3 and parts[2] == f"{parts[1]}.ipynb":
            if parts[1] in found.places and parts[0] not in found.places:
                continue  # in the right place
        if parts[0].startswith("."):
            found.unread.append(f"{_shown(parts)}: {_HIDDEN}")
            continue
        ids = ids_of() if ids is None else ids
        chapter, why_not = _chapter_of(path, parts, ids)
        if chapter:
            rank = 0 if parts[1] == chapter else 1
            odd.setdefault((parts[0], chapter), []).append((rank, path))
        else:
            found.unread.append(f"{_shown(parts)}: {why_not}")
    for (student, chapter), several in sorted(odd.items()):
        _settle(found, submitted, student, chapter, sorted(several))
    return found


def is_of_another_chapter(text: bytes, chapter: str, ids: GradeIds) -> str:
    """The chapter of a misnamed notebook; empty if it has a cell of the chapter in its name."""
    if grade_ids(text).intersection(ids.get(chapter, ())):
        return ""
    other, count = _best(text, ids)
    return other if count * 2 >= len(ids.get(other, ())) > 0 else ""


def _folders(submitted: Path, chapters: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Students and chapters with a folder, or another entry, of the chapter's name."""
    if not submitted.is_dir():
        return
    for entry in os.scandir(submitted):
        if entry.is_dir() and entry.name != _CHECKPOINTS and entry.name not in chapters:
            for chapter in chapters:
                if os.path.lexists(submitted / entry.name / chapter):
                    yield entry.name, chapter


def _notebooks(submitted: Path) -> Iterator[Path]:
    """All notebooks, in order; links to folders are not followed."""
    count = 0
    for folder, below, names in os.walk(submitted):
        at_the_top = Path(folder) == submitted
        below[:] = sorted(
            name
            for name in below
            if name != _CHECKPOINTS and (at_the_top or not name.startswith("."))
        )
        for name in sorted(names):
            if name.lower().endswith(".ipynb") and not name.startswith("."):
                count += 1
                if count > MAX_FOUND:
                    return
                yield Path(folder, name)


def _chapter_of(path: Path, parts: Sequence[str], ids: GradeIds) -> tuple[str, str]:
    """The chapter of a notebook in the wrong place; or the reason for not reading it."""
    try:
        kind = path.lstat()
        if stat.S_ISLNK(kind.st_mode) or not stat.S_ISREG(kind.st_mode):
            return "", "It is a link, or no file; links are not read."
        if kind.st_size > MAX_NOTEBOOK:
            return "", f"It has more than {MAX_NOTEBOOK >> 20} MiB."
        text = path.read_bytes()
    except OSError as error:
        return "", f"It could not be read: {error.strerror}."
    chapter, count = _best(text, ids)
    if not count:
        if len(parts) == 3 and parts[1] in ids:
            return parts[1], ""  # no cell identifies the chapter, but the folder does
        return "", "No cell in it is of a chapter of this class."
    if len(parts) == 1:
        return "", f"It is of {chapter}, but of which student? Put it into a folder of theirs."
    if parts[0] in ids:
        return "", f"It lies in {parts[0]}, which is a chapter. Put it into a student's folder."
    return chapter, ""


def _best(text: bytes, ids: GradeIds) -> tuple[str, int]:
    """The chapter with the most grade ids in a notebook, and their number; empty after a tie."""
    likely, most = most_alike(text, ids)
    return (likely[0], most) if len(likely) == 1 else ("", 0)


def _settle(
    found: Found,
    submitted: Path,
    student: str,
    chapter: str,
    several: list[tuple[int, Path]],
) -> None:
    """Choose a student's only notebook of a chapter, or explain why none is chosen."""
    usual = submitted / student / chapter / f"{chapter}.ipynb"
    shown = [_shown(path.relative_to(submitted).parts) for _, path in several]
    if os.path.lexists(usual):
        there = f"{student}/{chapter}/{chapter}.ipynb is there, and counts."
        found.unread += [f"{name}: {there}" for name in shown]
        return
    nearest = [path for rank, path in several if rank == several[0][0]]
    if len(nearest) > 1 and len({path.read_bytes() for path in nearest}) > 1:
        found.places[chapter][student] = NotebookPlace(
            None,
            f"There are several notebooks of {chapter}: {', '.join(shown[:5])}. Keep the one that "
            f"counts, as {chapter}/{chapter}.ipynb.",
        )
        return
    name = _shown(nearest[0].relative_to(submitted / student).parts)
    found.places[chapter][student] = NotebookPlace(
        nearest[0], f"{name} was read as {chapter}/{chapter}.ipynb."
    )
    others = [path for _, path in several if path not in nearest]
    for path in others:
        rest = _shown(path.relative_to(submitted).parts)
        found.unread.append(f"{rest}: {student}/{name} is nearer to its place, and counts.")


def _shown(parts: Sequence[str]) -> str:
    return in_a_line("/".join(parts))
