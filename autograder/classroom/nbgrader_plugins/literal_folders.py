"""Lets nbgrader find folders of students whose ids contain brackets, without reading patterns."""

from __future__ import annotations

import glob
import os
from types import SimpleNamespace

from nbgrader.converters import base


def find(pattern: str) -> list[str]:
    """Find files as `glob.glob` does, but treat the name of an existing folder literally."""
    folder, name = os.path.split(pattern)
    if os.path.isdir(folder):
        folder = glob.escape(folder)
    return glob.glob(os.path.join(folder, name))


def use() -> None:
    """Make nbgrader's converters find notebooks with `find`."""
    base.glob = SimpleNamespace(glob=find)
