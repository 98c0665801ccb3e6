"""Fills grades into the files of Moodle and Canvas, for upload to the platform.

Only the fields of grades change. Rows of unknown students, of students without a submission, and
of submissions that wait for a person's points are left out and listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbgrader.api import Gradebook

from autograder.classroom.lms.people import identifiers, not_a_worksheet, number_in
from autograder.classroom.records.roster import Person, squashed
from autograder.classroom.records.tables import Cell, Table, guarded
from autograder.environment.errors import ClassroomError


@dataclass(frozen=True)
class Grade:
    """A student's grade for an assignment.

    Attributes:
        points: the points, after penalties for lateness.
        max_points: the most points possible.
        waits: whether a person still has to give points.
    """

    points: float
    max_points: float
    waits: bool


@dataclass
class Filled:
    """The outcome of filling in a platform's file.

    Attributes:
        done: the students whose grades were filled in, with the platform's name of each.
        notes: further messages, a sentence each.
    """

    done: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def grades(gradebook: Gradebook, assignment: str) -> dict[str, Grade]:
    """The grades of an assignment, by student; students without a submission are missing."""
    most = gradebook.find_assignment(assignment).max_score
    found = {}
    for submission in gradebook.assignment_submissions(assignment):
        points = max(0.0, submission.score - (submission.late_submission_penalty or 0.0))
        found[submission.student_id] = Grade(points, most, bool(submission.needs_manual_grade))
    return found


@dataclass
class Names:
    """Identifies the students of rows.

    Attributes:
        people: the students in the gradebook.
        records: the imported submissions; see `submitted_folder.records`.
    """

    people: Sequence[Person]
    records: Sequence[Mapping[str, Any]]

    def find(
        self, platform: str, number: str, *, assignment: str = "", ids: Sequence[str] = (),
        name: str = "",
    ) -> str | None:  # fmt: skip
        """Find a row's student, by imported submissions, then ids and addresses, then the name."""
        for one in reversed(self.records):
            if one.get("platform") == platform and number_in(str(one.get("number"))) == number:
                if platform == "canvas" or one.get("assignment") == assignment:
                    return str(one["student"])
        wanted = {text.casefold() for text in ids if text}
        for person in self.people:
            if platform == "canvas" and number and person.number == number:
                return person.id
        for person in self.people:
            if {person.id.casefold(), person.email.casefold()} & wanted:
                return person.id
        plain = squashed(name)
        named = [person.id for person in self.people if plain and plain in person.names]
        return named[0] if len(named) == 1 else None


_NAMES = ("Full name", "Student", "First name", "Last name", "Surname", "Email address")
_LOCKED = ("no", "nein", "non")


def fill_moodle(
    table: Table, assignment: str, names: Names, found: Mapping[str, Grade], *, waiting: bool
) -> Filled:
    """Fill in Moodle's grading worksheet.

    Args:
        table: the worksheet; it is changed.
        assignment: the worksheet's assignment.
        names: identifies the students of rows.
        found: the grades, by student.
        waiting: also fill in grades that wait for a person's points.

    Raises:
        ClassroomError: it is not a grading worksheet, or its grades are not numbers.
    """
    who, grade = identifiers(table), table.column("Grade")
    if who is None or grade is None:
        raise ClassroomError(not_a_worksheet(table, "Grade"))
    most, may_change = table.column("Maximum Grade"), table.column("Grade can be changed")
    done = Filled()
    rows = {}
    for row in table.rows:
        number = number_in(row[who].text)
        student = names.find(
            "moodle", number, assignment=assignment, name=table.first(row, ("Full name",)),
            ids=(table.first(row, ("Email address",)), table.first(row, ("ID number",))),
        )  # fmt: skip
        rows[_label(table, row, row[who].text)] = (row, student, number)
    for label, student, row in _usable(rows, found, waiting, done):
        if may_change is not None and row[may_change].text.strip().casefold() in _LOCKED:
            done.notes.append(f"{label}: Moodle does not let this grade be changed.")
            continue
        above = row[most].text.strip() if most is not None else ""
        limit = _number(above)
        if above and limit is None:
            raise ClassroomError(
                f"The worksheet's grades are not numbers: Maximum Grade is {above!r}."
            )
        own = found[student]
        value = _scaled(own, limit, done)
        if limit is not None and value > limit:
            value = limit
            done.notes.append(f"{label}: more than full marks, which Moodle does not take; cut.")
        row[grade].text = _written(value, comma="," in above)
        done.done[student] = f"{_plain_name(table.first(row, ('Full name',)))}_{rows[label][2]}"
    _guard(table)
    return done


