"""Values of a learner's variables as short texts, for questions."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

LONGEST = 60
"""Characters of a text; a longer value has none."""

_PLAIN = (bool, int, float, str, type(None))
_MOST_ITEMS = 8
_MODULES = ("torch", "_operator", "builtins", "torch.nn.functional", "torch._C._nn", "math")


def plain_value(value: Any) -> str:
    """The text of a value; ``""`` for a value without a short one, such as a tensor.

    A node is its name. Sets are sorted, so that the text is the same in each process.
    """
    text = _text(value, depth=2)
    return text if len(text) <= LONGEST else ""


def _text(value: Any, depth: int) -> str:
    if type(value) in _PLAIN:
        return repr(value)
    if isinstance(value, fx.Node):
        return value.name
    if type(value) in (list, tuple, set, frozenset, dict):
        return _container(value, depth) if depth and len(value) <= _MOST_ITEMS else ""
    return _function(value)


def _container(value: Any, depth: int) -> str:
    if type(value) is dict:
        pairs = [(_text(k, depth - 1), _text(v, depth - 1)) for k, v in value.items()]
        if not all(all(pair) for pair in pairs):
            return ""
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    items = [_text(item, depth - 1) for item in value]
    if not all(items):
        return ""
    if type(value) is list:
        return f"[{', '.join(items)}]"
    if type(value) is tuple:
        return f"({', '.join(items)}{',' * (len(items) == 1)})"
    return "{" + ", ".join(sorted(items)) + "}" if items else "set()"


def _function(value: Any) -> str:
    """The name of a function of PyTorch or Python, as a learner writes it."""
    home, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not callable(value) or not isinstance(name, str) or isinstance(value, fx.Proxy):
        return ""
    if getattr(operator, name, None) is value:
        return f"operator.{name}"
    if getattr(torch, name, None) is value:
        return f"torch.{name}"
    if getattr(torch.nn.functional, name, None) is value:
        return f"F.{name}"
    return name if home in _MODULES else ""
