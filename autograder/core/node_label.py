"""A node's operation in a few readable characters: ``torch.relu``, ``x + 2``, ``.sum(dim=-1)``.

Nodes among the arguments are passed as `Ref`, a name, so real nodes and described ones can both be
labeled.
"""

from __future__ import annotations

import builtins
import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

MAX_ITEMS = 8
MAX_DEPTH = 5
MAX_LABEL = 90

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "matmul": "@", "and_": "&", "or_": "|", "xor": "^", "lshift": "<<",
    "rshift": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "is_": "is", "is_not": "is not",
    "iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "ifloordiv": "//=",
    "imod": "%=", "ipow": "**=", "imatmul": "@=", "iand": "&=", "ior": "|=", "ixor": "^=",
    "ilshift": "<<=", "irshift": ">>=",
}  # fmt: skip
_PREFIX = {"neg": "-", "pos": "+", "invert": "~", "inv": "~", "not_": "not "}
_SPACES = {
    "torch.nn.functional": "F.",
    "torch._C._nn": "F.",
    "torch.functional": "torch.",
    "_operator": "operator.",
}


class Ref(str):
    """The name of a node among a node's arguments."""


def label(op: str, target: Any, args: Any, kwargs: Any, owner: str = "") -> str:
    """Describe a node in a few words.

    Args:
        op: its opcode.
        target: its target: a function, or the name of a method, module or attribute.
        args: its positional arguments, nodes passed as `Ref`.
        kwargs: its keyword arguments, nodes passed as `Ref`.
        owner: for ``call_module``, the name of the module's class.

    Returns:
        At most `MAX_LABEL` characters. Arguments are left out if the only one is a node, which the
        arrow of the picture shows. Nothing raises, however broken the node is.
    """
    args = args if isinstance(args, (tuple, list)) else (args,)
    kwargs = kwargs if isinstance(kwargs, dict) else {}
    try:
        label: Callable[..., str] = _LABELS.get(op, _other)
        text = label(target, tuple(args), kwargs, owner)
    except Exception:  # because of a learner's own `__repr__`
        text = str(op)
    return shorten(one_line(text), MAX_LABEL)


def shorten(text: str, limit: int) -> str:
    """The text, with its middle left out if it is longer than the limit."""
    if len(text) <= limit:
        return text
    tail = limit // 3
    return f"{text[: limit - tail - 1]}…{text[-tail:]}"


def one_line(text: str) -> str:
    """The text without line breaks and control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def function_label(function: Any) -> str:
    """A function's name as a person writes it: ``torch.relu``, ``F.gelu``, ``len``."""
    if isinstance(function, str):
        return function
    if isinstance(function, functools.partial):
        return f"partial({function_label(function.func)})"
    if isinstance(function, types.MethodType):
        return f"{type(function.__self__).__name__}.{function.__name__}"
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return f"{type(function).__name__}()"  # an instance with __call__
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, (types.ModuleType, type)):
        return f"{type(owner).__name__}.{name}"  # such as `list.append`
    if getattr(torch.nn.functional, name, None) is function:
        return f"F.{name}"
    if getattr(torch, name, None) is function:
        return f"torch.{name}"
    module = getattr(function, "__module__", None) or ""
    if module in _SPACES:
        return _SPACES[module] + name
    if module.startswith("torch._ops."):
        return f"{module.removeprefix('torch._ops.')}.{name}"
    if module.startswith("torch."):
        return f"{module.removeprefix('torch._C._')}.{name}"
    if hasattr(torch.Tensor, name) and getattr(torch.Tensor, name) is function:
        return f"Tensor.{name}"
    return f"{module}.{name}" if module == "math" else name


def spell(value: Any, depth: int = 0) -> str:
    """An argument as source code, cut if it is long."""
    if isinstance(value, Ref):
        return str(value)
    if depth > MAX_DEPTH:
        return "…"
    if isinstance(value, (list, tuple)):
        return _spell_sequence(value, depth)
    if isinstance(value, dict):
        items = [f"{spell(k, depth + 1)}: {spell(v, depth + 1)}" for k, v in value.items()]
        return "{" + _joined(items) + "}"
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return f"slice({_joined([spell(part, depth + 1) for part in parts])})"
    if isinstance(value, torch.Tensor):
        return f"Tensor of shape {tuple(value.shape)}"
    if isinstance(value, nn.Module):
        return type(value).__name__
    if isinstance(value, float):
        exact = repr(value)
        return exact if len(exact) <= 9 else f"{value:.6g}"
    if value is Ellipsis:
        return "..."
    if isinstance(value, type) or (callable(value) and not isinstance(value, torch.dtype)):
        return function_label(value)
    return shorten(repr(value), 40)


