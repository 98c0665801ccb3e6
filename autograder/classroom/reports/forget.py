"""Finds and erases the data of a student in a classroom."""

from __future__ import annotations

import html
import json
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom.groups.group_file import FOLDER as GROUPS
from autograder.classroom.groups.group_file import read_groups, write_groups
from autograder.classroom.intake.kept_versions import OLDER
from autograder.classroom.lms.submitted_folder import records
from autograder.classroom.records.grade_backup import write_down
from autograder.classroom.records.undo_log import NAME as LAST_RUN
from autograder.classroom.reports.class_report.make import PLACE, PLACE_WITHOUT_NAMES
from autograder.classroom.room.gradebook_url import what_failed, with_driver
from autograder.classroom.room.location import classroom_at
from autograder.classroom.room.lock import HOME, only_one
from autograder.classroom.room.nbgrader_api import api
from autograder.environment.errors import ClassroomError
from autograder.submission.sanitize import in_a_line

FOLDERS = ("submitted", "autograded", "feedback", OLDER)
MAX_READ = 64 * 1024 * 1024
"""The size limit for searching other files, in bytes; for a zip, the total of its files."""

SEARCHED = (".csv", ".html", ".log", ".ods", ".txt", ".xlsx", ".zip")
"""Suffixes of other files to search; directly in the classroom, all files are searched."""


@dataclass(frozen=True)
class Held:
    """A classroom's data about a student.

    Attributes:
        submissions: chapters in the gradebook; ``None`` if it does not know the student.
        folders: the student's folders.
        lines: by our own file, the number of lines about the student; for saved grades, the
            number of submissions.
        run_kept: whether the last run can be undone, so everybody's data from before it exists.
        others: files that are not erased, with the student's id, name, address or number in their
            content or name; for a zip, with its first such file.
        reports: folders with reports on the whole class, which can be made again.
    """

    submissions: tuple[str, ...] | None
    folders: tuple[Path, ...]
    lines: dict[Path, int]
    run_kept: bool
    others: tuple[str, ...]
    reports: tuple[Path, ...] = ()

    def __bool__(self) -> bool:
        return self.submissions is not None or bool(self.folders) or bool(self.lines)


