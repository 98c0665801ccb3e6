"""The versions of PyTorch and Python that the course was tried with: ``tried_versions.json``."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

FULLY = "all tests"
"""The remark on a version with which all tests were run."""


@cache
def tried(what: str) -> dict[str, str]:
    """Return the tests that were run with each version of ``torch`` or ``python``."""
    text = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)[what]
    return found


def remark_on_torch(version: str) -> str:
    """Return a line about a version of PyTorch that was not fully tried, else ``""``.

    Builds such as ``+cpu`` are the same version.
    """
    plain = version.partition("+")[0]
    remark = tried("torch").get(plain, "")
    if remark == FULLY:
        return ""
    known = " and ".join(name for name, ran in tried("torch").items() if ran == FULLY)
    if remark:
        return f"The course was tested with PyTorch {known}. With {plain}, only {remark} were run."
    return (
        f"The course was tested with PyTorch {known}, and not with {plain}, which is installed "
        "here. It will probably work."
    )


@cache
def name_other_torch() -> None:
    """Print that line to stderr, once in a process."""
    import torch

    remark = remark_on_torch(torch.__version__)
    if remark:
        print(f"fxcourse: {remark}", file=sys.stderr)
