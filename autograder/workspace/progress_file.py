"""A learner's record of progress, never written during grading.

A workspace has a record of its own. Everything outside of workspaces, such as an assignment that
was fetched with nbgrader, has one record in the state folder, so that nothing is next to the
notebook that is handed in. In a workspace, both records count; outside, that of the default
workspace counts too.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import IO, Any

from autograder.environment.file_lock import lock
from autograder.lessons.record_status import SEEN, after_verdict, better_of, is_passed
from autograder.workspace import location
from autograder.workspace.class_wheel import this_class

NAME = "progress.json"
"""The file in the state folder of a workspace. In the learner's own state folder, it has a record
for each class."""

OLD_NAME = ".fxcourse-progress.json"
"""The file next to a notebook outside of workspaces, in version 0.1."""

LOCK_SECONDS = 2.0
"""Seconds to wait for another process that writes the same record."""

_CLASSROOM = "nbgrader_config.py"
_PICKS = "predictions"
"""A key of a record that is not an exercise: first picks, by the prediction's mark."""

_DRILLS = "drills"
"""Another such key: the marks of the drills that were passed."""

_FAILURES = "failures"
"""Another such key: for each exercise, digests of the different answers that have failed."""

MOST_FAILURES = 9
"""Maximum number of failed answers that count for an exercise."""


def is_grading() -> bool:
    """Whether nbgrader runs this notebook, to grade or to validate it."""
    return bool(os.environ.get("NBGRADER_EXECUTION"))


def verdicts(workspace: Path | None = None) -> dict[str, str]:
    """The status of each exercise that was tried; empty if the file cannot be read."""
    return {name: status for name, status in _read(workspace).items() if isinstance(status, str)}


def first_picks(workspace: Path | None = None) -> dict[str, str]:
    """The first letter that the learner picked, by the prediction's mark."""
    picks = _table(_read(workspace), _PICKS)
    return {mark: letter for mark, letter in picks.items() if isinstance(letter, str)}


def record_verdict(exercise: str, status: str) -> None:
    """Record the status of an exercise. An exercise that was passed stays passed."""
    _change(lambda done: {exercise: after_verdict(done.get(exercise), status)})


def note_seen(exercise: str) -> None:
    """Note that the solution of an exercise was shown before a pass."""
    _change(lambda done: {} if is_passed(done.get(exercise)) else {exercise: SEEN})


def note_failure(exercise: str, answer: str) -> None:
    """Note that an answer has failed, unless the same answer is noted already.

    Args:
        exercise: the exercise's name.
        answer: a digest of the answer.
    """

    def note(done: dict[str, Any]) -> dict[str, Any]:
        every = _table(done, _FAILURES)
        noted = _texts(every.get(exercise))
        if answer in noted or len(noted) >= MOST_FAILURES:
            return {}
        return {_FAILURES: {**every, exercise: [*noted, answer]}}

    _change(note)


def failures(exercise: str) -> list[str]:
    """The digests of the different answers that have failed."""
    return _texts(_table(_read(), _FAILURES).get(exercise))


def note_pick(mark: str, letter: str) -> str:
    """Note a pick, unless there is one already. Returns the first pick."""
    _change(lambda done: {_PICKS: {mark: letter, **_table(done, _PICKS)}})
    return first_picks().get(mark, letter)


def passed_drills(workspace: Path | None = None) -> set[str]:
    """The marks of the drills that were passed."""
    return {*_texts(_read(workspace).get(_DRILLS))}


def note_drill(mark: str) -> None:
    """Note that a drill was passed."""
    _change(lambda done: {_DRILLS: sorted({*_texts(done.get(_DRILLS)), mark})})


# ------------------------------------------------------------------ records


