"""Work that was handed in again with the same answers: the earlier time counts.

Each note is about the notebook that is in ``submitted`` at the time. So it expires when another
file replaces it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from autograder.classroom.lateness.deadlines import NoTime, Policy, day_and_time, in_utc
from autograder.classroom.lateness.penalties import Stamp, read_stamp

FILE = ".fxcourse/same_work.jsonl"
"""The notes of a classroom, a line each."""


@dataclass(frozen=True)
class SameWork:
    """A note about one student's work of a chapter.

    Attributes:
        student: the student's id.
        chapter: the chapter.
        sha256: a digest of the file in ``submitted``.
        again: the time of the last submission with these answers; empty if it is unknown.
        counts: the time that counts; empty if it is unknown.
    """

    student: str
    chapter: str
    sha256: str
    again: str
    counts: str

    @property
    def stamp(self) -> Stamp:
        """The time that counts."""
        return Stamp(self.counts, _time(self.counts))

    def sentence(self, zone: tzinfo) -> str:
        """The note in words, for the student."""
        again, counts = _time(self.again), _time(self.counts)
        if again is None or counts is None:
            return "Handed in again with the same answers: your earlier hand-in counts."
        days = [_day(moment, zone) for moment in (again, counts)]
        if days[0] == days[1]:
            days = [day_and_time(moment, zone) for moment in (again, counts)]
        return (
            f"Handed in again on {days[0]} with the same answers: your hand-in of {days[1]} counts."
        )


def find(room: Path, student: str, chapter: str) -> SameWork | None:
    """The note about the work that is in ``submitted`` now."""
    digest = digest_of_submitted(room, student, chapter)
    own = [one for one in _read(room) if (one.student, one.chapter) == (student, chapter)]
    return own[-1] if own and digest and own[-1].sha256 == digest else None


def note(room: Path, one: SameWork) -> None:
    """Add a note, unless it is there already."""
    if one != find(room, one.student, one.chapter):
        path = room / FILE
        path.parent.mkdir(mode=0o700, exist_ok=True)
        # A line that was cut off when the machine stopped must not spoil this one.
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * (file.tell() > 0) + json.dumps(asdict(one)))


def digest_of_submitted(room: Path, student: str, chapter: str) -> str:
    """The digest of a student's notebook in ``submitted``; empty if there is none."""
    path = room / "submitted" / student / chapter / f"{chapter}.ipynb"
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stamp_that_counts(
    room: Path, student: str, chapter: str, folder: Path, policy: Policy
) -> Stamp | None:
    """The time of a submission from its ``timestamp.txt``, or the earlier one that counts.

    Args:
        room: the classroom.
        student: the student's id.
        chapter: the chapter.
        folder: the folder with the file.
        policy: the policy of the class.
    """
    stamp = read_stamp(folder, policy)
    if stamp is None or stamp.at is None:
        return stamp
    one = find(room, student, chapter)
    is_again = one is not None and stamp.at == _time(one.again)
    return one.stamp if one and is_again and one.counts else stamp


def written(moment: datetime | None) -> str:
    """One of nbgrader's times as text; empty if it is unknown."""
    return f"{moment.replace(tzinfo=None):%Y-%m-%d %H:%M:%S.%f} UTC" if moment else ""


def _time(text: str) -> datetime | None:
    try:
        return in_utc(text, UTC)
    except NoTime:
        return None


def _day(moment: datetime, zone: tzinfo) -> str:
    return day_and_time(moment, zone).partition(",")[0]


def _read(room: Path) -> list[SameWork]:
    path = room / FILE
    found = []
    for line in path.read_text("utf-8", "replace").splitlines() if path.exists() else []:
        try:
            found.append(SameWork(**json.loads(line)))
        except (ValueError, TypeError):
            continue  # the line was cut off
    return found
