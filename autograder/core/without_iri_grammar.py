"""Leaves out a grammar that is compiled while `nbformat` is imported, which takes most of a second.

`jsonschema` offers to check formats that no schema of a notebook asks for, and looks for a package
that knows the grammar of internationalized addresses. Without the package it does not offer that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

_GRAMMAR = "rfc3987_syntax"


@contextmanager
def without_iri_grammar() -> Iterator[None]:
    """Within this, the package with the grammar is not found, unless it is there already."""
    if _GRAMMAR in sys.modules:
        yield
        return
    modules = cast("dict[str, object]", sys.modules)
    modules[_GRAMMAR] = None  # Python's own way to say that a module is not to be found
    try:
        yield
    finally:
        del modules[_GRAMMAR]
