"""The versions with which a class was made, and their differences from the installed ones."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.classroom.records import course_digest

FILE = ".fxcourse/versions.json"
CHECKS = "the course's checks"


PIN = (
    "What other versions have graded is graded again. `fxcourse classroom pin DIR` makes the ones "
    "here those of the class."
)
"""Advice for classes whose versions differ."""


def numbers() -> dict[str, str]:
    """The installed versions of the course and of the libraries that decide grades."""
    return {name: course_digest.number(name) for name in ("fxcourse", *course_digest.LIBRARIES)}


def installed() -> dict[str, str]:
    """The installed versions that decide grades: of the course, its checks, and its libraries."""
    return numbers() | {CHECKS: course_digest.code()[:12]}


def pin(room: Path) -> dict[str, str]:
    """Record the installed versions as those of the class."""
    path, now = room / FILE, installed()
    path.parent.mkdir(exist_ok=True)
    building = path.with_suffix(".new")
    building.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    building.replace(path)
    return now


def differences(room: Path) -> list[str]:
    """The versions that differ from those with which the class was made; a sentence each."""
    pinned, now = _pinned(room), installed()
    if not pinned:
        return []
    return [
        f"{name[0].upper()}{name[1:]} changed since this class was made ({was}, now {now[name]})."
        if name == CHECKS
        else f"This class was made with {name} {was}; here it is {now[name]}."
        for name, was in pinned.items()
        if name in now and now[name] != was
    ]


def is_pinned(room: Path) -> bool:
    """Whether the class has recorded the versions with which it was made."""
    return bool(_pinned(room))


def _pinned(room: Path) -> dict[str, str]:
    try:
        found = json.loads((room / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}