def fill_canvas(
    table: Table, columns: Mapping[str, str], names: Names,
    found: Mapping[str, Mapping[str, Grade]], *, waiting: bool,
) -> Filled:  # fmt: skip
    """Fill in Canvas's gradebook.

    Args:
        table: the gradebook; it is changed.
        columns: the title of each assignment's column.
        names: identifies the students of rows.
        found: the grades, by assignment and student.
        waiting: also fill in grades that wait for a person's points.

    Raises:
        ClassroomError: it is not Canvas's gradebook.
    """
    student, number = table.column("Student"), table.column("ID")
    if student is None or number is None:
        raise ClassroomError(
            "That is not Canvas's gradebook: it needs the columns Student and ID. "
            f"It has: {', '.join(table.heads)[:300]}."
        )
    done, rows, possible = Filled(), {}, None
    for row in table.rows:
        if row[student].text.strip() == "Points Possible":
            possible = row
        if row[number].text.strip().isdigit():
            ids = [table.first(row, (head,)) for head in ("SIS Login ID", "SIS User ID")]
            name = table.first(row, ("Student",))
            user = row[number].text.strip()
            rows[_label(table, row, user)] = (
                row, names.find("canvas", number_in(user), ids=ids, name=name), user,
            )  # fmt: skip
    for assignment, head in columns.items():
        place = table.heads.index(head)
        limit = _number(possible[place].text) if possible and place < len(possible) else None
        for _, who, row in _usable(rows, found[assignment], waiting, done):
            if place < len(row):
                row[place].text = _written(_scaled(found[assignment][who], limit, done))
                done.done[who] = ""
    _guard(table)
    return done


def canvas_columns(
    table: Table, assignments: Sequence[str], said: Mapping[str, str]
) -> dict[str, str]:
    """Find the column of each assignment in Canvas's gradebook, by its title or from `said`.

    Raises:
        ClassroomError: there are none, or `said` names an unknown column.
    """
    titles = {head: re.sub(r"\s*\(\d+\)$", "", head) for head in table.heads[4:]}
    found = {}
    for assignment, title in said.items():
        meant = [head for head, text in titles.items() if title.strip() in (head, text)]
        if len(meant) != 1:
            raise ClassroomError(f"Canvas's gradebook has no column {title!r}.")
        found[assignment] = meant[0]
    for assignment in assignments:
        meant = [
            head for head, text in titles.items()
            if text != head and re.search(rf"(?<!\d){squashed(assignment)}", squashed(text))
        ]  # fmt: skip
        if len(meant) == 1 and assignment not in found:
            found[assignment] = meant[0]
    if not found:
        has = ", ".join(head for head, text in titles.items() if head != text)
        raise ClassroomError(
            f"No column of Canvas's gradebook has the name of a chapter: {', '.join(assignments)}. "
            f"Say which is which: --column '{assignments[0]}=TITLE'. Columns: {has[:300]}."
        )
    return found


Rows = Mapping[str, tuple[list[Cell], str | None, str]]


def _usable(
    rows: Rows, found: Mapping[str, Grade], waiting: bool, done: Filled
) -> Iterator[tuple[str, str, list[Cell]]]:
    """The rows with a grade; for the others, add notes."""
    times = Counter(student for _, student, _ in rows.values() if student)
    unknown = [label for label, (_, student, _) in rows.items() if student is None]
    if unknown:
        done.notes.append(f"Not known in the gradebook, left as they are: {few(unknown)}.")
    twice = [label for label, (_, student, _) in rows.items() if student and times[student] > 1]
    if twice:
        done.notes.append(f"Several rows are of one student, left as they are: {few(twice)}.")
    left = [student for student in found if not times[student]]
    if left:
        done.notes.append(f"Graded, but in no row: {few(left)}.")
    wait = [student for student in found if found[student].waits and times[student] == 1]
    if wait and not waiting:
        done.notes.append(f"Left out, because points of yours are missing: {few(wait)}.")
    for label, (row, student, _) in rows.items():
        if student is None or student not in found or times[student] > 1:
            continue
        if waiting or not found[student].waits:
            yield label, student, row


def _label(table: Table, row: Sequence[Cell], number: str) -> str:
    name = table.first(row, ("Full name", "Student"))
    return f"{name} ({number})" if name else number


def few(names: Collection[str], most: int = 20) -> str:
    """The first names, and the number of the rest."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(sorted(names)[:most]) + more


def _number(text: str) -> float | None:
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return value if 0 < value < 1e9 else None


def _scaled(grade: Grade, limit: float | None, done: Filled) -> float:
    """The points on the platform's own scale."""
    if limit is None or not grade.max_points or abs(limit - grade.max_points) < 1e-9:
        return grade.points
    said = f"Points were brought from {grade.max_points:g} to the platform's {limit:g}."
    if said not in done.notes:
        done.notes.append(said)
    return grade.points * limit / grade.max_points


def _written(value: float, comma: bool = False) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if comma else text


def _guard(table: Table) -> None:
    """Quote names that a spreadsheet could run as formulas; platforms do not read names back."""
    for name in _NAMES:
        place = table.column(name)
        for row in table.rows if place is not None else ():
            if place is not None and place < len(row):
                row[place].text = guarded(row[place].text)


def _plain_name(name: str) -> str:
    """A name as Moodle writes it in folder names; Moodle parses the parts between underscores."""
    return re.sub(r'[\\/:*?"<>|_\x00-\x1f]+', " ", name).strip(" .~") or "Participant"
