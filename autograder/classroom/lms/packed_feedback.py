"""Packs feedback pages for Moodle: a zip with a folder for each participant."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from autograder.cards.wording import number
from autograder.classroom.lms.export import Filled, Grade, few


def feedback_zip(
    path: Path, room: Path, assignment: str, done: Filled, found: Mapping[str, Grade]
) -> list[str]:
    """Pack the feedback pages, except those that are older than the student's grade.

    Args:
        path: the zip; not written if there is no page to pack.
        room: the classroom.
        assignment: the assignment of the pages.
        done: the students whose grades were filled in, with the names of their folders.
        found: the grades, by student.

    Returns:
        Sentences about the packed pages and about those left out.
    """
    pages = {who: _files_of(room, "feedback", who, assignment) for who in done.done}
    pages = {who: files for who, files in pages.items() if files}
    old = {who for who in pages if is_outdated(room, assignment, who, found[who])}
    again = f"nbgrader generate_feedback {assignment}"
    said = []
    if old:
        said.append(
            f"Older than the grade, not packed: {few(old)}. Make the pages again, then export "
            f"again: {again} --force"
        )
    if missing := done.done.keys() - pages.keys():
        said.append(f"No feedback page yet: {few(missing)}. To make them: {again}")
    if pages.keys() - old:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for who in sorted(pages.keys() - old):
                for page in pages[who]:
                    archive.write(page, f"{done.done[who]}_assignsubmission_file_/{page.name}")
        count = len(pages) - len(old)
        said.insert(0, f"{path}: feedback for {count} student{'' if count == 1 else 's'}.")
    return said


_TITLE = re.compile(r"<title>[^<:]*: (?P<points>[\d.e+-]+) of (?P<most>[\d.e+-]+), ")


def is_outdated(room: Path, assignment: str, student: str, grade: Grade) -> bool:
    """Whether a page's points are not the gradebook's, or the graded notebook is newer."""
    graded = [path.stat().st_mtime for path in _files_of(room, "autograded", student, assignment)]
    for page in _files_of(room, "feedback", student, assignment):
        told = _TITLE.search(page.read_text(encoding="utf-8", errors="replace")[:2000])
        points = (number(grade.points), number(grade.max_points))
        if told and (told["points"], told["most"]) != points:
            return True
        if graded and page.stat().st_mtime < max(graded):
            return True
    return False


def _files_of(room: Path, step: str, student: str, assignment: str) -> list[Path]:
    ending = "html" if step == "feedback" else "ipynb"
    return sorted((room / step / student / assignment).glob(f"*.{ending}"))
