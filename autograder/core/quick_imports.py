"""Imports modules by the hundred in half the time.

`jsonschema` offers to check formats that no schema of a notebook asks for, and looks for a package
that knows the grammar of internationalized addresses, which is compiled while `nbformat` is
imported: most of a second. Without the package it does not offer that. And Python looks for garbage
again and again while modules are imported, which stay.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

_GRAMMAR = "rfc3987_syntax"


@contextmanager
def quick_imports() -> Iterator[None]:
    """Within this, the package with the grammar is not found, unless it is there already, and
    nobody looks for garbage."""
    modules = cast("dict[str, object]", sys.modules)
    hidden, looked = _GRAMMAR not in modules, gc.isenabled()
    if hidden:
        modules[_GRAMMAR] = None  # Python's own way to say that a module is not to be found
    gc.disable()
    try:
        yield
    finally:
        if hidden:
            del modules[_GRAMMAR]
        if looked:
            gc.freeze()
            gc.enable()
