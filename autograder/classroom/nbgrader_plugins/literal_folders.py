"""Lets nbgrader find the work of students whose ids hold brackets, which it reads as a pattern."""

from __future__ import annotations

import glob
import os
from types import SimpleNamespace

from nbgrader.converters import base


def find(pattern: str) -> list[str]:
    """Find files as `glob.glob` does; a folder that exists under its very name is not a pattern."""
    folder, name = os.path.split(pattern)
    if os.path.isdir(folder):
        folder = glob.escape(folder)
    return glob.glob(os.path.join(folder, name))


def use() -> None:
    """Have nbgrader's converters find notebooks so."""
    base.glob = SimpleNamespace(glob=find)
