"""Writes an exercise into a chapter of the course, in a clone of the repository."""

from __future__ import annotations

import re
import shutil
import symtable
from dataclasses import dataclass
from pathlib import Path

from autograder.builder.paths import ROOT, chapters
from autograder.environment.errors import ClassroomError
from autograder.new_exercise.templates import REPLACE, check_name, filled_in

MODULES = ("models.py", "cases.py", "redraws.py", "key.py", "trap.md")
TESTS = ("answers.py", "clauses.toml")

_PARTS = ("autograder/exercises", "tests/exercises")
"""The folders with one folder per chapter, and in it one per exercise."""

_NUMBER = re.compile(r"\bnumber=(\d+)|\bduel\(\s*(\d+)")
_CELL = re.compile(r"^# %%", re.M)
_BELOW = re.compile(r"^# ## Common mistakes$", re.M)


@dataclass(frozen=True)
class NewExercise:
    """The texts of a new exercise, before anything is written.

    Attributes:
        chapter: the stem of the chapter's file, such as ``03_manipulation``.
        number: its place in the chapter.
        folders: the folders that the exercise alone has.
        new: the texts of the files in them, by path.
        changed: the new texts of files of the chapter, by path.
    """

    chapter: str
    number: int
    folders: tuple[Path, Path]
    new: dict[Path, str]
    changed: dict[Path, str]


def plan(chapter: str, name: str, root: Path = ROOT) -> NewExercise:
    """Prepare an exercise that works, as the last one of a chapter. This writes nothing.

    Args:
        chapter: the chapter, such as ``03`` or ``03_manipulation``.
        name: the name of the learner's function.
        root: the folder of the clone.

    Raises:
        ClassroomError: there is no such chapter, or the exercise cannot have this name.
    """
    source = _source_of(chapter, root)
    topic = f"ch{source.stem}"
    home, tests = (root / part / topic / name for part in _PARTS)
    check_name(name)
    for folder in (home, tests):
        if folder.exists():
            raise ClassroomError(f"There is already a folder {folder.relative_to(root)}.")
    text = source.read_text(encoding="utf-8")
    if name in _names_in(text):
        raise ClassroomError(f"Chapter {source.stem} already uses the name {name}. Use another.")
    number = _next_number(home.parent)
    values = {
        "name": name,
        "package": f"autograder.exercises.{topic}.{name}",
        "number": number,
        "label": f"{source.stem.partition('_')[0].lstrip('0') or '0'}.{number}",
        "course": True,
    }
    new = {home / "__init__.py": f'"""The exercise `{name}`."""\n'}
    new |= {home / file: filled_in(file, **values) for file in MODULES}
    new |= {tests / file: filled_in(file, **values) for file in TESTS}
    changed = {source: _with_cells(source, text, filled_in("cells.py", **values))}
    hand_ins = tests.parent / "submissions.toml"
    if hand_ins.is_file():
        added = filled_in("submissions.toml", **values)
        changed[hand_ins] = hand_ins.read_text(encoding="utf-8") + added
    return NewExercise(source.stem, number, (home, tests), new, changed)


def next_steps(exercise: NewExercise) -> list[str]:
    """The steps from the templates to an exercise of the course."""
    name = exercise.folders[0].name
    return [
        f"Replace what says {REPLACE}: grep -rn {REPLACE} autograder/exercises tests/exercises "
        "solutions",
        f"fxcourse references {exercise.chapter}",
        "make build. If it asks for other minutes, correct them at the top of the chapter.",
        f"make test ONLY={name}",
    ]


def write(exercise: NewExercise) -> None:
    """Write all files of an exercise, or none.

    Raises:
        ClassroomError: a file cannot be written.
    """
    before = {path: path.read_bytes() for path in exercise.changed}
    try:
        for path, text in (exercise.new | exercise.changed).items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    except BaseException as error:  # Ctrl-C, too
        for folder in exercise.folders:
            shutil.rmtree(folder, ignore_errors=True)
        for path, data in before.items():
            if path.read_bytes() != data:
                path.write_bytes(data)
        if isinstance(error, OSError):
            raise ClassroomError(f"{error.filename}: {error.strerror}.") from error
        raise


def _source_of(chapter: str, root: Path) -> Path:
    """The source file of a chapter."""
    if not all((root / part).is_dir() for part in ("solutions", *_PARTS)):
        raise ClassroomError(
            "An exercise of the course is written in a clone of the repository, and this is not "
            "one. For an exercise of your own, leave out --course, and name a classroom."
        )
    known = {path.stem: path for path in chapters(root / "solutions")}
    for stem, path in known.items():
        if chapter in (stem, stem.partition("_")[0]):
            return path
    raise ClassroomError(f"There is no chapter {chapter!r}. Chapters: {', '.join(known)}.")


def _names_in(text: str) -> set[str]:
    """The names that a chapter imports or defines."""
    names = symtable.symtable(text, "<chapter>", "exec").get_symbols()
    return {one.get_name() for one in names if one.is_assigned() or one.is_imported()}


def _next_number(folder: Path) -> int:
    """The number after the last exercise of a chapter."""
    texts = (path.read_text(encoding="utf-8") for path in folder.glob("*/cases.py"))
    found = (_NUMBER.search(text) for text in texts)
    return 1 + max((int(one[1] or one[2]) for one in found if one), default=0)


def _with_cells(source: Path, text: str, cells: str) -> str:
    """A chapter with the cells of its last exercise, above *Common mistakes*."""
    heading = _BELOW.search(text)
    if heading is None:
        raise ClassroomError(
            f"{source.name} has no '# ## Common mistakes', so the place of the cells is unknown."
        )
    at = max(cell.start() for cell in _CELL.finditer(text, 0, heading.start()))
    return f"{text[:at]}{cells}\n{text[at:]}"
