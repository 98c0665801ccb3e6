"""The code objects of functions and classes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any


def codes_of(value: Any) -> Iterator[CodeType]:
    """The code of a function or of a class's methods, and all code nested inside it.

    A decorated function is followed by the function that it wraps.
    """
    parts = list(vars(value).values()) if isinstance(value, type) else [value]
    for part in parts:
        inner = inspect.unwrap(part) if callable(part) else part
        for each in (part,) if inner is part else (part, inner):
            code = getattr(each, "__code__", None)
            if isinstance(code, CodeType):
                yield from _nested(code)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
