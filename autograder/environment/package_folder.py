"""The folder of the installed package."""

from __future__ import annotations

from pathlib import Path

PACKAGE_FOLDER = Path(__file__).parents[1]
"""The folder `autograder`."""
