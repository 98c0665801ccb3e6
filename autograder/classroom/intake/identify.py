"""Says which notebook of a class a file is: by its grade ids, whatever it is called.

A file's bytes are searched, and not read as JSON: what a student has handed in is decoded in a box
only, and a file that was cut off still says what it is.
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
    """A notebook that was given out.

    Attributes:
        assignment: the assignment that it belongs to.
        notebook: its own name, without ``.ipynb``.
    """

    assignment: str
    notebook: str


def known_notebooks(room: Path) -> dict[Known, frozenset[str]]:
    """The grade ids of all notebooks of a class, in every version that was given out."""
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
            continue  # a line that was cut off when the machine stopped
        if key in found:
            found[key] |= given
    return {key: frozenset(ids) for key, ids in found.items()}


def recognise(text: bytes, name: str, known: Mapping[Known, frozenset[str]]) -> Known | None:
    """Which of the known notebooks a file is; ``None`` for none, or where two are as likely.

    Args:
        text: the file's bytes.
        name: what the file is called; asked where the grade ids do not decide.
        known: the notebooks, as `known_notebooks` gives them.
    """
    likely, most = most_alike(text, known)
    if most and len(likely) == 1:
        return likely[0]
    named = [key for key in likely if _is_named(key.notebook, name)]
    longest = max((len(key.notebook) for key in named), default=0)
    named = [key for key in named if len(key.notebook) == longest]
    return named[0] if len(named) == 1 else None


def most_alike(text: bytes, known: Mapping[Key, Collection[str]]) -> tuple[list[Key], int]:
    """Which notebooks have most grade ids in common with a file, and how many."""
    own = grade_ids(text)
    shared = {key: len(own.intersection(ids)) for key, ids in known.items()}
    most = max(shared.values(), default=0)
    return [key for key, count in shared.items() if count == most], most


def grade_ids(text: bytes) -> frozenset[str]:
    """The grade ids that a notebook's file holds."""
    return frozenset(found.decode("utf-8", "replace") for found in _GRADE_ID.findall(text))


def _is_named(notebook: str, name: str) -> bool:
    """Whether a file's name, such as ``01_tracing (1).ipynb``, has the notebook's name in it."""
    return re.search(rf"(?<!\w){re.escape(notebook)}(?![^\W_])", Path(name).name) is not None
