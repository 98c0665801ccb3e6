"""From which pools a class's random models come: of what is new, and of what was graded before.

Once a feedback page has been made of a notebook, students may know models of its pool: whatever is
handed in from then on is tried on another pool. What was graded before keeps its own, so that a
grade can be repeated. A run that goes on after it was killed finds the pool that it had.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from autograder.submission.seeds import pool_of

KEPT = ".fxcourse/pools.jsonl"
"""The file in a classroom: a line for each hand-in that was graded, and each pool that is over."""


class Pools:
    """The pools of a class.

    Args:
        room: the classroom.
        secret: what they are drawn from.
    """

    def __init__(self, room: Path, secret: str) -> None:
        self._path, self._secret = room / KEPT, secret
        self._used: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        self._over: set[tuple[str, int]] = set()
        self._read()

    def now(self, chapter: str) -> int:
        """The number of the pool for what is new: the first of which no page has been made."""
        numbers = (pool_of(self._secret, chapter, turn) for turn in itertools.count())
        return next(number for number in numbers if (chapter, number) not in self._over)

    def used(self, student: str, chapter: str) -> dict[str, int]:
        """The pools on which a student's earlier hand-ins were tried, by `code_of`, latest last."""
        return dict(self._used.get((student, chapter), {}))

    def note(self, student: str, chapter: str, code: str, pool: int) -> None:
        """Keep on which pool a hand-in was tried."""
        if self._used[student, chapter].get(code) != pool:
            self._add({"student": student, "chapter": chapter, "code": code, "pool": pool})

    def page_made(self, student: str, chapter: str) -> None:
        """Keep that a page shows what a student's hand-in was tried on: these pools are over."""
        for pool in sorted(set(self.used(student, chapter).values())):
            if (chapter, pool) not in self._over:
                self._add({"chapter": chapter, "over": pool})

    def _add(self, row: dict[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # A line that was cut off when the machine stopped must not spoil this one.
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" * (file.tell() > 0) + json.dumps(row))
        self._take(row)

    def _read(self) -> None:
        if not self._path.exists():
            return
        for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError):
                continue

    def _take(self, row: dict[str, Any]) -> None:
        if "over" in row:
            self._over.add((str(row["chapter"]), int(row["over"])))
            return
        used = self._used[str(row["student"]), str(row["chapter"])]
        used.pop(str(row["code"]), None)  # the latest is the last
        used[str(row["code"])] = int(row["pool"])
