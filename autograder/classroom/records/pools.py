"""Chooses the pool of random models: the current one for new work, the original one for regrades.

After a feedback page has been made of a notebook, students may know models of its pool. So later
submissions are tested on another pool. Work that was graded before keeps its pool, so that a grade
can be reproduced. A run that continues after being killed finds the pool that it had.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from autograder.submission.seeds import pool_of

KEPT = ".fxcourse/pools.jsonl"
"""The file of a classroom: a line for each graded submission, and for each retired pool."""


class Pools:
    """The pools of a class.

    Args:
        room: the classroom.
        secret: the secret from which the pools are drawn.
    """

    def __init__(self, room: Path, secret: str) -> None:
        self._path, self._secret = room / KEPT, secret
        self._used: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        self._over: set[tuple[str, int]] = set()
        self._read()

    def now(self, chapter: str) -> int:
        """The number of the pool for new work: the first one that no feedback page has shown."""
        numbers = (pool_of(self._secret, chapter, turn) for turn in itertools.count())
        return next(number for number in numbers if (chapter, number) not in self._over)

    def used(self, student: str, chapter: str) -> dict[str, int]:
        """The pools of a student's earlier submissions, by `code_of`, latest last."""
        return dict(self._used.get((student, chapter), {}))

    def note(self, student: str, chapter: str, code: str, pool: int) -> None:
        """Record the pool on which a submission was tested."""
        if self._used[student, chapter].get(code) != pool:
            self._add({"student": student, "chapter": chapter, "code": code, "pool": pool})

    def page_made(self, student: str, chapter: str) -> None:
        """Retire the pools of a student's submissions, whose models a feedback page now shows."""
        for pool in sorted(set(self.used(student, chapter).values())):
            if (chapter, pool) not in self._over:
                self._add({"chapter": chapter, "over": pool})

    def _add(self, row: dict[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # A line that was cut off when the machine stopped must not spoil this one.
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" * (file.tell() > 0) + json.dumps(row))
        self._apply(row)

    def _read(self) -> None:
        if not self._path.exists():
            return
        for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                self._apply(json.loads(line))
            except (ValueError, TypeError, KeyError):
                continue

    def _apply(self, row: dict[str, Any]) -> None:
        if "over" in row:
            self._over.add((str(row["chapter"]), int(row["over"])))
            return
        used = self._used[str(row["student"]), str(row["chapter"])]
        used.pop(str(row["code"]), None)  # keeps the latest submission last
        used[str(row["code"])] = int(row["pool"])
