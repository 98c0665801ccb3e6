"""Writes imported submissions to ``submitted``, and keeps everything that was there before.

A later submission is never replaced by an earlier one, and none by a later one with the same
answers. Replaced and other submissions are kept in ``.fxcourse/older/STUDENT/ASSIGNMENT``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from nbgrader.utils import parse_utc

from autograder.classroom.intake.attached_files import STAMP, files_beside
from autograder.classroom.intake.kept_versions import OLDER, folder_name, kept_versions
from autograder.classroom.lateness import same_work
from autograder.classroom.lms.path_layouts import Origin

COLLECTED = ".fxcourse/collected.jsonl"
"""The imported submissions, a line each."""


class What(StrEnum):
    """The effect of importing a submission. Programs compare these; people read them."""

    NEW = "new"
    REPLACED = "later than before"
    SAME = "there already"
    EARLIER = "earlier than what is there"
    SAME_WORK = "the same answers as before"


@dataclass(frozen=True)
class HandIn:
    """One student's submission for an assignment.

    Attributes:
        student: the student.
        assignment: the assignment.
        origin: the origin of its newest file.
        when: the time of submission; ``None`` if unknown.
        notebooks: the copies of the notebooks, by the names that they should have.
        files: the copies of other files, by their paths.
        path: the path of its newest file in the zip or the folder.
    """

    student: str
    assignment: str
    origin: Origin
    when: datetime | None
    notebooks: Mapping[str, Path]
    files: Mapping[str, Path]
    path: str


WorkOf = Callable[[str, bytes], str]
"""Computes the digest of the answers in a file, for an assignment; empty if that is impossible."""


def compare_nothing(assignment: str, data: bytes) -> str:
    """A `WorkOf` with which all answers differ."""
    return ""


class Keeper:
    """Writes submissions into a classroom.

    Args:
        room: the classroom.
        source: the name of the zip or the folder.
        packed: the latest date of a file in it.
        work_of: computes digests of answers.
    """

    def __init__(
        self,
        room: Path,
        source: str,
        packed: datetime | None,
        work_of: WorkOf = compare_nothing,
    ) -> None:
        self.room, self.source, self.packed = room, source, packed
        self._work_of = work_of
        self._last = {(one.get("student"), one.get("assignment")): one for one in records(room)}

    def put(self, hand_in: HandIn, others: Sequence[tuple[datetime | None, bytes]] = ()) -> What:
        """Write a student's folder, unless the existing one is the same or later.

        Args:
            hand_in: the submission.
            others: times and notebooks of other versions that came with it.
        """
        final = self.room / "submitted" / hand_in.student / hand_in.assignment
        there = os.path.lexists(final)
        if there and _is_same(hand_in, final):
            if hand_in.when and not (final / STAMP).exists():
                (final / STAMP).write_text(stamp(hand_in.when))
            self._note(hand_in)
            return What.SAME
        is_earlier = there and self._is_earlier(hand_in, final)
        if there and self._is_same_work(hand_in, final, others):
            self._keep_time(hand_in, final, is_earlier=is_earlier)
            return What.SAME_WORK
        if is_earlier:
            self._keep_notebooks(hand_in)
            return What.EARLIER
        self._replace(hand_in, final)
        self._note(hand_in)
        return What.REPLACED if there else What.NEW

    def _keep_time(self, hand_in: HandIn, final: Path, *, is_earlier: bool) -> None:
        """Of two versions with the same answers, put the earlier one, and keep the other."""
        whose = hand_in.student, hand_in.assignment
        told, there = same_work.find(self.room, *whose), self.time_there(hand_in)
        times = [time_of(told.again) if told else None, there, hand_in.when]
        if is_earlier:
            self._replace(hand_in, final)
        else:
            self._keep_notebooks(hand_in)
            self._note(hand_in)
        again = max(filter(None, times), default=None)
        counts = hand_in.when if is_earlier else there
        digest = same_work.digest_of_submitted(self.room, *whose)
        texts = [stamp(moment) if moment else "" for moment in (again, counts)]
        same_work.note(self.room, same_work.SameWork(*whose, digest, *texts))

    def _keep_notebooks(self, hand_in: HandIn) -> None:
        for name, copy in hand_in.notebooks.items():
            self.keep(hand_in, f"{name}.ipynb", copy.read_bytes(), hand_in.when)

    def _replace(self, hand_in: HandIn, final: Path) -> None:
        """Write a student's folder, and keep the existing one."""
        final.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix="collecting-", dir=self.room / ".fxcourse"))
        try:
            _fill(building, hand_in, final)
            if os.path.lexists(final):
                before = time_of(_read_stamp(final)) or _changed(final)
                os.replace(final, self._free(hand_in, before))
            os.replace(building, final)
        finally:
            shutil.rmtree(building, ignore_errors=True)

    def _is_same_work(
        self, hand_in: HandIn, final: Path, others: Sequence[tuple[datetime | None, bytes]]
    ) -> bool:
        """Whether the existing submission has the same answers, and none between has others."""
        name = hand_in.assignment
        path = final / f"{name}.ipynb"
        if set(hand_in.notebooks) != {name} or path.is_symlink() or not path.is_file():
            return False
        if {n: copy.read_bytes() for n, copy in hand_in.files.items()} != files_beside(final)[0]:
            return False
        work = self._work_of(name, hand_in.notebooks[name].read_bytes())
        if not work or work != self._work_of(name, path.read_bytes()):
            return False
        times = sorted(filter(None, (self.time_there(hand_in), hand_in.when)))
        kept = kept_versions(self.room, hand_in.student, name)
        versions = [*others, *((when, path.read_bytes()) for when, path in kept)]
        return all(
            self._work_of(name, data) == work
            for when, data in versions
            if when is None or (len(times) == 2 and times[0] < when < times[1])
        )

    def time_there(self, hand_in: HandIn) -> datetime | None:
        """The time of the existing submission; ``None`` if unknown."""
        return time_of(_read_stamp(self.room / "submitted" / hand_in.student / hand_in.assignment))

    def keep(self, hand_in: HandIn, name: str, data: bytes, when: datetime | None) -> None:
        """Keep a file that a later one replaces; repeated calls keep one copy."""
        home = self.room / OLDER / hand_in.student / hand_in.assignment
        for path in home.glob("*/*.ipynb"):
            if path.stat().st_size == len(data) and path.read_bytes() == data:
                return
        folder = self._free(hand_in, when)
        folder.mkdir(mode=0o700)
        fits = len(name.encode()) <= 200
        (folder / (name if fits else f"{hand_in.assignment}.ipynb")).write_bytes(data)

    def _is_earlier(self, hand_in: HandIn, final: Path) -> bool:
        """Whether the existing submission is later than this one."""
        record = self._last.get((hand_in.student, hand_in.assignment), {})
        serial = record.get("serial")
        if hand_in.origin.serial and serial and record.get("platform") == hand_in.origin.platform:
            return bool(serial > hand_in.origin.serial)
        before = time_of(_read_stamp(final))
        if before is None or hand_in.when is None:
            before = time_of(record.get("packed", "")) or before or _changed(final)
            now = self.packed or hand_in.when
        else:
            now = hand_in.when
        return bool(before and now and before > now)

    def _free(self, hand_in: HandIn, when: datetime | None) -> Path:
        """The path of a new folder for an earlier submission, named after its time."""
        home = self.room / OLDER / hand_in.student / hand_in.assignment
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = folder_name(when)
        number, path = 1, home / name
        while os.path.lexists(path):
            number += 1
            path = home / f"{name}_{number}"
        return path

    def _note(self, hand_in: HandIn) -> None:
        origin, digest = hand_in.origin, hashlib.sha256()
        for name, copy in sorted(hand_in.notebooks.items()):
            digest.update(name.encode() + copy.read_bytes())
        line = {
            "student": hand_in.student,
            "assignment": hand_in.assignment,
            "platform": origin.platform,
            "name": origin.name,
            "number": origin.number,
            "serial": origin.serial,
            "late": origin.late,
            "when": stamp(hand_in.when) if hand_in.when else "",
            "packed": stamp(self.packed) if self.packed else "",
            "from": f"{self.source}: {hand_in.path}"[:500],
            "sha256": digest.hexdigest(),
        }
        before = self._last.get((hand_in.student, hand_in.assignment))
        self._last[hand_in.student, hand_in.assignment] = line
        if before and all(before.get(key) == line[key] for key in line if key != "from"):
            return
        with (self.room / COLLECTED).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _fill(building: Path, hand_in: HandIn, final: Path) -> None:
    if final.is_dir() and not final.is_symlink():  # notebooks that were not submitted again
        for old in final.glob("*.ipynb"):
            if old.stem not in hand_in.notebooks and old.is_file() and not old.is_symlink():
                shutil.copyfile(old, building / old.name)
    for name, copy in hand_in.files.items():
        path = building / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(copy, path)
    for name, copy in hand_in.notebooks.items():
        shutil.copyfile(copy, building / f"{name}.ipynb")
    if hand_in.when:
        (building / STAMP).write_text(stamp(hand_in.when))


