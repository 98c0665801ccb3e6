"""Job of a child process, and its result. Both sides import this; it imports nothing heavy."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """A file to check.

    Attributes:
        exercise: the exercise.
        file: the file with the answer.
        result: the file for the result.
        page: the file for the page with the picture.
        keys: whether the session reads keys, so that a card can name them.
        lines: how many lines the terminal has for the card.
    """

    exercise: str
    file: str
    result: str
    page: str
    keys: bool = True
    lines: int = 20


@dataclass(frozen=True)
class Result:
    """The result of checking a file.

    Attributes:
        status: the status of the verdict.
        card: the card as text.
        hints: the hints of the exercise as text, in order.
        debrief: other right answers, as text; ``""`` if there are none or they may not be shown.
        parts: the parts of the exercise with their results, as text; ``""`` if there are none.
    """

    status: str
    card: str
    hints: list[str] = field(default_factory=list)
    debrief: str = ""
    parts: str = ""

    def write(self, path: Path) -> None:
        """Write the result, completely or not at all."""
        beside = path.with_suffix(".part")
        beside.write_text(json.dumps(asdict(self)), encoding="utf-8")
        os.replace(beside, path)

    @classmethod
    def read(cls, path: Path) -> Result | None:
        """Read a result; ``None`` if none was written."""
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
