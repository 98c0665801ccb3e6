"""Stored references: expected results, as plain data, of the cases that have no oracle.

They are stored next to an exercise's answer key, one case a line: in ``references.jsonl``, and for
hidden cases in ``references_hidden.jsonl``. A wheel leaves out the second file, so the first one
also lists these cases by name. ``fxcourse references`` makes the files from the course's
solutions, and a test compares them. The checks read these files; they never import a solution.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from autograder.core.codec import JsonValue
from autograder.core.exercise_folder import HIDDEN_REFERENCES, REFERENCES


class MissingReference(LookupError):
    """The expected result of a case is unknown."""


def path_of(module: str, *, hidden: bool = False) -> Path:
    """The path of the references that belong to an answer key.

    Args:
        module: the name of the module that contains the key.
        hidden: return the path for hidden cases.
    """
    file = HIDDEN_REFERENCES if hidden else REFERENCES
    return Path(str(importlib.import_module(module).__file__)).with_name(file)


@lru_cache(maxsize=256)
def stored(module: str) -> dict[str, dict[str, JsonValue]]:
    """The references stored next to an answer key, by the case's name; see `Reference.to_json`.

    A hidden case whose reference is not installed has an empty entry.

    Args:
        module: the name of the module that contains the key.

    Raises:
        MissingReference: if a file contains something else.
    """
    return {
        str(row.pop("case")): row
        for hidden in (False, True)
        for row in _rows(path_of(module, hidden=hidden))
    }


def _rows(path: Path) -> Iterator[dict[str, JsonValue]]:
    for number, line in enumerate(lines_of(path), start=1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or "case" not in row:
            raise MissingReference(
                f"Line {number} of {path} is not a reference. Restore the file, or delete it and "
                "run `fxcourse references`."
            )
        yield row


def lines_of(path: Path) -> list[str]:
    """The lines of a references file, one for each case; none if the file does not exist."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def forget() -> None:
    """Clear the cache after a file has changed."""
    stored.cache_clear()
