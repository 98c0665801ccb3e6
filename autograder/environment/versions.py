"""Versions of the course and of its environment, and the page where bugs are reported."""

from __future__ import annotations

import platform
from importlib import metadata

DISTRIBUTION = "fxcourse"


def version_line() -> str:
    """The versions of the course, of Python and of PyTorch, which is not imported."""
    course, torch = _version(DISTRIBUTION), _version("torch")
    return f"{DISTRIBUTION} {course}, Python {platform.python_version()}, torch {torch}"


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def issues_page() -> str:
    """The address of the page of issues, from the package's metadata."""
    return _address("Issues") or "the project's page of issues"


def help_page() -> str:
    """The address of the help page; empty while the project has no owner."""
    folder = _address("Documentation").rpartition("/")[0]
    return f"{folder}/help.md" if folder and "/OWNER/" not in folder else ""


def _address(label: str) -> str:
    try:
        addresses = metadata.metadata(DISTRIBUTION).get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    by_label: dict[str, str] = dict(line.split(", ", 1) for line in addresses)
    return by_label.get(label, "")
