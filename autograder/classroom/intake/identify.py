"""Identifies the notebook of a class in a file by its grade ids, whatever the file's name.

The search uses the file's bytes without parsing JSON. Submissions are decoded only in a sandbox,
and even a truncated file can be identified.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from autograder.classroom.intake.release_history import KEPT

_GRADE_ID = re.compile(rb'"grade_id"\s*:\s*"([^"\\\n]{1,200})"')
"""A key of an object in JSON. In a text, such as a cell's source, the quotes have backslashes."""


Key = TypeVar("Key")


class Known(NamedTuple):
    """A notebook that was released.

    Attributes:
        assignment: its assignment.
        notebook: its own name, without ``.ipynb``.
    """

    assignment: str
    notebook: str


def known_notebooks(room: Path) -> dict[Known, frozenset[str]]:
    """The grade ids of all notebooks of a class, from every released version."""
    found: dict[Known, set[str]] = {}
    for place in ("source", "release"):
        for path in sorted((room / place).glob("*/*.ipynb")):
            ids = grade_ids(path.read_bytes())
            found.setdefault(Known(path.parent.name, path.stem), set()).update(ids)
    kept = room / KEPT
    lines = kept.read_text("utf-8", "replace").splitlines() if kept.exists() else []
    for line in lines:
        try:
            version = json.loads(line)
            key = Known(version["assignment"], version["notebook"])
            given = {str(cell["name"]) for cell in version["cells"]}
        except (ValueError, TypeError, KeyError):
            continue  # the line was cut off when the machine stopped
        if key in found:
            found[key] |= given
    return {key: frozenset(ids) for key, ids in found.items()}


def recognise(text: bytes, name: str, known: Mapping[Known, frozenset[str]]) -> Known | None:
    """Identify a file among the known notebooks; ``None`` if no notebook, or several, match best.

    Args:
        text: the file's bytes.
        name: the file's name; used if the grade ids do not decide.
        known: the result of `known_notebooks`.
    """
    likely, most = most_alike(text, known)
    if most and len(likely) == 1:
        return likely[0]
    named = [key for key in likely if _is_named(key.notebook, name)]
    longest = max((len(key.notebook) for key in named), default=0)
    named = [key for key in named if len(key.notebook) == longest]
    return named[0] if len(named) == 1 else None


def most_alike(text: bytes, known: Mapping[Key, Collection[str]]) -> tuple[list[Key], int]:
    """The notebooks with the most grade ids in common with a file, and the number of these ids."""
    own = grade_ids(text)
    shared = {key: len(own.intersection(ids)) for key, ids in known.items()}
    most = max(shared.values(), default=0)
    return [key for key, count in shared.items() if count == most], most


def grade_ids(text: bytes) -> frozenset[str]:
    """The grade ids in a notebook's file."""
    return frozenset(found.decode("utf-8", "replace") for found in _GRADE_ID.findall(text))


def _is_named(notebook: str, name: str) -> bool:
    """Whether a file's name contains the notebook's name, as ``01_tracing (1).ipynb`` does."""
    return re.search(rf"(?<!\w){re.escape(notebook)}(?![^\W_])", Path(name).name) is not None
