"""Class archives as platforms make them, in which one student chooses arbitrary file names."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

CHAPTER = "01_one"
STUDENTS = ("anna", "ben", "victim")
EVE = "eve"
LAYOUTS = ("moodle", "moodle without folders", "canvas", "folders")

_DATES = {name: (2026, 11, 2 + day, 10, 0, 0) for day, name in enumerate((*STUDENTS, EVE))}
_WORDS = (
    "victim", "anna", "Victim Name", "VICTIM", "eve", "submitted", "submissions", "class",
    CHAPTER, f"{CHAPTER}.ipynb", "data.csv", "timestamp.txt", "x.ipynb", "notes",
    "Victim_77_assignsubmission_file_", "victim_1_assignsubmission_file_x.ipynb",
    "x_1_assignsubmission_onlinetext", "victim_103_9_x.ipynb", "victim_LATE_3_4_y.ipynb",
    "anon_a1_5_z.ipynb", "LATE_anon_b_6_z.ipynb",
)  # fmt: skip
"""Platforms' words, names of others, and names of the course's own files."""


def notebook(text: str = "") -> bytes:
    """A notebook of the only chapter, with the grade ids that identify it."""
    cells = [{"metadata": {"nbgrader": {"grade_id": f"check-{CHAPTER}"}}, "source": [text]}]
    return json.dumps({"cells": cells, "nbformat": 4}).encode()


def classroom(home: Path) -> Path:
    """A classroom with one chapter, in an empty folder."""
    path = home / "class" / "source" / CHAPTER / f"{CHAPTER}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(notebook())
    return home / "class"


@dataclass(frozen=True)
class Hostile:
    """One student's submission.

    Attributes:
        layout: the platform that makes the class archive.
        tree: the student's files, by path.
        zipped: whether the student has zipped them.
    """

    layout: str
    tree: Mapping[str, bytes]
    zipped: bool


def drawn(random: Random) -> Hostile:
    """Draw a tree of names: platforms' words, names of others, nested zips."""
    tree = dict(_paths(random))
    if random.random() < 0.3:
        tree[f"{random.choice(_WORDS)}.zip"] = packed(dict(_paths(random)), EVE)
    return Hostile(random.choice(LAYOUTS), tree, random.random() < 0.5)


def _paths(random: Random) -> Iterable[tuple[str, bytes]]:
    for number in range(random.randint(1, 8)):
        parts = random.choices(_WORDS, k=random.randint(1, 4))
        yield "/".join(parts), notebook(f"of Eve, {number}")


def packed(entries: Mapping[str, bytes], of: str = "") -> bytes:
    """A zip in which each file's date depends on its owner, whose name begins the path."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in entries.items():
            owner = of or next(one for one in _DATES if name.lower().startswith(one))
            archive.writestr(zipfile.ZipInfo(name, _DATES[owner]), content)
    return data.getvalue()


def class_zip(one: Hostile, *, with_eve: bool) -> bytes:
    """The archive that an instructor downloads from the platform."""
    entries = {
        path: content
        for number, name in enumerate(STUDENTS)
        for path, content in _entries(one.layout, name, number, {"x.ipynb": notebook(name)})
    }
    if with_eve:
        tree = {"work.zip": packed(one.tree, EVE)} if one.zipped else one.tree
        entries.update(_entries(one.layout, EVE, len(STUDENTS), tree))
    return packed(entries)


def _entries(
    layout: str, name: str, number: int, tree: Mapping[str, bytes]
) -> Iterable[tuple[str, bytes]]:
    for serial, (path, content) in enumerate(tree.items()):
        flat = path.replace("/", "-")
        match layout:
            case "moodle":
                yield f"{name}_{number}_assignsubmission_file_/{path}", content
            case "moodle without folders":
                yield f"{name}_{number}_assignsubmission_file_{flat}", content
            case "canvas":
                yield f"{name}_{number}_{100 * number + serial}_{flat}", content
            case _:
                yield f"{name}/{path}", content
