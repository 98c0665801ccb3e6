"""The late-work policy of a classroom: ``deadlines.toml``, and the rules that follow from it."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from nbgrader.utils import parse_utc

from autograder.classroom.room.chapter_names import is_called
from autograder.environment.errors import ClassroomError

FILE = "deadlines.toml"

TEMPLATE = """\
# When work is late, and what that costs. Set due dates in Formgrader, under Manage Assignments.
# Each run of `fxcourse grade` reads this file, and grades nothing again because of it.
# `fxcourse classroom lateness .` shows who would lose what.

# The time zone of times that name none. Due dates are shown in it. For example "Europe/Berlin".
timezone = "UTC"

# This many minutes after the due date cost nothing.
grace_minutes = 0

# The cost of each day that has begun after that, in percent of the points earned.
percent_a_day = 0

# Each student has this many free late days. They go to the chapters that were due first.
late_days = 0

# For one student: other late days, and extensions in days, by chapter or for "all" chapters.
# [students.ann]
# late_days = 5
# extensions = { "03" = 2, all = 0.5 }
"""

_DAY = timedelta(days=1)
ALL = "all"


class NoTime(ValueError):
    """A text is not a time; the message says what is wrong with it."""


@dataclass(frozen=True)
class OneStudent:
    """The exceptions for one student.

    Attributes:
        late_days: free days; ``None`` for the number that everybody has.
        extensions: extensions by chapter; under `ALL`, for all chapters that are not named.
    """

    late_days: int | None = None
    extensions: Mapping[str, timedelta] = field(default_factory=dict)


@dataclass(frozen=True)
class Policy:
    """The cost of being late; by default, nothing.

    Attributes:
        zone: the time zone of times that do not name one.
        grace: the time after the due date that costs nothing.
        percent_a_day: the percentage of the earned points that each day costs, once it has begun.
        late_days: free days of each student, over all chapters.
        students: the exceptions for single students.
    """

    zone: tzinfo = UTC
    grace: timedelta = timedelta()
    percent_a_day: float = 0.0
    late_days: int = 0
    students: Mapping[str, OneStudent] = field(default_factory=dict)

    def extension(self, student: str, chapter: str) -> timedelta:
        """A student's extension for a chapter."""
        own = self.students.get(student, OneStudent()).extensions
        return own.get(chapter, own.get(ALL, timedelta()))

    def unknown_students(self, room: Path, known: Collection[str]) -> list[str]:
        """Warnings about students in the file whom the class does not know, a sentence each.

        They are not errors: a student may have an extension before they appear in the class.
        """
        known = {*known, *(path.name for path in (room / "submitted").glob("*"))}
        return [
            f"{room / FILE}, students.{name}: nobody in the class has this id."
            + _nearest(name, known)
            for name in self.students
            if name not in known
        ]

    def free_days(self, student: str) -> int:
        """The number of a student's free late days."""
        own = self.students.get(student, OneStudent()).late_days
        return self.late_days if own is None else own


@dataclass(frozen=True)
class HandIn:
    """The time of a student's submission; times are in UTC without a time zone, as in nbgrader.

    Attributes:
        chapter: the chapter.
        due: the due date for this student; ``None`` if there is no due date.
        at: the time of submission; ``None`` if unknown.
    """

    chapter: str
    due: datetime | None
    at: datetime | None


@dataclass(frozen=True)
class Lateness:
    """The lateness of a submission, and its cost by the class's policy.

    Attributes:
        chapter: the chapter.
        due: the due date, with the student's extension and without grace.
        at: the time of submission.
        seconds: the time after due date and grace; free late days are not subtracted.
        days: the number of days that had begun in this time.
        free: how many of these days were free late days.
        percent: the cost of the other days, in percent of the points earned.
        extension: the student's extension.
        grace: the time after the due date that costs nothing.
    """

    chapter: str
    due: datetime | None
    at: datetime | None
    seconds: float = 0.0
    days: int = 0
    free: int = 0
    percent: float = 0.0
    extension: timedelta = timedelta()
    grace: timedelta = timedelta()

    @property
    def charged(self) -> float:
        """Seconds that free late days do not cover."""
        return max(0.0, self.seconds - self.free * _DAY.total_seconds())

    def sentence(self, zone: tzinfo) -> str:
        """A sentence about the lateness; empty if the submission was in time."""
        if not self.days or self.due is None:
            return ""
        parts = [f"late by {_days(self.days)} (due {shown(self.due, zone)})"]
        if self.free:
            parts.append(f"{_days(self.free, 'late day')} used")
        if self.percent:
            parts.append(f"{self.percent:g} % off")
        return ", ".join(parts)

    def excuse(self, zone: tzinfo) -> str:
        """The reason why work after the due date costs nothing; empty if there is none."""
        if self.days or self.due is None or self.at is None:
            return ""
        due = self.due - self.extension
        if self.at <= due:
            return ""
        days = math.ceil((self.at - due) / _DAY)
        parts = [f"late by {_days(days)} (due {shown(due, zone)})"]
        if self.extension:
            more = self.extension / _DAY
            parts.append(f"extension {more:.4g} day{'' if more == 1 else 's'}")
        if self.at > self.due:
            parts.append(f"grace {self.grace / timedelta(minutes=1):.4g} minutes")
        return ", ".join([*parts, "costs nothing"])


