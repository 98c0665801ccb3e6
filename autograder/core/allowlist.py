"""The functions, methods and module classes that may be in a graph that is run for a learner.

A graph travels from the learner's process to the judge as names. A name becomes an object again
only if it is in `core/operations.json`: operations on tensors, Python's operators, layers. A person
reviews every change of that file.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

import torch

from autograder.core.torch_private import OpOverload, OpOverloadPacket, qualified_name

_LISTED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "operations.json").read_text(encoding="utf-8")
)
FUNCTIONS = frozenset(_LISTED["functions"])
_ATEN = frozenset(_LISTED["aten"])
OPERATORS: dict[str, str] = _LISTED["operators"]
"""Operators of the course, each with the module whose import registers it."""

METHODS = {kind: frozenset(names) for kind, names in _LISTED["methods"].items()}
ATTRIBUTES = {kind: frozenset(names) for kind, names in _LISTED["attributes"].items()}
_MODULES = frozenset(_LISTED["modules"])
_TENSOR_SPACES = ("torch._tensor.Tensor", "torch.Tensor")
_CALLERS = frozenset({"operator.attrgetter", "operator.call", "operator.methodcaller"})
"""Functions of Python that run whatever they get, so they count as a learner's own code."""

_LIBRARIES = ("torch", "torchvision", "builtins", "math", "operator")


def function_name(function: Callable[..., Any]) -> str | None:
    """The importable name of a function on the list, or ``None``."""
    name = full_name(function)
    try:
        return name if name and function_of(name) is function else None
    except LookupError:
        return None


def importable_name(function: Callable[..., Any]) -> str | None:
    """The importable name of a function of PyTorch or Python, on the list or not, or ``None``."""
    name = full_name(function)
    if not name or name in _CALLERS or name.partition(".")[0] not in _LIBRARIES:
        return None
    space, _, leaf = name.rpartition(".")
    try:
        return name if getattr(_space(space), leaf, None) is function else None
    except (ImportError, AttributeError):
        return None


def full_name(function: Callable[..., Any]) -> str | None:
    """FX's name for a function, whether or not it is on the list; ``None`` if it has none."""
    try:
        name = qualified_name(function)
    except Exception:
        return None
    if not isinstance(name, str):
        return None
    if "." not in name:
        name = f"builtins.{name}"
    return re.sub(r"^_operator\.", "operator.", name)


@lru_cache(maxsize=4096)
def function_of(name: str) -> Callable[..., Any]:
    """The function of that name.

    Raises:
        LookupError: the name is not on the list.
    """
    space, _, leaf = name.rpartition(".")
    found = None
    if name in FUNCTIONS:
        found = getattr(_space(space), leaf, None)
    elif name in OPERATORS:
        found = _registered(name)
    elif name == "builtins.getattr":
        found = getattr  # its caller checks the name of the attribute
    elif space in _TENSOR_SPACES and leaf in METHODS["Tensor"]:
        found = getattr(torch.Tensor, leaf, None)
    elif space == "torch.ops.aten":
        found = _aten(leaf)
    elif space.startswith("torch.ops.aten."):
        found = _aten(space.removeprefix("torch.ops.aten."), leaf)
    if not callable(found):
        raise LookupError(name)
    function: Callable[..., Any] = found
    return function


def _space(name: str) -> Any:
    """The module, or PyTorch's object in its place, that contains a listed function."""
    root, _, rest = name.partition(".")
    if root == "torchvision":
        return importlib.import_module(name)
    return reduce(getattr, rest.split(".") if rest else [], importlib.import_module(root))


def _registered(name: str) -> Any:
    """An operator that the import of its module registers; ``None`` if it does not exist."""
    found: Any = torch
    try:
        importlib.import_module(OPERATORS[name])
        for part in name.split(".")[1:]:
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


def _aten(name: str, overload: str = "") -> Callable[..., Any] | None:
    if name not in _ATEN:
        return None
    found = getattr(torch.ops.aten, name, None)
    if overload:
        listed = isinstance(found, OpOverloadPacket) and overload in found.overloads()
        found = getattr(found, overload, None) if listed else None
    return found if isinstance(found, OpOverload | OpOverloadPacket) else None


def class_name(cls: type) -> str:
    """The full name of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"


@lru_cache(maxsize=1024)
def module_class_of(name: str) -> type[torch.nn.Module]:
    """The module class of that name.

    Raises:
        LookupError: the name is not on the list.
    """
    if name not in _MODULES:
        raise LookupError(name)
    space, _, leaf = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(space), leaf, None)
    except ImportError:  # another chapter's module, in a process that can no longer read files
        raise LookupError(name) from None
    if not (isinstance(found, type) and issubclass(found, torch.nn.Module)):
        raise LookupError(name)
    return found


def is_known_class(name: str) -> bool:
    """Whether a description can make a module of the class of that name."""
    return name in _MODULES
