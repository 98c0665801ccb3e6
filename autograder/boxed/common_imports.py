"""What every fork server begins with: imported once, in the process that they are forked from.

A student's process is forked from there, too, so nothing is imported here that says an answer.
"""

from __future__ import annotations

import sys
from typing import cast

from autograder.boxed.late_imports import import_late, start_autograd
from autograder.core.quick_imports import quick_imports


def begin() -> None:
    """Import what takes the longest.

    A compiler for graphics cards comes with some builds of PyTorch, and takes a tenth of the time.
    Here there is no card; the builds for processors do without it.
    """
    cast("dict[str, object]", sys.modules)["triton"] = None  # Python's way to say: not to be found
    start_autograd()
    import_late()
    import torchvision  # noqa: F401

    with quick_imports():
        import nbformat  # noqa: F401