class Forgetting:
    """Finds a student's data in a classroom, and erases it.

    Args:
        folder: the classroom.
        student: the student's id.

    Raises:
        ClassroomError: it is not a classroom, or the id is not possible.
    """

    def __init__(self, folder: Path, student: str) -> None:
        self.room, self.student = classroom_at(folder), student
        if not student or student in (".", "..") or "/" in student or "\\" in student:
            raise ClassroomError(f"'{student}' is not a student's name.")
        self._course = CourseDirectory(config=api(self.room).config)

    def held(self) -> Held:
        """Find the student's data."""
        folders = [self.room / name / self.student for name in FOLDERS]
        ours = {path: _lines_about(path, self.student) for path in self._our_files()}
        ours |= {path: _kept_about(path, self.student) for path in self._kept_grades()}
        ours |= {path: _groups_about(path, self.student) for path in self._group_files()}
        return Held(
            self._submissions(),
            tuple(path for path in folders if path.is_symlink() or path.exists()),
            {path: count for path, count in ours.items() if count},
            (self.room / HOME / LAST_RUN).exists(),
            tuple(self._others()),
            tuple(path for path in self._reports() if path.exists()),
        )

    def erase(self) -> None:
        """Erase the data. If it is interrupted, call it again.

        Raises:
            ClassroomError: the gradebook does not answer.
        """
        with only_one(self.room):
            for path in self._our_files():
                _drop_lines(path, self.student)
            for path in self._kept_grades():
                _drop_kept(path, self.student)
            for path in self._group_files():
                _drop_from_groups(path, self.student)
            for path in (self.room / HOME).glob(f"*{LAST_RUN}*"):  # and of killed runs
                shutil.rmtree(path, ignore_errors=True)
            for path in self._reports():
                path.unlink() if path.is_file() else shutil.rmtree(path, ignore_errors=True)
            for name in FOLDERS:
                path = self.room / name / self.student
                if path.is_symlink():
                    path.unlink()
                elif path.exists():
                    shutil.rmtree(path)
            self._erase_from_gradebook()

    def _erase_from_gradebook(self) -> None:
        try:
            with self._gradebook() as book:
                try:
                    book.remove_student(self.student)
                except MissingEntry:
                    return
                if book.engine.dialect.name == "sqlite":
                    # Deleted rows stay in the file until VACUUM rewrites it.
                    book.db.remove()
                    with book.engine.connect() as connection:
                        connection.execution_options(isolation_level="AUTOCOMMIT").execute(
                            text("VACUUM")
                        )
        except SQLAlchemyError as error:
            why = what_failed(error, self._course.db_url)
            raise ClassroomError(f"The gradebook does not answer: {why}") from None

    def _submissions(self) -> tuple[str, ...] | None:
        try:
            with self._gradebook() as book:
                found = book.find_student(self.student).submissions
                return tuple(sorted(one.name for one in found))
        except MissingEntry:
            return None
        except SQLAlchemyError as error:
            raise ClassroomError(what_failed(error, self._course.db_url)) from None

    def _gradebook(self) -> Gradebook:
        return Gradebook(with_driver(self._course.db_url), self._course.course_id)

    def _reports(self) -> list[Path]:
        """The folders of reports, and the pages about groups of answers."""
        pages = sorted((self.room / GROUPS).glob("*.html"))
        return [self.room / PLACE, self.room / PLACE_WITHOUT_NAMES, *pages]

    def _group_files(self) -> list[Path]:
        """The files with groups of answers and the comments on them."""
        return sorted((self.room / GROUPS).glob("*.toml"))

    def _our_files(self) -> list[Path]:
        return sorted((self.room / HOME).glob("*.jsonl"))

    def _kept_grades(self) -> list[Path]:
        """Grades of chapters that were updated or removed; see `change_chapters`."""
        return sorted((self.room / HOME).glob("*/*/grades.json"))

    def _others(self) -> Iterator[str]:
        """Files outside the erased folders that also name the student."""
        wanted = self._wanted()
        gone = [
            self.room / HOME,
            *self._reports(),
            *(self.room / name / self.student for name in FOLDERS),
        ]
        for path in sorted(self.room.rglob("*")):
            if any(path.is_relative_to(one) for one in gone) or path.name == "gradebook.db":
                continue
            if wanted.is_in(path.name):
                yield str(path)
            elif path.parent == self.room or path.suffix.lower() in SEARCHED:
                if path.is_file() and not path.is_symlink() and (found := _match_in(path, wanted)):
                    yield found

    def _wanted(self) -> _Wanted:
        """The words and numbers by which other files may name the student."""
        words, numbers = [self.student], []
        for one in records(self.room):
            if one.get("student") == self.student:
                name = str(one.get("name", ""))  # one word can be Participant
                words.append(name if " " in name else "")
                numbers.append(str(one.get("number", "")))
        try:
            with self._gradebook() as book:
                found = book.find_student(self.student)
                first, last = found.first_name or "", found.last_name or ""
                words += [
                    found.email or "",
                    *([f"{first} {last}", f"{last} {first}"] * bool(first and last)),
                ]
                numbers.append(found.lms_user_id or "")
        except (MissingEntry, SQLAlchemyError):
            pass
        return _Wanted(words, numbers)


