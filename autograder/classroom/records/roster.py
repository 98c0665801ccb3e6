"""The students of a class: imports a list in CSV, and matches a platform's names to students.

The list may be nbgrader's own, Moodle's list of participants or grading worksheet, or Canvas's
gradebook; the reader recognizes it by its columns.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.classroom.records.tables import Table, read_table
from autograder.classroom.room.gradebook_url import MAX_NAME, is_storable
from autograder.environment.errors import ClassroomError
from autograder.submission.sanitize import in_a_line


@dataclass(frozen=True)
class Person:
    """A student.

    Attributes:
        id: the student's id in the gradebook, which is also the name of their folders.
        first: the first name, without HTML, because nbgrader's pages do not escape it.
        last: the last name, also without HTML.
        email: the address, also without HTML.
        number: the learning platform's number of the student.
    """

    id: str
    first: str = ""
    last: str = ""
    email: str = ""
    number: str = ""

    def __post_init__(self) -> None:
        for name in ("first", "last", "email"):
            object.__setattr__(self, name, as_name(getattr(self, name)))

    @property
    def names(self) -> frozenset[str]:
        """Normalized forms of the full name, in both orders."""
        return frozenset({squashed(self.first + self.last), squashed(self.last + self.first)})


def squashed(name: str) -> str:
    """A name without case, blanks and punctuation, as Canvas writes it: ``exampleanna``."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFC", name).casefold())


def students(gradebook: Gradebook) -> list[Person]:
    """The students in the gradebook."""
    return [
        Person(s.id, s.first_name or "", s.last_name or "", s.email or "", s.lms_user_id or "")
        for s in gradebook.students
    ]


def read_roster(path: Path) -> list[Person]:
    """Read the students of a list in CSV.

    Raises:
        ClassroomError: it has no column of ids, addresses or names, or two students with one id.
    """
    try:
        table = read_table(path)
    except ValueError as error:
        raise ClassroomError(str(error)) from None
    people = [person for person in _people(table, path) if person.id]
    twice = sorted({one.id for one in people if sum(one.id == other.id for other in people) > 1})
    if twice:
        raise ClassroomError(f"{path.name} has two students with the id {twice[0]!r}.")
    if unfit := next((one.id for one in people if why_no_id(one.id)), None):
        raise ClassroomError(
            f"{path.name}: {unfit[:80]!r} cannot be a student's id: {why_no_id(unfit)}"
        )
    return people


_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "student_id", "ID number", "Username"),
    "first": ("first_name", "First name"),
    "last": ("last_name", "Last name", "Surname"),
    "name": ("Full name", "Student"),
    "email": ("email", "Email address"),
    "number": ("lms_user_id",),
}
"""Titles of columns in the supported lists; the first one that is not empty counts."""


def _people(table: Table, path: Path) -> Iterator[Person]:
    canvas = "Student" in table.heads and "ID" in table.heads
    if not any(set(_COLUMNS[what]) & set(table.heads) for what in ("id", "email", "name")):
        raise ClassroomError(
            f"{path.name} has no column that identifies students, such as id, "
            f"Email address or Full name. Its columns: {', '.join(table.heads)[:300]}."
        )
    for row in table.rows:
        said = {what: table.first(row, columns) for what, columns in _COLUMNS.items()}
        if canvas:
            said["number"] = table.first(row, ("ID",))
            said["id"] = table.first(row, ("SIS Login ID", "SIS User ID"))
            if not said["number"].isdigit():
                continue  # "Points Possible", or Canvas's test student
        first, last = said["first"], said["last"]
        if said["name"] and not (first or last):
            first, last = split_name(said["name"])
        own = said["id"] or said["email"] or said["number"] or said["name"]
        yield Person(own, first, last, said["email"], said["number"])


def split_name(name: str) -> tuple[str, str]:
    """First and last name: split at a comma if there is one, else at the last blank."""
    last, comma, first = name.partition(",")
    if comma:
        return first.strip(), last.strip()
    first, _, last = name.strip().rpartition(" ")
    return first.strip(), last


def why_no_id(name: str) -> str:
    """The reason why a name cannot be a student's id, and so a folder's name; ``""`` if it can."""
    if why_not := why_unsafe_id(name):
        return why_not
    if len(name.encode()) > 200:
        return f"it has more than {MAX_NAME} characters."
    if not name.isprintable() or name != name.strip() or name.startswith("."):
        return "it has signs or blanks where no name has them."
    if set(name) & set("/:*?|[]"):
        return "a folder's name has none of / : * ? | [ ]."
    return ""


def why_unsafe_id(name: str) -> str:
    """The reason why submissions of this id are not graded; ``""`` if they are.

    nbgrader's pages show ids without escaping them, and write them into scripts.
    """
    if not is_storable(name):
        return f"it has more than {MAX_NAME} characters, or is not a text."
    if name != in_a_line(name):
        return "it has signs that cannot be seen."
    if set(name) & set('<>&"\\'):
        return 'it has one of < > & " \\.'
    return ""


def as_name(text: str) -> str:
    """A name without HTML and invisible characters."""
    return in_a_line(text.strip()).translate({ord("<"): "‹", ord(">"): "›"})


def as_id(name: str) -> str:
    """Turn a name into a student's id; characters that a folder's name cannot have become ``-``."""
    text = "".join(sign if sign.isprintable() else "-" for sign in name)
    text = re.sub(r'[/\\:*?"<>&|\[\]\uFFFD]+', "-", in_a_line(text)).strip().lstrip(".")
    return text.encode()[:120].decode("utf-8", "ignore").strip() or "student"


def clean_names(gradebook: Gradebook, *, write: bool = True) -> list[str]:
    """Remove HTML from the names in a gradebook, because nbgrader's pages do not escape them.

    Args:
        gradebook: the gradebook.
        write: whether the gradebook may be changed.

    Returns:
        Messages for the instructor, a sentence each.
    """
    said = []
    for student in gradebook.students:
        if why_not := why_unsafe_id(student.id):
            said.append(
                f"The gradebook has a student {in_a_line(student.id)[:80]!r}, and {why_not} Do not "
                "open Formgrader before you have removed it: nbgrader db student remove ID"
            )
        names = {key: getattr(student, key) for key in ("first_name", "last_name", "email")}
        clean = {key: as_name(value) for key, value in names.items() if value}
        if write and any(clean[key] != names[key] for key in clean):
            gradebook.update_or_create_student(student.id, **clean)
            who = in_a_line(student.id)
            said.append(f"The name of {who} had HTML or unseen signs, and has none now.")
    return said


def add_to_gradebook(gradebook: Gradebook, people: Iterable[Person]) -> tuple[int, int]:
    """Add students to the gradebook; fields that the list leaves empty stay unchanged.

    Returns:
        The number of new students, and of students that were there and have changed.
    """
    before = {person.id: person for person in students(gradebook)}
    new = changed = 0
    for person in people:
        fields = {
            "first_name": person.first,
            "last_name": person.last,
            "email": person.email,
            "lms_user_id": person.number,
        }
        known = {key: value for key, value in fields.items() if value}
        old = before.get(person.id)
        kept = {} if old is None else {
            "first_name": old.first, "last_name": old.last, "email": old.email,
            "lms_user_id": old.number,
        }  # fmt: skip
        if old is None:
            new += 1
        elif any(kept[key] != value for key, value in known.items()):
            changed += 1
        else:
            continue
        gradebook.update_or_create_student(person.id, **known)
    return new, changed
