"""What plain data looks like, in checks that are put together from smaller ones.

A check takes a value and gives the place within it of the first thing that does not fit, ``""``
for the value itself, or ``None`` if all of it fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from autograder.core.codec import Plain

Check = Callable[[Any], str | None]


def first(places: Iterable[str | None]) -> str | None:
    """The first place of several checks, if any has one."""
    return next((place for place in places if place is not None), None)


def of_type(*kinds: type) -> Check:
    """A value of exactly one of these types."""
    return lambda value: None if type(value) in kinds else ""


def text(value: Any) -> str | None:
    """Text that says something."""
    return None if type(value) is str and value else ""


nothing = of_type(type(None))
any_text, flag, whole = of_type(str), of_type(bool), of_type(int)


def either(*checks: Check) -> Check:
    """What fits one of the checks."""

    def check(value: Any) -> str | None:
        place = None
        for one in checks:
            place = one(value)
            if place is None:
                break
        return place

    return check


def both(check: Check, more: Check) -> Check:
    """What fits a check, and then another one that relies on the first."""

    def check_both(value: Any) -> str | None:
        place = check(value)
        return more(value) if place is None else place

    return check_both


def rows(check: Check, count: int | None = None, at_most: float = math.inf) -> Check:
    """A list of values that all fit; of so many, or of no more than so many, where one knows."""

    def check_all(value: Any) -> str | None:
        if type(value) is not list or count not in (None, len(value)) or len(value) > at_most:
            return ""
        for i, item in enumerate(value):
            place = check(item)
            if place is not None:
                return f"[{i}]{place}"
        return None

    return check_all


def table(check: Check) -> Check:
    """A dictionary from text to values that all fit."""

    def check_all(value: Any) -> str | None:
        if type(value) is not dict or not all(type(key) is str for key in value):
            return ""
        for name, item in value.items():
            place = check(item)
            if place is not None:
                return f".{name}{place}"
        return None

    return check_all


def fields(optional: dict[str, Check] | None = None, /, **required: Check) -> Check:
    """A dictionary with exactly the required fields, and perhaps the optional ones."""
    known = {**(optional or {}), **required}

    def check_all(value: Any) -> str | None:
        if type(value) is not dict or not value.keys() <= known.keys():
            return ""
        if not required.keys() <= value.keys():
            return f".{next(name for name in required if name not in value)}"
        for name, item in value.items():
            place = known[name](item)
            if place is not None:
                return f".{name}{place}"
        return None

    return check_all


def _below(name: str, place: str | None) -> str | None:
    return None if place is None else f".{name}{place}"


_SCALARS = (type(None), bool, int, float, str)


def plain(tensors: int) -> Check:
    """Plain data as an `Encoder` writes it, beside a table of so many tensors."""

    def check(value: Plain) -> str | None:
        if type(value) in _SCALARS:
            return None
        if type(value) is not dict or len(value) != 1:
            return ""
        ((kind, body),) = value.items()
        return _below(kind, kinds[kind](body)) if kind in kinds else ""

    kinds: dict[str, Check] = {
        "tensor": lambda body: None if type(body) is int and 0 <= body < tensors else "",
        "float": any_text,
        "complex": rows(any_text, 2),
        "slice": rows(check, 3),
        "range": rows(whole, 3),
        "ellipsis": whole,
        "dict": rows(rows(check, 2)),
        "node": of_type(int, str),
        **dict.fromkeys(("list", "tuple", "set"), rows(check)),
        **dict.fromkeys(("torch", "device", "function", "unlisted", "case", "opaque"), any_text),
        **dict.fromkeys(("foreign", "erased"), any_text),
    }
    return check