def _spell_sequence(value: list[Any] | tuple[Any, ...], depth: int) -> str:
    items = [spell(item, depth + 1) for item in value[: MAX_ITEMS + 1]]
    if isinstance(value, list):
        return f"[{_joined(items)}]"
    return f"({_joined(items)}{',' if len(items) == 1 else ''})"


def _joined(items: list[str]) -> str:
    return ", ".join(items if len(items) <= MAX_ITEMS else [*items[: MAX_ITEMS - 1], "…"])


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    return _joined([*map(spell, args), *(f"{k}={spell(v)}" for k, v in kwargs.items())])


def _plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the only argument is a node."""
    return not kwargs and len(args) == 1 and isinstance(args[0], Ref)


def _function(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], _: str) -> str:
    spelled = None if kwargs else _operator(target, args)
    if spelled is not None:
        return spelled
    name = function_label(target)
    if _plain(args, kwargs):
        return name
    return f"{name.removesuffix('()')}({_arguments(args, kwargs)})"


def _operator(target: Any, args: tuple[Any, ...]) -> str | None:
    """An operator as Python writes it, or ``None`` if it is not one."""
    name = _operator_name(target)
    words = [spell(a) for a in args]
    if name in _INFIX and len(args) == 2:
        return f"{words[0]} {_INFIX[name]} {words[1]}"
    if name in _PREFIX and len(args) == 1:
        return f"{_PREFIX[name]}{words[0]}"
    if name == "getitem" and len(args) == 2:
        return f"{words[0]}[{_index(args[1])}]"
    if name == "setitem" and len(args) == 3:
        return f"{words[0]}[{_index(args[1])}] = {words[2]}"
    if target in (builtins.getattr, "getattr") and len(args) == 2 and isinstance(args[1], str):
        return f"{words[0]}.{args[1]}"
    return None


def _operator_name(target: Any) -> str:
    if isinstance(target, str):
        return target.removeprefix("operator.") if target.startswith("operator.") else ""
    name = getattr(target, "__name__", "")
    return name if isinstance(name, str) and getattr(operator, name, None) is target else ""


def _index(value: Any) -> str:
    if isinstance(value, tuple) and value:
        return ", ".join(_index(v) for v in value)
    if isinstance(value, slice):
        ends = ["" if v is None else spell(v) for v in (value.start, value.stop)]
        return ":".join(ends) + ("" if value.step is None else f":{spell(value.step)}")
    return spell(value)


def _method(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], _: str) -> str:
    if args and isinstance(args[0], Ref):
        args = args[1:]  # the arrow shows the owner of the method
    return f".{target}({_arguments(args, kwargs)})"


def _module(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], owner: str) -> str:
    called = "" if _plain(args, kwargs) else f"({_arguments(args, kwargs)})"
    return f"{target}{called} : {owner}" if owner else f"{target}{called}"


def _placeholder(target: Any, args: tuple[Any, ...], _: dict[str, Any], __: str) -> str:
    return f"{target} = {spell(args[0])}" if args else str(target)


def _get_attr(target: Any, *_: Any) -> str:
    return f"self.{target}"


def _output(target: Any, args: tuple[Any, ...], *_: Any) -> str:
    if len(args) == 1:
        return "output" if isinstance(args[0], Ref) else f"return {spell(args[0])}"
    return f"return {_joined([spell(a) for a in args])}"


def _other(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], _: str) -> str:
    return f"{target}({_arguments(args, kwargs)})"


_LABELS: dict[str, Callable[..., str]] = {
    "call_function": _function,
    "call_method": _method,
    "call_module": _module,
    "placeholder": _placeholder,
    "get_attr": _get_attr,
    "output": _output,
}
