"""Stored references: what must come of the cases that no oracle knows, as plain data.

They lie beside an exercise's answer key, one case a line: in ``references.jsonl``, and those of
hidden cases in ``references_hidden.jsonl``, which a wheel leaves out: the first file then only
names them. They are made from the course's solutions by ``fxcourse references``, and compared by a
test. The checks read these files; they never import a solution.
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
    """Nobody knows what must come of a case."""


def path_of(module: str, *, hidden: bool = False) -> Path:
    """Where the references lie that belong to an answer key.

    Args:
        module: the name of the module that holds the key.
        hidden: those of hidden cases.
    """
    file = HIDDEN_REFERENCES if hidden else REFERENCES
    return Path(str(importlib.import_module(module).__file__)).with_name(file)


@lru_cache(maxsize=256)
def stored(module: str) -> dict[str, dict[str, JsonValue]]:
    """What is stored beside an answer key, by the case's name; see `Reference.to_json`.

    It is empty for a hidden case whose reference is not installed.

    Args:
        module: the name of the module that holds the key.

    Raises:
        MissingReference: a file holds something else.
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
    """The lines of a file of references, one for each case; none where there is no such file."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def forget() -> None:
    """Drop what was read, after a file has changed."""
    stored.cache_clear()
