"""Writes imported submissions to ``submitted``, and keeps everything that was there before.

A later submission is never replaced by an earlier one. Replaced and earlier submissions are kept in
``.fxcourse/older/STUDENT/ASSIGNMENT``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from nbgrader.utils import parse_utc

from autograder.classroom.intake.attached_files import STAMP
from autograder.classroom.lms.path_layouts import Origin

COLLECTED = ".fxcourse/collected.jsonl"
"""The imported submissions, a line each."""

OLDER = ".fxcourse/older"
"""The folder of earlier submissions."""


class What(StrEnum):
    """The effect of importing a submission. Programs compare these; people read them."""

    NEW = "new"
    REPLACED = "later than before"
    SAME = "there already"
    EARLIER = "earlier than what is there"


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


class Keeper:
    """Writes submissions into a classroom.

    Args:
        room: the classroom.
        source: the name of the zip or the folder.
        packed: the latest date of a file in it.
    """

    def __init__(self, room: Path, source: str, packed: datetime | None) -> None:
        self.room, self.source, self.packed = room, source, packed
        self._last = {(one.get("student"), one.get("assignment")): one for one in records(room)}

    def put(self, hand_in: HandIn) -> What:
        """Write a student's folder, unless the existing one is the same or later."""
        final = self.room / "submitted" / hand_in.student / hand_in.assignment
        there = os.path.lexists(final)
        if there and _is_same(hand_in, final):
            if hand_in.when and not (final / STAMP).exists():
                (final / STAMP).write_text(stamp(hand_in.when))
            self._note(hand_in)
            return What.SAME
        if there and self._is_earlier(hand_in, final):
            for name, copy in hand_in.notebooks.items():
                self.keep(hand_in, f"{name}.ipynb", copy.read_bytes(), hand_in.when)
            return What.EARLIER
        final.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix="collecting-", dir=self.room / ".fxcourse"))
        try:
            _fill(building, hand_in, final)
            if there:
                before = time_of(_read_stamp(final)) or _changed(final)
                os.replace(final, self._free(hand_in, before))
            os.replace(building, final)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        self._note(hand_in)
        return What.REPLACED if there else What.NEW

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
        name = when.astimezone(UTC).strftime("%Y-%m-%d_%H%M%S") if when else "undated"
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
