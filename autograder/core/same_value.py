"""The first difference between two values: numbers, texts, nodes, tensors, and what holds them."""

from __future__ import annotations

import math
from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from typing import Any

from autograder.core.node_label import shorten

MOST = 120
"""How many characters of a value are shown."""


def first_difference(value: Any, expected: Any) -> str:
    """Where a value first differs from the expected one, as a sentence; ``""`` if nowhere.

    Nodes are compared by identity, tensors by dtype, shape and values, numbers up to rounding. A
    list may be any other ordered collection, and a set may be the keys of a dictionary.

    Args:
        value: the learner's.
        expected: of a right answer.
    """
    return _difference(_plain(value), _plain(expected), "Your value")


def _plain(value: Any) -> Any:
    """A value without the kinds of collections that count as the same."""
    if isinstance(value, str | bytes | Mapping) or _is_tensor(value):
        return dict(value) if isinstance(value, Mapping) else value
    if isinstance(value, set | frozenset):
        return set(value)
    return list(value) if _is_ordered(value) else value


def _is_ordered(value: Any) -> bool:
    """Whether this is a list, tuple, view or iterator, and nothing that happens to be iterable."""
    known = (list, tuple, range, KeysView, ValuesView, ItemsView, map, filter, zip)
    return isinstance(value, known) or type(value).__name__ in ("generator", "_node_list")


def _difference(value: Any, expected: Any, where: str) -> str:
    value, expected = _plain(value), _plain(expected)
    if value is expected:
        return ""
    if isinstance(value, list | set) and isinstance(expected, set):
        return _between_sets(value, expected, where)
    if isinstance(value, list) and isinstance(expected, list):
        return _between_lists(value, expected, where)
    if isinstance(value, dict) and isinstance(expected, dict):
        return _between_tables(value, expected, where)
    if _is_tensor(value) and _is_tensor(expected):
        return _between_tensors(value, expected, where)
    if _is_number(value) and _is_number(expected):
        same = type(value) is type(expected) and math.isclose(value, expected, rel_tol=1e-6)
        same = same or (value != value and expected != expected)
        return "" if same else _told(value, expected, where)
    return "" if _is_equal(value, expected) else _told(value, expected, where)


def _between_lists(value: list[Any], expected: list[Any], where: str) -> str:
    for at, (one, other) in enumerate(zip(value, expected, strict=False)):
        if found := _difference(one, other, f"Item {at}"):
            return found
    if len(value) == len(expected):
        return ""
    wanted = f"{len(expected)} {'is' if len(expected) == 1 else 'are'} expected"
    if len(value) > len(expected):
        wanted += f": {_shown(value[len(expected)])} is too many"
    return f"{where} has {_items(value)}, and {wanted}."


def _between_sets(value: list[Any] | set[Any], expected: set[Any], where: str) -> str:
    if missing := [one for one in expected if one not in value]:
        return f"{where} does not have {_shown(missing[0])}."
    if more := [one for one in value if one not in expected]:
        return f"{where} has {_shown(more[0])}, which is not expected."
    return ""


def _items(value: list[Any]) -> str:
    return "1 item" if len(value) == 1 else f"{len(value)} items"


def _between_tables(value: dict[Any, Any], expected: dict[Any, Any], where: str) -> str:
    for key in [*expected, *value]:
        if key not in value:
            return f"{where} has no key {_shown(key)}."
        if key not in expected:
            return f"{where} has the key {_shown(key)}, which is not expected."
        if found := _difference(value[key], expected[key], f"The value of {_shown(key)}"):
            return found
    return ""


def _between_tensors(value: Any, expected: Any, where: str) -> str:
    for what in ("dtype", "shape"):
        mine, wanted = getattr(value, what), getattr(expected, what)
        if mine != wanted:
            return f"{where} has the {what} `{mine}`, and `{wanted}` is expected."
    same = ((value == expected) | ((value != value) & (expected != expected))).all()
    return "" if bool(same) else f"{where} has other numbers than expected."


def _told(value: Any, expected: Any, where: str) -> str:
    mine, wanted = _shown(value), _shown(expected)
    if mine == wanted:
        mine, wanted = (f"{text} ({type(one).__name__})" for text, one in
                        ((mine, value), (wanted, expected)))  # fmt: skip
    return f"{where} is {mine}, and {wanted} is expected."


def _shown(value: Any) -> str:
    return f"`{shorten(repr(value), MOST)}`"


def _is_equal(value: Any, expected: Any) -> bool:
    if isinstance(value, bool) != isinstance(expected, bool):
        return False
    try:
        return bool(value == expected)
    except Exception:
        return False  # an object of the learner's own, which cannot be compared


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_tensor(value: Any) -> bool:
    """Whether this is a tensor. PyTorch is not imported for it."""
    return type(value).__module__.startswith("torch") and hasattr(value, "dtype") and (
        hasattr(value, "shape")
    )  # fmt: skip
