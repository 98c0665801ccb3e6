"""Earlier versions of a student's work, which a classroom keeps next to the one that counts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

OLDER = ".fxcourse/older"
"""The folder of earlier submissions; below it ``STUDENT/ASSIGNMENT/TIME``."""

_TIME = "%Y-%m-%d_%H%M%S"
_LENGTH = len("2026-12-01_235900")


def folder_name(when: datetime | None) -> str:
    """The name of the folder of a version; a number may follow."""
    return when.astimezone(UTC).strftime(_TIME) if when else "undated"


def kept_versions(
    room: Path, student: str, assignment: str
) -> Iterator[tuple[datetime | None, Path]]:
    """The time of each version, ``None`` if unknown, and its notebook."""
    for path in sorted((room / OLDER / student / assignment).glob("*/*.ipynb")):
        try:
            when = datetime.strptime(path.parent.name[:_LENGTH], _TIME).replace(tzinfo=UTC)
        except ValueError:
            when = None
        if path.is_file() and not path.is_symlink():
            yield when, path