def _nearest(name: str, known: Collection[str]) -> str:
    found = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {found[0]}?" if found else ""


def work_out(policy: Policy, student: str, hand_ins: Iterable[HandIn]) -> dict[str, Lateness]:
    """Compute a student's lateness in each chapter; late days go to the chapters due first."""
    left = policy.free_days(student)
    found = {}
    for one in sorted(hand_ins, key=lambda one: (one.due or datetime.max, one.chapter)):
        due = one.due
        if due is None or one.at is None:
            found[one.chapter] = Lateness(one.chapter, due, one.at)
            continue
        extension = policy.extension(student, one.chapter)
        due += extension
        seconds = max(0.0, (one.at - due - policy.grace).total_seconds())
        days = math.ceil(seconds / _DAY.total_seconds())
        free = min(days, left)
        left -= free
        percent = min(100.0, (days - free) * policy.percent_a_day)
        found[one.chapter] = Lateness(
            one.chapter, due, one.at, seconds, days, free, percent, extension, policy.grace
        )
    return found


def last_extension(
    policy: Policy, chapter: str, due: datetime, own: Mapping[str, datetime]
) -> tuple[datetime, str]:
    """The last moment at which work of a chapter may be handed in at no cost.

    It is computed as if each student used all free late days for this chapter.

    Args:
        policy: the policy of the class.
        chapter: the chapter.
        due: its due date.
        own: the due dates of students for whom nbgrader has another one.

    Returns:
        The moment, and the student who has it; empty if everybody has.
    """
    ends = {
        student: own.get(student, due)
        + policy.extension(student, chapter)
        + policy.grace
        + policy.free_days(student) * _DAY
        for student in ("", *own, *policy.students)
    }
    last = max(ends, key=lambda student: ends[student])
    return ends[last], last


# ------------------------------------------------------------------ times

_ENDS_IN_ZONE = re.compile(
    r"(?P<time>.*:\d\d(?:[.,:]\d+)?)\s*(?P<zone>[+-]\d\d(?::?\d\d)?|[A-Za-z][\w/+-]*)$"
)

_HALF_DAY = re.compile(
    r"\b(?P<hour>\d{1,2})(?P<rest>(?::\d\d){0,2})\s*(?P<half>[AP])\.?M\b\.?", re.IGNORECASE
)
_DAY_AND_MONTH = re.compile(
    r"(?P<first>\d{1,2})[./-](?P<second>\d{1,2})[./-](?P<year>\d{4}|\d\d)\b"
)


def in_utc(text: str, zone: tzinfo) -> datetime:
    """Convert a text to a time in UTC without a time zone, as nbgrader stores times.

    Args:
        text: such as ``2026-12-01 23:59:00``, with or without a time zone.
        zone: the time zone of texts that do not name one.

    Raises:
        NoTime: it is not a time, its date is ambiguous, or its time zone is unknown.
    """
    text = _HALF_DAY.sub(_in_24_hours, text.strip()[:100])
    _refuse_two_readings(text)
    found = _ENDS_IN_ZONE.match(text)
    text, name = (found["time"], found["zone"]) if found else (text, "")
    try:
        moment: datetime = parse_utc(text)
        if moment.tzinfo is not None:
            raise ValueError
        named = _zone_called(name, moment, zone) if name else zone
        return moment.replace(tzinfo=named).astimezone(UTC).replace(tzinfo=None)
    except NoTime:
        raise
    except (ValueError, OverflowError, TypeError):
        raise NoTime("does not hold a time") from None


def _in_24_hours(found: re.Match[str]) -> str:
    """Rewrite a time with AM or PM, because nbgrader would read its third word as a time zone."""
    hour = int(found["hour"])
    if not 1 <= hour <= 12:
        raise NoTime("does not hold a time")
    return f"{hour % 12 + 12 * (found['half'] in 'pP'):02}{found['rest'] or ':00'}"


def _refuse_two_readings(text: str) -> None:
    """Refuse a date in which either the day or the month could come first."""
    found = _DAY_AND_MONTH.match(text)
    if found is None:
        return
    first, second = int(found["first"]), int(found["second"])
    if first == second or max(first, second) > 12:
        return
    year = found["year"] if len(found["year"]) == 4 else f"20{found['year']}"
    one, other = f"{year}-{second:02}-{first:02}", f"{year}-{first:02}-{second:02}"
    raise NoTime(
        f"says {found[0]}, which can be {one} or {other}: write one of these two into the file"
    )


