"""A journal of graded submissions, from which an interrupted grading run continues."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from autograder.classroom.records.course_digest import code, course, libraries
from autograder.submission.result import Result

JOURNAL = ".fxcourse/journal.jsonl"
"""The path of the journal in a classroom."""


CHANGED = "changed: "
"""The beginning of a reason for regrading; a list of the changed parts follows."""

THE_NOTEBOOK = "the notebook"
"""The part that changes when a student submits again."""


THE_FILES = "the files next to it"
"""The part that contains the other submitted files."""


class Journal:
    """The journal of a classroom: an append-only file.

    A line is a result as JSON, and the digest of everything that it depends on.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = {(one.student, one.chapter): (one, at, p) for one, at, p in _read(path)}
        self._end_checked = False

    def add(self, result: Result, digest: str, parts: Mapping[str, str] | None = None) -> None:
        """Add the result of a submission; it is on disk when this method returns.

        Args:
            result: the result.
            digest: a digest of everything that the result depends on.
            parts: digests of the parts of that, by name.
        """
        if not self._end_checked:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            _terminate_last_line(self._path)
            self._end_checked = True
        parts = dict(parts or {})
        with self._path.open("a", encoding="utf-8") as file:
            line = result.to_json() | {"digest": digest, "parts": parts}
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._last[result.student, result.chapter] = result, digest, parts

    def why_again(self, student: str, chapter: str, parts: Mapping[str, str]) -> str:
        """Explain why this run grades a submission."""
        if (student, chapter) not in self._last:
            return "not graded before"
        before = self._last[student, chapter][2]
        if not before:
            return "the notebook or the course has changed"
        changed = [name for name, digest in parts.items() if before.get(name) != digest]
        return f"{CHANGED}{', '.join(changed)}" if changed else "graded once more"

    def parts(self, student: str, chapter: str) -> Mapping[str, str]:
        """The recorded digests of the parts of a submission; empty if there are none."""
        return self._last[student, chapter][2] if (student, chapter) in self._last else {}

    def results(self) -> list[Result]:
        """The last result of each submission, whether or not the submission has changed since."""
        return [replace(found, in_this_run=False) for found, _, _ in self._last.values()]

    def find(self, student: str, chapter: str, digest: str) -> Result | None:
        """The result of a submission; `None` if the submission has changed since."""
        found, at, _ = self._last.get((student, chapter), (None, "", None))
        return replace(found, in_this_run=False) if found is not None and at == digest else None


def _read(path: Path) -> Iterator[tuple[Result, str, dict[str, str]]]:
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            data = json.loads(line)
            result, parts = Result.from_json(data), data.get("parts")
            yield result, str(data["digest"]), parts if isinstance(parts, dict) else {}
        except (ValueError, KeyError):
            continue  # the line was cut off when the machine stopped


def _terminate_last_line(path: Path) -> None:
    """Terminate a last line that was cut off, so that the next line starts on its own."""
    if path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n"):
        with path.open("a", encoding="utf-8") as file:
            file.write("\n")


def digest_of(*parts: object) -> str:
    """A digest of everything that a grade depends on, including the course."""
    found = hashlib.sha256(course().encode())
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode()
        found.update(len(data).to_bytes(8, "big") + data)
    return found.hexdigest()


def parts_of(text: bytes, files: object, key: bytes, config: object) -> dict[str, str]:
    """Digests of the parts that a grade depends on, by names that people read."""
    found = {
        THE_NOTEBOOK: text,
        THE_FILES: repr(files).encode(),
        "the chapter, or how it is graded": repr((key, config)).encode(),
        "the course's code": code().encode(),
        "the versions of its libraries": libraries().encode(),
    }
    return {name: hashlib.sha256(part).hexdigest()[:16] for name, part in found.items()}
