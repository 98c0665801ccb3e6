"""The versions of PyTorch and Python that the course was tried with: ``tried_versions.json``."""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

FULLY = "all tests"
"""The remark on a version with which all tests were run."""


@cache
def tried(what: str) -> dict[str, str]:
    """Return the tests that were run with each version of ``torch`` or ``python``."""
    text = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)[what]
    return found


def remark_on_torch(version: str) -> str:
    """Return a line about a version of PyTorch outside the range that was tried, else ``""``.

    A release such as 2.14 has several versions, and one of them is enough. Builds such as ``+cpu``
    are the same version.
    """
    versions = sorted(map(Version, tried("torch")))
    if versions[0].release[:2] <= Version(version).release[:2] <= versions[-1].release[:2]:
        return ""
    return (
        f"The course was tried with PyTorch {versions[0]} to {versions[-1]}, and not with "
        f"{version.partition('+')[0]}, which is installed here. It will probably work."
    )


def remark_on_reload(loaded: str, installed: str) -> str:
    """Return a line if a process uses another PyTorch than the installed one, else ``""``."""
    if Version(loaded).public == Version(installed).public:
        return ""
    return (
        f"This notebook still uses PyTorch {loaded}, but {installed} is installed now. "
        "Restart the kernel."
    )


def remark_on_torchvision(torch: str) -> str:
    """Return a line if the installed torchvision needs another PyTorch, else ``""``.

    It reads the requirements of torchvision, which is not imported.
    """
    try:
        lines, vision = metadata.requires("torchvision"), metadata.version("torchvision")
    except metadata.PackageNotFoundError:
        return ""
    needs = next((r for r in map(Requirement, lines or ()) if r.name == "torch"), None)
    if needs is None or needs.specifier.contains(torch, prereleases=True):
        return ""
    return (
        f"torchvision {vision} needs torch{needs.specifier}, and PyTorch {torch} is installed. "
        "Install both again, in one command: pip install --upgrade torch torchvision"
    )


@cache
def remark_on_versions() -> None:
    """Print the first of these lines to stderr, once in a process, but never where nbgrader runs.

    Checks run all the same.
    """
    if os.environ.get("NBGRADER_EXECUTION"):
        return
    import torch

    loaded = str(torch.__version__)
    remark = (
        remark_on_reload(loaded, _installed(loaded))
        or remark_on_torch(loaded)
        or remark_on_torchvision(loaded)
    )
    if remark:
        print(f"fxcourse: {remark}", file=sys.stderr)


def _installed(loaded: str) -> str:
    """The version of PyTorch in its metadata, if it has some."""
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return loaded
