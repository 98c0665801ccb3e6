"""Generates the course's files: notebooks, lessons, the map and the pages that show it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path

import nbformat
from nbgrader.utils import compute_checksum, is_solution

from autograder.builder.card_headings import found_exercises
from autograder.builder.debriefs import lacking
from autograder.builder.notebook_forms import as_text, build
from autograder.builder.outputs import exercise_folders
from autograder.builder.outputs.course_map import map_text
from autograder.builder.outputs.lesson_data import lesson_text
from autograder.builder.outputs.origin import with_origin
from autograder.builder.outputs.own_questions import with_own_questions
from autograder.builder.outputs.readme_tables import README, readme_text
from autograder.builder.outputs.tracks_page import tracks_text
from autograder.builder.paths import BUILD, COURSE, LESSONS, ROOT, chapters, choose
from autograder.builder.problems import BuildRefused, CourseRefused
from autograder.lessons.course_map import FILE as MAP
from autograder.lessons.course_map import map_from

TRACKS_PAGE = ROOT / "docs" / "tracks.md"


def generate(
    names: Sequence[str] = (), over: Callable[[list[Path]], Iterable[Path]] = iter
) -> dict[Path, str]:
    """The texts of the generated files, by path. This writes nothing.

    Args:
        names: chapters such as ``03_manipulation``; if empty, all chapters, the course's map and
            its pages.
        over: iterates over the chapters, and may show progress.

    Raises:
        CourseRefused: some chapters or exercises break the rules.
        ValueError: no chapter has one of the names.
    """
    files: dict[Path, str] = {}
    chosen = choose(names)
    refusals = exercise_folders.examine([chapter.stem for chapter in chosen] if names else [])
    if refusals:
        raise CourseRefused(refusals)
    for chapter in over(chosen):
        try:
            notebook = with_own_questions(build(chapter))
            title = notebook.cells[0]
            title.source = with_origin(title.source, chapter.name)
            files[COURSE / f"{chapter.stem}.ipynb"] = as_text(notebook)
            files[LESSONS / f"{chapter.stem}.json"] = lesson_text(chapter)
        except BuildRefused as refusal:
            refusals.append(refusal)
    if refusals:
        raise CourseRefused(refusals)
    return files if names else files | _map_files()


def _map_files() -> dict[Path, str]:
    """The course's map, and the pages that show it."""
    try:
        text = map_text()
    except BuildRefused as refusal:
        raise CourseRefused([refusal]) from None
    course = map_from(text)
    return {MAP: text, TRACKS_PAGE: tracks_text(course), README: readme_text(course)}


def without_debrief(names: Sequence[str] = ()) -> list[str]:
    """The exercises without a debrief, with a reason if a part of it is written.

    Args:
        names: chapters such as ``03_manipulation``; if empty, all chapters.
    """
    exercises = [card.name for chapter in choose(names) for card in found_exercises(chapter.stem)]
    return [f"{name}{_reason(name)}" for name in exercises if lacking(name)]


def _reason(name: str) -> str:
    (first, *others) = lacking(name)
    return "" if others else f" ({first})"


def differing(files: dict[Path, str]) -> list[Path]:
    """The generated files that are missing, differ, or belong to a removed chapter."""
    changed = [path for path, text in files.items() if _text(path) != text]
    sources = {chapter.stem for chapter in chapters()}
    found = [*COURSE.glob("*.ipynb"), *LESSONS.glob("[0-9]*.json")]
    return changed + sorted(path for path in found if path.stem not in sources)


def write(files: dict[Path, str]) -> tuple[list[Path], list[Path]]:
    """Write the files that differ, and remove those of removed chapters.

    Returns:
        The files that were written or removed, and copies of those that contained work.
    """
    changed = differing(files)
    kept = [copy for path in changed if (copy := _keep_work(path))]
    for path in changed:
        if path in files:
            path.parent.mkdir(exist_ok=True)
            path.write_text(files[path], encoding="utf-8", newline="\n")
        else:
            path.unlink()
    return changed, kept


def worked_in(notebook: Path) -> bool:
    """Whether a cell of this notebook was run or an answer in it was changed."""
    try:
        cells = nbformat.read(notebook, as_version=4).cells
    except ValueError:
        return True  # unreadable, so keep a copy to be safe
    return any(
        cell.get("outputs")
        or (is_solution(cell) and compute_checksum(cell) != cell.metadata.nbgrader.get("checksum"))
        for cell in cells
    )


def _keep_work(path: Path) -> Path | None:
    """Copy a notebook that will be replaced, if it contains work."""
    if path.suffix != ".ipynb" or not path.exists() or not worked_in(path):
        return None
    folder = BUILD / "replaced" / datetime.now().strftime("%Y-%m-%d-%H%M%S")
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy2(path, folder))


def _text(path: Path) -> str | None:
    return path.read_bytes().decode("utf-8") if path.exists() else None