@dataclass(frozen=True)
class Record:
    """A record on disk.

    Attributes:
        path: its file, which may not exist.
        key: the key of the record in a file with several; empty if the file is the record.
    """

    path: Path
    key: str = ""

    def read(self) -> dict[str, Any]:
        """The record; empty if it cannot be read."""
        try:
            return self._of(_load(self.path) or {})
        except OSError:
            return {}

    def write(self, done: dict[str, Any]) -> None:
        """Write the record. If that is not possible, only this change is lost."""
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            location.make_private(self.path.parent)
            every = _load(self.path)
            if every is None:  # damaged; a person may be able to read it
                stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S-%f")
                os.replace(self.path, self.path.with_name(f"{self.path.name}.{stamp}.unreadable"))
            text = json.dumps({**(every or {}), self.key: done} if self.key else done, indent=1)
            # Atomically: half a file could not be read, and the whole record would be lost.
            temporary.write_text(text + "\n", encoding="utf-8")
            os.replace(temporary, self.path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _of(self, data: dict[str, Any]) -> dict[str, Any]:
        return _table(data, self.key) if self.key else data


def in_workspace(workspace: Path) -> Record:
    """The record of a workspace."""
    return Record(workspace / location.STATE / NAME)


def outside() -> Record:
    """The record of everything that is outside of workspaces, for this class."""
    return Record(location.state_folder() / NAME, this_class().id)


def take_over() -> None:
    """Move the record of an earlier version next to the notebook into the state folder.

    It stays where it is in a classroom, because there it belongs to a student, and if the state
    folder cannot be written.
    """
    old = _old()
    if old is None or is_grading():
        return
    new = outside()
    with _locked(new.path):
        if done := old.read():
            merged = _merged(new.read(), done)
            new.write(merged)
            if new.read() == merged and old.read() == done:
                with contextlib.suppress(OSError):
                    old.path.unlink()


def _records(workspace: Path | None = None) -> list[Record]:
    """The record of a workspace, or of the working directory; then others that count too."""
    home = workspace or location.entered()
    if home is not None:
        return [in_workspace(home), outside()]
    default, old = location.default(), _old()
    return [outside(), *([in_workspace(default)] if default else []), *([old] if old else [])]


def _old() -> Record | None:
    """The record of an earlier version in the working directory, if it is the learner's own."""
    here = Path.cwd()
    if not (here / OLD_NAME).is_file() or location.entered() is not None:
        return None
    is_classroom = any((each / _CLASSROOM).is_file() for each in (here, *here.parents))
    return None if is_classroom else Record(here / OLD_NAME)


def _read(workspace: Path | None = None) -> dict[str, Any]:
    if workspace is None:
        take_over()
    return _all_of(_records(workspace))


def _change(edit: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change the record, unless another process is grading.

    Args:
        edit: gets all that is known, and returns the entries to set.
    """
    if is_grading():
        return
    take_over()
    records = _records()
    record = records[0]
    with _locked(record.path):
        changes = edit(_all_of(records))
        before = record.read()
        after = before | {key: value for key, value in changes.items() if value is not None}
        if after != before:
            record.write(after)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a record against other kernels, or continue without a lock if that is not possible."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            location.make_private(path.parent)
            file = stack.enter_context(path.with_name(f"{path.name}.lock").open("a"))
            _wait_for(file)
        yield


def _wait_for(file: IO[str]) -> None:
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return lock(file)
        except (BlockingIOError, PermissionError):  # on Unix, and on Windows
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def _load(path: Path) -> dict[str, Any] | None:
    """The content of a file; empty if there is no file, None if it is damaged."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _all_of(records: Sequence[Record]) -> dict[str, Any]:
    return reduce(_merged, (record.read() for record in records))


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """One record from two. Nothing that was passed is lost, and the first one's picks count."""
    merged = {**other, **one}
    for name, status in merged.items():
        if isinstance(status, str):
            merged[name] = better_of(*(_text(each.get(name)) for each in (one, other)))
    if _PICKS in merged:
        merged[_PICKS] = {**_table(other, _PICKS), **_table(one, _PICKS)}
    if _DRILLS in merged:
        merged[_DRILLS] = sorted({*_texts(one.get(_DRILLS)), *_texts(other.get(_DRILLS))})
    if _FAILURES in merged:
        ours, theirs = _table(one, _FAILURES), _table(other, _FAILURES)
        merged[_FAILURES] = {
            name: [*dict.fromkeys([*_texts(ours.get(name)), *_texts(theirs.get(name))])]
            for name in {**ours, **theirs}
        }
    return merged


def _table(done: dict[str, Any], key: str) -> dict[str, Any]:
    found = done.get(key)
    return found if isinstance(found, dict) else {}


def _text(found: Any) -> str | None:
    return found if isinstance(found, str) else None


def _texts(found: Any) -> list[str]:
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
