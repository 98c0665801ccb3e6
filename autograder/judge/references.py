"""Reference outputs: what the course's own solutions return, stored as plain data.

One file a chapter, made by ``fxcourse references`` and compared by a test. The checks read
these files; they never import a solution.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from autograder.core.codec import Plain
from autograder.core.outcome import Reference

FOLDER = Path(__file__).parents[1] / "references"


class MissingReference(LookupError):
    """No reference is stored for a case."""


@lru_cache(maxsize=32)
def _chapter(chapter: str) -> Plain:
    path = FOLDER / f"{chapter}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@lru_cache(maxsize=4096)
def reference(chapter: str, exercise: str, case: str) -> Reference:
    """The stored reference of a case.

    Raises:
        MissingReference: if there is none; the references are then out of date.
    """
    try:
        return Reference.from_json(_chapter(chapter)[exercise][case])
    except KeyError:
        raise MissingReference(
            f"No reference for {exercise!r}, case {case!r}. Run `fxcourse references`."
        ) from None


def forget() -> None:
    """Drop what was read, after the files have changed."""
    _chapter.cache_clear()
    reference.cache_clear()