def _is_same(hand_in: HandIn, final: Path) -> bool:
    for name, copy in hand_in.notebooks.items():
        path = final / f"{name}.ipynb"
        if path.is_symlink() or not path.is_file() or path.read_bytes() != copy.read_bytes():
            return False
    return True


def time_of(text: str) -> datetime | None:
    """Parse nbgrader's notation of a time; ``None`` if it is not a time."""
    try:
        return parse_utc(text.strip()[:100]).replace(tzinfo=UTC) if text.strip() else None
    except (ValueError, OverflowError, TypeError):
        return None


def stamp(when: datetime) -> str:
    """A time in nbgrader's notation."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _read_stamp(folder: Path) -> str:
    path = folder / STAMP
    if path.is_symlink() or not path.is_file():
        return ""
    return path.read_bytes()[:200].decode("utf-8", "replace")


def _changed(folder: Path) -> datetime | None:
    """The last change of the notebooks in a folder; used if no record has a time."""
    times = [path.lstat().st_mtime for path in folder.glob("*.ipynb")] if folder.is_dir() else []
    return datetime.fromtimestamp(max(times), UTC) if times else None


def records(room: Path) -> list[dict[str, Any]]:
    """The imported submissions, oldest first."""
    path = room / COLLECTED
    found = []
    for line in path.read_text("utf-8", "replace").splitlines() if path.exists() else []:
        try:
            record = json.loads(line)
        except ValueError:
            continue  # the line was cut off when the machine stopped
        if isinstance(record, dict):
            found.append(record)
    return found
