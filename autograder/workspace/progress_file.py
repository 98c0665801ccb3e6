"""A learner's record: one small file for each workspace, never written during grading."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from autograder.lessons.record_status import SEEN, after_verdict, is_passed
from autograder.workspace import location

NAME = ".fxcourse-progress.json"
"""The file if there is no workspace; it is next to the notebook."""

IN_WORKSPACE = "progress.json"
"""The file in the state folder of a workspace."""

_PICKS = "predictions"
"""A key of the file that is not an exercise: first picks, by the prediction's mark."""

_DRILLS = "drills"
"""Another such key: the marks of the drills that were passed."""

_FAILURES = "failures"
"""Another such key: for each exercise, digests of the different answers that have failed."""

MOST_FAILURES = 9
"""Maximum number of failed answers that count for an exercise."""


def is_grading() -> bool:
    """Whether nbgrader runs this notebook, to grade or to validate it."""
    return bool(os.environ.get("NBGRADER_EXECUTION"))


def path(workspace: Path | None = None) -> Path:
    """The path of the file, which may not exist.

    Args:
        workspace: its workspace; by default the current one.
    """
    workspace = workspace or location.current()
    if workspace is None:
        return Path.cwd() / NAME
    return workspace / location.STATE / IN_WORKSPACE


def verdicts(workspace: Path | None = None) -> dict[str, str]:
    """The status of each exercise that was tried; empty if the file cannot be read."""
    return {name: status for name, status in _read(workspace).items() if isinstance(status, str)}


def first_picks(workspace: Path | None = None) -> dict[str, str]:
    """The first letter that the learner picked, by the prediction's mark."""
    picks = _table(_read(workspace), _PICKS)
    return {mark: letter for mark, letter in picks.items() if isinstance(letter, str)}


def record_verdict(exercise: str, status: str) -> None:
    """Record the status of an exercise. An exercise that was passed stays passed."""
    done = _read()
    after = after_verdict(done.get(exercise), status)
    if after != done.get(exercise):
        _write({**done, exercise: after})


def note_seen(exercise: str) -> None:
    """Note that the solution of an exercise was shown before a pass."""
    done = _read()
    if not is_passed(done.get(exercise)):
        _write({**done, exercise: SEEN})


def note_failure(exercise: str, answer: str) -> None:
    """Note that an answer has failed, unless the same answer is noted already.

    Args:
        exercise: the exercise's name.
        answer: a digest of the answer.
    """
    done, noted = _read(), failures(exercise)
    if answer not in noted and len(noted) < MOST_FAILURES:
        every = _table(done, _FAILURES)
        _write({**done, _FAILURES: {**every, exercise: [*noted, answer]}})


def failures(exercise: str) -> list[str]:
    """The digests of the different answers that have failed."""
    noted = _table(_read(), _FAILURES).get(exercise)
    return [each for each in noted if isinstance(each, str)] if isinstance(noted, list) else []


def note_pick(mark: str, letter: str) -> str:
    """Note a pick, unless there is one already. Returns the first pick."""
    picks = first_picks()
    if mark not in picks:
        picks[mark] = letter
        _write({**_read(), _PICKS: picks})
    return picks[mark]


def passed_drills(workspace: Path | None = None) -> set[str]:
    """The marks of the drills that were passed."""
    noted = _read(workspace).get(_DRILLS)
    return {each for each in noted if isinstance(each, str)} if isinstance(noted, list) else set()


def note_drill(mark: str) -> None:
    """Note that a drill was passed."""
    passed = passed_drills()
    if mark not in passed:
        _write({**_read(), _DRILLS: sorted({*passed, mark})})


def _read(workspace: Path | None = None) -> dict[str, Any]:
    try:
        data = json.loads(path(workspace).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _table(done: dict[str, Any], key: str) -> dict[str, Any]:
    found = done.get(key)
    return found if isinstance(found, dict) else {}


def _write(done: dict[str, Any]) -> None:
    if is_grading():
        return
    home = path()
    temporary = home.with_name(f"{home.name}.{os.getpid()}")
    try:
        # Atomically: half a file could not be read, and the whole record would be lost.
        temporary.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        os.replace(temporary, home)
    except OSError:
        # If the folder is not writable, only this note is lost.
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
