"""What a learner has done so far: one small file a workspace; never written while grading."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from autograder.lessons.record_status import SEEN, after_verdict, is_passed
from autograder.workspace import location

NAME = ".fxcourse-progress.json"
"""The file where there is no workspace: it lies beside the notebook."""

IN_WORKSPACE = "progress.json"
"""The file in the state folder of a workspace."""

_PICKS = "predictions"
"""A key of the file that is not an exercise: first picks, by the prediction's mark."""

_DRILLS = "drills"
"""Another such key: the marks of the drills that were passed."""

_FAILURES = "failures"
"""Another such key: for each exercise, digests of the different answers that have failed."""

MOST_FAILURES = 9
"""How many failed answers of an exercise are counted."""


def is_grading() -> bool:
    """Whether nbgrader runs this notebook, to grade or to validate it."""
    return bool(os.environ.get("NBGRADER_EXECUTION"))


def path(workspace: Path | None = None) -> Path:
    """Where the file is, or would be.

    Args:
        workspace: the workspace that it belongs to; by default the current one.
    """
    workspace = workspace or location.current()
    if workspace is None:
        return Path.cwd() / NAME
    return workspace / location.STATE / IN_WORKSPACE


def verdicts(workspace: Path | None = None) -> dict[str, str]:
    """How each exercise went that was tried; nothing, where no file can be read."""
    return {name: status for name, status in _read(workspace).items() if isinstance(status, str)}


def first_picks(workspace: Path | None = None) -> dict[str, str]:
    """The letter that was picked first, by the prediction's mark."""
    picks = _table(_read(workspace), _PICKS)
    return {mark: letter for mark, letter in picks.items() if isinstance(letter, str)}


def record_verdict(exercise: str, status: str) -> None:
    """Note how an exercise went. What was passed once stays passed."""
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
    """Note that an answer has failed, unless it is one of those that have.

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
    """Note a pick, unless there is one already. Returns the first."""
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
    beside = home.with_name(f"{home.name}.{os.getpid()}")
    try:
        # Whole or not at all: half a file would be read as nothing, and everything noted be lost.
        beside.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        os.replace(beside, home)
    except OSError:
        # A folder that cannot be written to costs the learner only this note.
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