class _Wanted:
    """Searches texts for a student: words anywhere, and a platform's numbers in tables and zips."""

    def __init__(self, words: Sequence[str], numbers: Sequence[str]) -> None:
        spelled = {
            # Between first and last name, a text may have the end of a field, or Moodle's
            # underscore.
            r"""[\s,;_"']+""".join(re.escape(part) for part in form.split())
            for word in words
            for form in (word, html.escape(word), json.dumps(word)[1:-1])
            if form.strip()
        }
        counted = {re.escape(number) for number in numbers if number.strip()}
        self._words, self._all = _pattern(spelled), _pattern(spelled | counted)

    def is_in(self, text: str, *, numbers: bool = False) -> bool:
        """Whether a text names the student."""
        return bool((self._all if numbers else self._words).search(text))


def _pattern(forms: set[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(sorted(forms))})(?![^\W_])", re.IGNORECASE)


def _match_in(path: Path, wanted: _Wanted) -> str:
    """Return the file if it names the student; for a zip, with its first such file."""
    try:
        if not zipfile.is_zipfile(path):
            small = path.stat().st_size <= MAX_READ
            return str(path) if small and _names(path.name, path.read_bytes(), wanted) else ""
        left = MAX_READ
        with zipfile.ZipFile(path) as archive:
            for one in archive.infolist():
                with archive.open(one) as file:
                    data = file.read(left)
                left -= len(data)
                if wanted.is_in(one.filename, numbers=True) or _names(one.filename, data, wanted):
                    return f"{path}: {in_a_line(one.filename)}"
    except (OSError, EOFError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error):
        pass
    return ""


def _names(name: str, data: bytes, wanted: _Wanted) -> bool:
    table = name.lower().endswith(".csv")
    texts = [data.decode("utf-8", "replace")]
    if table:
        texts += [data.decode(encoding, "replace") for encoding in ("cp1252", "utf-16")]
    return any(wanted.is_in(text, numbers=table) for text in texts)


def lines_about(held: Held) -> Iterator[str]:
    """Describe a student's data, a line each."""
    if held.submissions is not None:
        chapters = ", ".join(held.submissions) or "no submission"
        yield f"In the gradebook: name, grades and comments ({chapters})."
    for path in held.folders:
        yield f"The folder {path}, with all that is in it."
    for path, count in held.lines.items():
        yield f"Records in {path}: {count}."
    if held.run_kept and held:
        yield "What the last run replaced; it cannot be undone afterwards."
    for path in held.reports if held else ():
        command = "groups" if path.suffix == ".html" else "report"
        yield f"The report in {path}; fxcourse classroom {command} writes one without the student."
    for place in held.others:
        yield f"Not changed, although it seems to name the student: {place}"
    if held.others:
        yield "Delete these files, or write them again."


def _is_about(line: str, student: str) -> bool:
    try:
        found = json.loads(line)
    except ValueError:
        return student in line  # a line that was cut off
    return isinstance(found, dict) and found.get("student") == student


def _lines_about(path: Path, student: str) -> int:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return sum(_is_about(line, student) for line in lines)


def _drop_lines(path: Path, student: str) -> None:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    kept = [line for line in lines if not _is_about(line, student)]
    if len(kept) < len(lines):
        building = path.with_suffix(".new")
        building.write_text("".join(kept), encoding="utf-8")
        building.replace(path)


def _kept_about(path: Path, student: str) -> int:
    kept = json.loads(path.read_text(encoding="utf-8"))
    return sum(one.get("student") == student for one in kept["submissions"])


def _drop_kept(path: Path, student: str) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    left = [one for one in kept["submissions"] if one.get("student") != student]
    if len(left) < len(kept["submissions"]):
        building = path.with_suffix(".new")
        write_down(kept | {"submissions": left}, building)
        building.replace(path)


def _groups_about(path: Path, student: str) -> int:
    return sum(student in row.students for row in read_groups(path))


def _drop_from_groups(path: Path, student: str) -> None:
    rows = read_groups(path)
    if any(student in row.students for row in rows):
        left = [tuple(one for one in row.students if one != student) for row in rows]
        write_groups(
            path, path.stem,
            [replace(row, students=those) for row, those in zip(rows, left, strict=True)],
        )  # fmt: skip
