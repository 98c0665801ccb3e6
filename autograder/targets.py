"""Which functions, methods and module classes may stand in a graph that is rebuilt.

A graph travels from the learner's process to the judge as names. A name is turned
back into an object only if it is on this list: tensor operations of PyTorch, Python's
operators, and what the course itself gives. Everything else stays a name.
"""

from __future__ import annotations

import builtins
import importlib
import math
import operator
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx.node import _get_qualified_name

from autograder.admission import METHODS

_BUILTINS = frozenset(
    "abs all any bool divmod float getattr hash int isinstance len max min pow print range "
    "round sum tuple list".split()
)
_TORCH_EXTRAS = frozenset("_assert typename is_tensor sym_int sym_float sym_max sym_min".split())
_TORCH_BARRED = frozenset("from_file from_numpy".split())
_NAMESPACES = (
    "torch.nn.functional",
    "torch._C._nn",
    "torch.functional",
    "torch.linalg",
    "torch.special",
    "torch.fft",
    "torch._C._linalg",
    "torch._C._special",
    "torch._C._fft",
)
_OPERATORS = frozenset(name for name in dir(operator) if callable(getattr(operator, name)))
_OPERATOR_BARRED = frozenset("attrgetter call itemgetter length_hint loader methodcaller".split())
_ATEN_BARRED = frozenset("from_file save".split())
_MODULE_ROOTS = ("torch.nn.modules.", "torch.ao.nn.", "autograder.given", "autograder.models.")


def function_name(function: Callable[..., Any]) -> str | None:
    """The importable name of a function on the list, or ``None``."""
    try:
        name = _get_qualified_name(function)
    except Exception:
        return None
    if "." not in name:
        name = f"builtins.{name}"
    name = re.sub(r"^_operator\.", "operator.", name)
    try:
        return name if function_of(name) is function else None
    except LookupError:
        return None


@lru_cache(maxsize=4096)
def function_of(name: str) -> Callable[..., Any]:
    """The function of that name.

    Raises:
        LookupError: if the name is not on the list.
    """
    space, _, leaf = name.rpartition(".")
    found = None
    if leaf.startswith("__") and space not in ("operator", "torch._tensor.Tensor", "torch.Tensor"):
        raise LookupError(name)
    if space == "operator" and leaf.strip("_") not in _OPERATOR_BARRED:
        found = getattr(operator, leaf, None) if leaf in _OPERATORS else None
    elif space == "math":
        found = getattr(math, leaf, None)
    elif space == "builtins" and leaf in _BUILTINS:
        found = getattr(builtins, leaf)
    elif space == "torch" and leaf not in _TORCH_BARRED:
        if hasattr(torch._C._VariableFunctions, leaf) or leaf in _TORCH_EXTRAS:
            found = getattr(torch, leaf, None)
        elif leaf in torch.functional.__all__:
            found = getattr(torch, leaf, None)
    elif space in _NAMESPACES:
        parent = torch._C if space.startswith("torch._C.") else torch
        if space == "torch.nn.functional":
            parent = torch.nn
        found = getattr(getattr(parent, space.rpartition(".")[2]), leaf, None)
        if getattr(found, "__module__", None) not in (None, space, "torch._jit_internal"):
            found = None  # what the namespace itself imports: helpers, not operations
    elif space == "torch._tensor.Tensor" or space == "torch.Tensor":
        found = getattr(torch.Tensor, leaf, None) if leaf in METHODS else None
    elif space.startswith("torch.ops.aten."):
        found = _aten(space.rpartition(".")[2], leaf)
    elif space == "torch.ops.aten":
        found = _aten(leaf)
    if not callable(found):
        raise LookupError(name)
    return found


def _aten(name: str, overload: str = "") -> Callable[..., Any] | None:
    if name in _ATEN_BARRED or name.startswith("__"):
        return None
    found = getattr(torch.ops.aten, name, None)
    if overload:
        found = getattr(found, overload, None)
    return found if isinstance(found, OpOverload | OpOverloadPacket) else None


def class_name(cls: type) -> str:
    """The full name of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"


@lru_cache(maxsize=1024)
def module_class_of(name: str) -> type[torch.nn.Module]:
    """The module class of that name.

    Raises:
        LookupError: if the name is not on the list.
    """
    if not name.startswith(_MODULE_ROOTS):
        raise LookupError(name)
    space, _, leaf = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(space), leaf, None)
    except ImportError:
        found = None
    if not (isinstance(found, type) and issubclass(found, torch.nn.Module)):
        raise LookupError(name)
    return found


def is_known_class(name: str) -> bool:
    """Whether a module of the class of that name can be rebuilt."""
    try:
        return bool(module_class_of(name))
    except LookupError:
        return False
