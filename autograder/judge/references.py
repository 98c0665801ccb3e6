"""Stored references: what must come of the cases that no oracle knows, as plain data.

They lie beside an exercise's answer key, in ``references.jsonl``, one case a line. They are made
from the course's solutions by ``fxcourse references``, and compared by a test. The checks read
these files; they never import a solution.
"""

from __future__ import annotations

import importlib
import json
from functools import lru_cache
from pathlib import Path

from autograder.core.codec import Plain

FILE = "references.jsonl"


class MissingReference(LookupError):
    """Nobody knows what must come of a case."""


def path_of(module: str) -> Path:
    """Where the references lie that belong to an answer key.

    Args:
        module: the name of the module that holds the key.
    """
    return Path(str(importlib.import_module(module).__file__)).with_name(FILE)


@lru_cache(maxsize=256)
def stored(module: str) -> dict[str, Plain]:
    """What is stored beside an answer key, by the case's name; see `Reference.to_json`.

    Args:
        module: the name of the module that holds the key.
    """
    path = path_of(module)
    if not path.exists():
        return {}
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row.pop("case"): row for row in rows}


def forget() -> None:
    """Drop what was read, after a file has changed."""
    stored.cache_clear()
