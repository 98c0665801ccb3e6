"""The file with the groups of a chapter, in which an instructor writes comments."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.classroom.room.private import write_private
from autograder.drawing.html import clean
from autograder.environment.errors import ClassroomError

FOLDER = "groups"
"""The folder in a classroom for this file and the page."""

_HEAD = """\
# The groups of wrong answers of {chapter}. The page {chapter}.html shows them.
# Write a comment between the quotes of a group, in markdown. Then run:
#
#     fxcourse classroom comment DIR {chapter}
#
# The comment goes to all students who are in the group when you run it.
# `fxcourse classroom groups` keeps the comments, and writes everything else again.
"""


@dataclass(frozen=True)
class FileRow:
    """One group in the file.

    Attributes:
        id: its id.
        exercise: its exercise.
        says: the message that most of its students read first.
        students: the ids of its students.
        comment: the comment for them; may be empty.
    """

    id: str
    exercise: str
    says: str
    students: tuple[str, ...] = ()
    comment: str = ""


def path_of(room: Path, chapter: str) -> Path:
    """The path of the file."""
    return room / FOLDER / f"{chapter}.toml"


def read_groups(path: Path) -> list[FileRow]:
    """Read the file; no groups if there is none.

    Raises:
        ClassroomError: it is not TOML, or has other fields than it was written with.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClassroomError(
            f"{path} cannot be read: {error}. Correct it, and try again."
        ) from None
    found = [_row(path, row) for row in _tables(data)]
    if again := [row.id for row in found if sum(row.id == one.id for one in found) > 1]:
        raise ClassroomError(f"{path} has two groups with the id {again[0]}. Keep one of them.")
    return found


def _tables(data: dict[str, Any]) -> list[dict[str, Any]]:
    rows = data.get("group", [])
    return [
        row if isinstance(row, dict) else {} for row in (rows if isinstance(rows, list) else [{}])
    ]


def _row(path: Path, row: dict[str, Any]) -> FileRow:
    texts = [row.get(name) for name in ("id", "exercise", "says", "comment")]
    students = row.get("students")
    if not isinstance(students, list) or not all(
        isinstance(value, str) for value in (*texts, *students)
    ):
        raise ClassroomError(
            f"{path}: a group needs id, exercise, says, students and comment. Is one missing, or "
            "without quotes?"
        )
    identity, exercise, says, comment = map(str, texts)
    text = comment.replace("\r\n", "\n").strip()
    return FileRow(identity, exercise, says, tuple(students), text)


def write_groups(path: Path, chapter: str, rows: Iterable[FileRow]) -> None:
    """Write the file, completely or not at all."""
    parts = [_HEAD.format(chapter=chapter), *(part for row in rows for part in _lines(row))]
    write_private(path, "\n".join(parts) + "\n")


def _lines(row: FileRow) -> Iterator[str]:
    yield "[[group]]"
    for name in ("id", "exercise", "says"):
        yield f"{name} = {_quoted(getattr(row, name))}"
    yield f"students = [{', '.join(map(_quoted, row.students))}]"
    yield f"comment = {_block(row.comment)}\n"


def _quoted(text: str) -> str:
    """A basic string of TOML, which has the escapes of JSON."""
    return json.dumps(clean(text), ensure_ascii=False)


def _block(text: str) -> str:
    """A string of several lines, without escapes if possible, so that it is easy to edit."""
    if "'''" in text or clean(text) != text:
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"'''\n{text}\n'''" if text else "'''\n'''"