def _zone_called(name: str, moment: datetime, usual: tzinfo) -> tzinfo:
    if name.upper() in ("Z", "UTC", "GMT"):
        return UTC
    if name[0] in "+-":
        found = datetime.strptime(name.replace(":", "").ljust(5, "0"), "%z").tzinfo
        return found or UTC
    if usual.tzname(moment) == name:
        return usual
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise NoTime(f"names the time zone '{name}', which is not known here") from None


def shown(moment: datetime, zone: tzinfo) -> str:
    """One of nbgrader's times, formatted in a time zone."""
    return moment.replace(tzinfo=UTC).astimezone(zone).strftime("%Y-%m-%d %H:%M %Z")


def day_and_time(moment: datetime, zone: tzinfo) -> str:
    """One of nbgrader's times for a sentence, such as ``4 Dec, 23:59 CET``."""
    local = moment.replace(tzinfo=UTC).astimezone(zone)
    return f"{local.day} {local:%b, %H:%M %Z}"


def _days(number: int, word: str = "day") -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


# ------------------------------------------------------------------ the file


def read_policy(room: Path, chapters: Sequence[str]) -> Policy:
    """Read a classroom's policy; without a file, being late costs nothing.

    Args:
        room: the classroom.
        chapters: the chapters of the class, which the file may name.

    Raises:
        ClassroomError: the file cannot be used.
    """
    path = room / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Policy()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ClassroomError(f"{path} cannot be read: {why}.") from None
    try:
        rows = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ClassroomError(
            f"{path} is not TOML: {error}. Write lines such as: grace_minutes = 10"
        ) from None
    return _Reader(path, chapters).policy(rows)


class _Reader:
    """Converts a file's rows to a policy, and reports the row that is wrong."""

    def __init__(self, path: Path, chapters: Sequence[str]) -> None:
        self.path, self.chapters = path, chapters

    def policy(self, rows: dict[str, Any]) -> Policy:
        """Convert the rows to a policy."""
        known = ("timezone", "grace_minutes", "percent_a_day", "late_days", "students")
        self._only(rows, known, "")
        students = rows.get("students", {})
        if not isinstance(students, dict):
            raise self._bad("students", "[students.ann], and below it late_days = 5")
        return Policy(
            self._zone(rows.get("timezone", "UTC")),
            timedelta(minutes=self._number(rows, "grace_minutes", "10", most=525_600)),
            self._number(rows, "percent_a_day", "10", most=100),
            self._whole(rows, "late_days", "late_days"),
            {name: self._student(name, own) for name, own in students.items()},
        )

    def _student(self, name: str, rows: Any) -> OneStudent:
        key = f"students.{name}"
        if not isinstance(rows, dict):
            raise self._bad(key, f"[{key}], and below it late_days = 5")
        self._only(rows, ("late_days", "extensions"), f"{key}.")
        days = self._whole(rows, "late_days", f"{key}.late_days") if "late_days" in rows else None
        extensions = rows.get("extensions", {})
        if not isinstance(extensions, dict):
            raise self._bad(f"{key}.extensions", 'extensions = { "03" = 2 }, in days')
        found = {}
        for word in extensions:
            days_more = self._number(
                extensions, word, "2, which are days", f"{key}.extensions.{word}", most=3650
            )
            for chapter in self._called(word, f"{key}.extensions.{word}"):
                found[chapter] = timedelta(days=days_more)
        return OneStudent(days, found)

    def _called(self, word: str, key: str) -> list[str]:
        if word == ALL:
            return [ALL]
        found = [name for name in self.chapters if is_called(name, word)]
        if not found:
            raise self._bad(key, f"one of these: {', '.join(self.chapters)}, {ALL}", "no chapter")
        return found

    def _zone(self, name: Any) -> tzinfo:
        if name == "UTC":
            return UTC
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, TypeError, OSError, AttributeError):
            what = f"{name!r} is not a time zone that this machine knows"
            raise self._bad("timezone", 'timezone = "Europe/Berlin", or "UTC"', what) from None

    def _number(
        self, rows: dict[str, Any], name: str, example: str, key: str = "", *, most: float
    ) -> float:
        value = rows.get(name, 0)
        sound = isinstance(value, int | float) and not isinstance(value, bool)
        if not sound or not 0 <= value <= most:
            what = f"{value!r} is not a number from 0 to {most:g}"
            raise self._bad(key or name, f"{name} = {example}", what)
        return float(value)

    def _whole(self, rows: dict[str, Any], name: str, key: str) -> int:
        value = rows.get(name, 0)
        if type(value) is not int or not 0 <= value <= 3650:
            raise self._bad(key, f"{name} = 3", f"{value!r} is not a whole number from 0 to 3650")
        return value

    def _only(self, rows: dict[str, Any], known: Sequence[str], before: str) -> None:
        for name in rows:
            if name not in known:
                raise self._bad(f"{before}{name}", f"one of these: {', '.join(known)}", "no key")

    def _bad(self, key: str, write: str, what: str = "not what it must be") -> ClassroomError:
        return ClassroomError(f"{self.path}, {key}: {what}. Write {write}.")
