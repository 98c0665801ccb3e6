"""Statements of the course that hold for some versions of PyTorch: ``torch_changes.json``.

No other file compares versions of PyTorch. The places that make a statement name its versions too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packaging.version import Version


@dataclass(frozen=True)
class Statement:
    """A statement that holds for some versions of PyTorch.

    Attributes:
        says: the statement.
        changed: the change in PyTorch that begins or ends it.
        told: the places that tell it: ``bug NAME``, ``question NUMBER``, ``CHAPTER: SECTION``.
        since: the first version for which it holds; ``""`` for all before `until`.
        until: the first version for which it no longer holds; ``""`` for all from `since`.
    """

    says: str
    changed: str
    told: tuple[str, ...]
    since: str = ""
    until: str = ""


@cache
def statements() -> tuple[Statement, ...]:
    """All statements that hold for some versions only."""
    rows = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return tuple(Statement(**row | {"told": tuple(row["told"])}) for row in rows)


def holds(since: str = "", until: str = "", version: str = "") -> bool:
    """Whether something holds for a version of PyTorch; by default, for the one that is loaded.

    Builds and previews of a version, such as ``2.15.0.dev20261101+cpu``, count as this version.

    Args:
        since: the first version for which it holds; ``""`` for no limit.
        until: the first version for which it no longer holds; ``""`` for no limit.
        version: a version of PyTorch.
    """
    if not (since or until):
        return True
    release = Version(version or loaded()).release
    after = not since or release >= Version(since).release
    return after and not (until and release >= Version(until).release)


def loaded() -> str:
    """The version of the PyTorch that this process uses."""
    import torch

    return str(torch.__version__)
