"""Identifies students by a learning platform's names and numbers.

Canvas has a number for each user. Moodle's number is a participant of one assignment; the grading
worksheet has the student of each. Otherwise, a name decides if only one student has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from autograder.classroom.lms.path_layouts import Layout, Origin
from autograder.classroom.records.roster import Person, as_id, split_name, squashed, why_no_id
from autograder.classroom.records.tables import Cell, Table


class Unknown(Exception):
    """A student cannot be identified; the message says why."""


@dataclass(frozen=True)
class Participant:
    """A row of Moodle's grading worksheet.

    Attributes:
        number: the number of the participant in this assignment.
        name: the full name; ``""`` if marking is blind.
        email: the address.
        id_number: the institution's number of the student.
        when: the time of submission; ``None`` if the worksheet has none.
    """

    number: str
    name: str
    email: str
    id_number: str
    when: datetime | None


def participants(table: Table, zone: tzinfo | None) -> list[Participant]:
    """The participants in a grading worksheet.

    Raises:
        ValueError: the table is not a grading worksheet with the headings of an English Moodle.
    """
    place = identifiers(table)
    if place is None or table.column(_HANDED_IN) is None:
        raise ValueError(not_a_worksheet(table, _HANDED_IN))
    return [_participant(table, row, place, zone) for row in table.rows]


def not_a_worksheet(table: Table, needed: str) -> str:
    """Explain why a table is not a grading worksheet, with the columns that it needs and has."""
    return (
        "That is not Moodle's grading worksheet in English: it needs a column of identifiers such "
        f"as 'Participant 12345', and one called {needed}. It has: "
        f"{', '.join(table.heads)[:300]}. Set Moodle to English, and download it again."
    )


def identifiers(table: Table) -> int | None:
    """The index of a grading worksheet's column with values such as ``Participant 12345``."""
    for place in range(len(table.heads)):
        fields = [row[place].text for row in table.rows if place < len(row)]
        if fields and all(re.fullmatch(r"\D*[^\W\d_]\D*\d+", text) for text in fields):
            return place
    return None


def number_in(text: str) -> str:
    """The number at the end of a text such as ``Participant 12345``."""
    found = re.search(r"\d+$", text.strip())
    return found[0].lstrip("0") or "0" if found else ""


def _participant(table: Table, row: Sequence[Cell], place: int, zone: tzinfo | None) -> Participant:
    return Participant(
        number_in(row[place].text),
        table.first(row, ("Full name",)),
        table.first(row, ("Email address",)),
        table.first(row, ("ID number",)),
        _moment(table.first(row, (_HANDED_IN,)), zone),
    )


_HANDED_IN = "Last modified (submission)"
_FORMS = ("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M")


def _moment(text: str, zone: tzinfo | None) -> datetime | None:
    """Parse Moodle's English notation of a time, in the zone of the person who downloaded it."""
    text = " ".join(text.split())
    for form in _FORMS:
        try:
            local = datetime.strptime(text, form)
        except ValueError:
            continue
        return (local.replace(tzinfo=zone) if zone else local.astimezone()).astimezone(UTC)
    return None


