"""What every fork server begins with: imported once, in the process that they are forked from.

A student's process is forked from there, too, so nothing is imported here that says an answer.
"""

from __future__ import annotations

import importlib
import sys
from typing import cast

from autograder.core.quick_imports import quick_imports

FOR_CARDS = ("triton", "cuda.bindings")
"""A compiler, and what talks to a card's driver."""

COMMON = ("nbformat", "nbconvert.preprocessors", "IPython.core.interactiveshell")
"""Modules that the fork servers import besides PyTorch."""


def begin() -> None:
    """Import the modules that take the longest.

    Some builds of PyTorch import modules for graphics cards, which takes a tenth of the time.
    A sandbox has no card, and the builds for processors do without these modules.
    """
    for name in FOR_CARDS:
        cast("dict[str, object]", sys.modules)[name] = None  # Python's way to say: not to be found
    with quick_imports():
        for name in COMMON:
            importlib.import_module(name)
    from autograder.boxed.late_imports import import_late, import_torchvision, start_autograd

    start_autograd()
    import_torchvision()
    import_late()
