"""Saves the state of a classroom before the last run that wrote something, so it can be undone."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.classroom.lateness.reveals import NAME as REVEALS
from autograder.classroom.records.gradebook_copy import content_of, copy_to, restore
from autograder.environment.errors import ClassroomError

NAME = "last_run"
GROWING = ("journal.jsonl", "second_looks.jsonl", "comments.jsonl", REVEALS)
"""Files to which a run appends lines."""


class LastRun:
    """Saves data before a run replaces it.

    Nothing is saved until the run writes for the first time. So a run without changes does not
    discard the saved state of the run before it.

    Args:
        room: the classroom.
        home: its folder of internal files.
        db_url: its gradebook.
    """

    def __init__(self, room: Path, home: Path, db_url: str) -> None:
        self.room, self.db_url = room, db_url
        self.home = home / NAME
        self.growing = [home / name for name in GROWING]
        self._began = False

    def begin(self) -> None:
        """Save gradebook and journal, unless this run has done so already."""
        if self._began:
            return
        building = self.home.with_name(f".{NAME}-new")
        for old in (building, self.home):
            shutil.rmtree(old, ignore_errors=True)
        building.mkdir(parents=True)
        copy_to(self.db_url, building / "gradebook.db")
        sizes = {one.name: one.stat().st_size if one.exists() else 0 for one in self.growing}
        began = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
        _write(
            building,
            {
                "sizes": sizes,
                "began": began,
                "after": "",
                "book": _mark_of(self.db_url),
            },
        )
        building.rename(self.home)
        self._began = True

    def size_before(self, name: str) -> int:
        """The size that a file had before the last run; 0 if no run is kept."""
        if not (self.home / "state.json").is_file():
            return 0
        return int(_read(self.home)["sizes"].get(name, 0))

    def put_away(self, student: str, chapter: str) -> None:
        """Save a graded folder before it is replaced, or record that there was none."""
        self.begin()
        now = self.room / "autograded" / student / chapter
        kept = self.home / "autograded" / student / chapter
        if kept.exists():
            shutil.rmtree(now, ignore_errors=True)
        elif now.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            now.rename(kept)
        else:
            with (self.home / "new.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps([student, chapter]) + "\n")

    def end(self) -> None:
        """Record the gradebook's digest at the end of the run."""
        if self._began:
            state = _read(self.home)
            _write(self.home, state | {"after": content_of(self.db_url)})

    def undo(self, *, force: bool = False) -> tuple[str, int]:
        """Restore the state of the classroom before the run.

        If it is interrupted, call it again.

        Args:
            force: undo even if the gradebook has changed since.

        Returns:
            The time at which the undone run began, and the number of graded notebooks that were
            restored or removed.

        Raises:
            ClassroomError: there is nothing to undo, or it would undo more than the run.
        """
        if not (self.home / "state.json").is_file():
            raise ClassroomError(
                "No run is kept: none has written anything yet, or the last one was undone."
            )
        state = _read(self.home)
        if state.get("book") != _mark_of(self.db_url):
            raise ClassroomError(
                "The last run wrote into another gradebook. Name it: "
                "fxcourse classroom undo DIR --db URL"
            )
        if not force and not state.get("undoing"):
            self._look_for_changes(str(state.get("after", "")))
        _write(self.home, state | {"undoing": True})
        count = self._put_back()
        restore(self.home / "gradebook.db", self.db_url)
        for one in self.growing:
            if one.exists():
                size = int(state["sizes"].get(one.name, 0))  # an earlier version knew fewer files
                os.truncate(one, min(size, one.stat().st_size))
        done = self.home.with_name(f".{NAME}-undone")
        shutil.rmtree(done, ignore_errors=True)
        self.home.rename(done)
        shutil.rmtree(done, ignore_errors=True)
        return str(state["began"]), count

    def _look_for_changes(self, after: str) -> None:
        if not after:
            raise ClassroomError(
                "The last run was stopped before its end. What was graded by hand since would be "
                "lost, too. If nothing was: fxcourse classroom undo DIR --force"
            )
        if after != content_of(self.db_url):
            raise ClassroomError(
                "The gradebook has changed since the last run: points or comments by hand, due "
                "dates, or other grades. They would be lost, too. If they may be: "
                "fxcourse classroom undo DIR --force"
            )

    def _put_back(self) -> int:
        graded, count = self.room / "autograded", 0
        for student, chapter in _new_ones(self.home / "new.jsonl"):
            shutil.rmtree(graded / student / chapter, ignore_errors=True)
            count += 1
        for kept in sorted((self.home / "autograded").glob("*/*")):
            now = graded / kept.parent.name / kept.name
            shutil.rmtree(now, ignore_errors=True)
            kept.rename(now)
            count += 1
        for folder in graded.glob("*"):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        return count


def _mark_of(db_url: str) -> str:
    """An identifier of a gradebook; a digest, because the address may contain a password."""
    return hashlib.sha256(db_url.encode()).hexdigest()


def _new_ones(path: Path) -> list[list[str]]:
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue  # the line was cut off, so its folder had not been written yet
    return found


def _read(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / "state.json").read_text(encoding="utf-8"))
    return found


def _write(home: Path, state: dict[str, Any]) -> None:
    path = home / "state.json"
    building = path.with_suffix(".new")
    building.write_text(json.dumps(state), encoding="utf-8")
    building.rename(path)