class People:
    """The students of a class, as platforms name them.

    Args:
        known: the students in the gradebook.
        before: earlier imports; see `submitted_folder.records`.
        worksheet: the rows of the assignment's grading worksheet, if there is one.
    """

    def __init__(
        self,
        known: Iterable[Person] = (),
        before: Iterable[Mapping[str, Any]] = (),
        worksheet: Iterable[Participant] = (),
    ) -> None:
        self.known = list(known)
        self.new: list[Person] = []
        self._worksheet = {row.number: row for row in worksheet}
        self._of_user = {
            one["number"]: one["student"] for one in before if one.get("platform") == "canvas"
        }
        self._users_of: dict[str, set[str]] = {}
        for number, student in self._of_user.items():
            self._users_of.setdefault(student, set()).add(number)
        self._made: dict[str, str] = {}
        self._numbers: dict[str, set[str]] = {}

    def meet(self, together: Iterable[Origin]) -> None:
        """Record all students of an archive, to detect different students with the same name."""
        for one in together:
            self._numbers.setdefault(squashed(one.name), set()).add(one.number)

    def handed_in(self, origin: Origin) -> datetime | None:
        """The time of a student's submission in the worksheet."""
        row = self._row(origin)
        return row.when if row else None

    def student(self, origin: Origin) -> str:
        """Identify a student.

        Raises:
            Unknown: the student cannot be identified.
        """
        match origin.platform:
            case Layout.MOODLE:
                return self._of_moodle(origin)
            case Layout.CANVAS:
                return self._of_canvas(origin)
        return self._of_folder(origin)

    def _row(self, origin: Origin) -> Participant | None:
        is_one = origin.platform is Layout.MOODLE
        return self._worksheet.get(number_in(origin.number)) if is_one else None

    def _of_moodle(self, origin: Origin) -> str:
        row = self._row(origin)
        if row is not None and (found := self._student_in_row(row)):
            return found
        numbers = self._numbers.get(squashed(origin.name), {origin.number})
        if len(numbers) > 1:
            if len(self._numbers) == 1 and " " not in origin.name and not (row and row.name):
                # Marking is blind: everybody has the name Participant, in some language.
                return self._add(f"{origin.name} {origin.number}")
            if row is None or not row.email:
                raise Unknown(
                    f"{len(numbers)} participants are called {origin.name}. {self._advice()}"
                )
            return self._add(row.email, row.name, row.email)
        named = self._named(origin.name)
        if len(named) > 1:
            raise Unknown(
                f"{len(named)} students of the class are called {origin.name}. {self._advice()}"
            )
        if named:
            return named[0].id
        return self._add(origin.name, origin.name, row.email if row else "")

    def _advice(self) -> str:
        if self._worksheet:
            return "E-mail address and ID number in the grading worksheet do not say who it is."
        return "Moodle's grading worksheet says who is who: --worksheet FILE."

    def _student_in_row(self, row: Participant) -> str:
        """The student in the gradebook who matches a row of the worksheet."""
        for person in self.known:
            said = {person.id.casefold(), person.email.casefold()} - {""}
            meant = {row.email.casefold(), row.id_number.casefold()} - {""}
            if said & meant or (person.number and person.number == row.id_number):
                return person.id
        return ""

    def _of_canvas(self, origin: Origin) -> str:
        if origin.number in self._of_user:
            return str(self._of_user[origin.number])
        for person in self.known:
            if person.number and person.number == origin.number:
                return person.id
        named = [one for one in self._named(origin.name) if not one.number]
        numbers = self._numbers.get(squashed(origin.name), {origin.number})
        if len(named) == 1 and len(numbers) == 1 and not self._users_of.get(named[0].id):
            return named[0].id
        taken = self._named(origin.name) or any(one.id == origin.name for one in self.known)
        alone = len(numbers) == 1 and not taken
        name = origin.name if alone else f"{origin.name}-{origin.number}"
        return self._add(name, number=origin.number)

    def _of_folder(self, origin: Origin) -> str:
        if any(person.id == origin.name for person in self.known):
            return origin.name
        named = self._named(origin.name)
        if len(named) == 1:
            return named[0].id
        return self._add(origin.name)

    def _named(self, name: str) -> list[Person]:
        """The students with this name."""
        plain = squashed(name)
        return [one for one in self.known if plain and plain in one.names]

    def _add(self, name: str, full: str = "", email: str = "", number: str = "") -> str:
        """Add a new student, and return their id."""
        student = as_id(name)
        if why_no_id(student):
            raise Unknown(f"{student[:80]!r} cannot be a student's id: {why_no_id(student)}")
        if self._made.setdefault(student, name) != name:
            raise Unknown(f"Another student's folder is called {student} already. Use a roster.")
        if not any(one.id == student for one in self.known):
            first, last = split_name(full) if full else ("", "")
            person = Person(student, first, last, email, number)
            self.known.append(person)
            self.new.append(person)
        return student
