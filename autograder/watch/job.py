"""What a child is asked to do, and what it says; known to both sides, and nothing heavy in it."""

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
        result: where to write what came of it.
        page: where to write the page with the picture.
        keys: whether there are keys to speak of.
    """

    exercise: str
    file: str
    result: str
    page: str
    keys: bool = True


@dataclass(frozen=True)
class Result:
    """What came of checking a file.

    Attributes:
        status: how it went, as a verdict says it.
        card: the card as text.
        hints: the hints of the exercise as text, in their order.
        debrief: what there is to compare a right answer with; ``""`` where there is nothing.
    """

    status: str
    card: str
    hints: list[str] = field(default_factory=list)
    debrief: str = ""

    def write(self, path: Path) -> None:
        """Write it whole or not at all."""
        beside = path.with_suffix(".part")
        beside.write_text(json.dumps(asdict(self)), encoding="utf-8")
        os.replace(beside, path)

    @classmethod
    def read(cls, path: Path) -> Result | None:
        """What was written; nothing where nothing was."""
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
