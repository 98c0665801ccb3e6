"""Faster imports of many modules, and the imports that all fork servers share.

This module does not import PyTorch, because the process with the gradebook uses it.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

_GRAMMAR = "rfc3987_syntax"

FOR_CARDS = ("triton", "cuda.bindings")
"""A compiler for graphics cards, and a binding to a card's driver."""

COMMON = ("nbformat", "nbconvert.preprocessors", "IPython.core.interactiveshell")
"""Modules that the fork servers import in addition to PyTorch."""


@contextmanager
def faster_imports() -> Iterator[None]:
    """Import without garbage collection, and without a grammar that is not needed.

    `jsonschema` can check formats that no schema of a notebook contains. For that, it imports a
    package with the grammar of internationalized addresses. Without the package, `jsonschema` does
    not check these formats. Without this context, an import of `nbformat` and `nbconvert` takes 5.2
    times as long (2026-11-30).
    """
    modules = cast("dict[str, object]", sys.modules)
    hidden, enabled = _GRAMMAR not in modules, gc.isenabled()
    if hidden:
        modules[_GRAMMAR] = None  # Python then does not find the module
    gc.disable()
    try:
        yield
    finally:
        if hidden:
            del modules[_GRAMMAR]
        if enabled:
            gc.freeze()
            gc.enable()


def import_common() -> None:
    """Import the modules that all fork servers need, in the process that they are forked from.

    Students' processes are forked from it too, so none of these modules contains an answer. Some
    builds of PyTorch import modules for graphics cards, which takes a tenth of the time. A sandbox
    has no card, and builds for processors work without these modules.
    """
    for name in FOR_CARDS:
        cast("dict[str, object]", sys.modules)[name] = None  # Python then does not find the module
    with faster_imports():
        for name in COMMON:
            importlib.import_module(name)
    from autograder.speed.warm_up import import_late, import_torchvision, start_autograd

    start_autograd()
    import_torchvision()
    import_late()
