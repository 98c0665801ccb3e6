"""What a node may be in a graph that the judge rebuilds and runs.

FX writes a graph out as Python and compiles it, and parts of a node go into that text as they
are. A graph from a student's process is a claim like others: it must not become a way to run
anything but operations on tensors where grades are decided.
"""

from __future__ import annotations

import keyword
import re
from typing import Any

import torch

_PARTS = re.compile(r"[\w :/+-]+")

ATTRIBUTES = frozenset(
    name
    for name in dir(torch.Tensor)
    if not name.startswith("_") and not callable(getattr(torch.Tensor, name))
) | frozenset(
    "LU L P Q R S U Vh bits eigenvalues eigenvectors eps index indices logabsdet max min pivots "
    "rank residuals resolution sign singular_values solution start step stop tiny type "
    "values".split()
)
"""What `getattr` may be asked for: plain attributes of tensors, dtypes, devices, named tuples."""

_BARRED = frozenset(
    "apply_ backward data_ptr map2_ map_ module_load numpy pin_memory record_stream "
    "register_hook register_post_accumulate_grad_hook retain_grad set_ share_memory_ storage "
    "storage_type typed_storage untyped_storage".split()
)
_OPERATORS = frozenset(
    "abs add and bool complex contains div divmod eq float floordiv ge getitem gt iadd iand "
    "idiv ifloordiv ilshift imatmul imod imul index int invert ior ipow irshift isub iter itruediv "
    "ixor le len lshift lt matmul mod mul ne neg or pos pow radd rand rdiv rdivmod rfloordiv "
    "rlshift rmatmul rmod rmul ror rpow rrshift rshift rsub rtruediv rxor setitem sub truediv "
    "xor".split()
)
METHODS = (
    frozenset(
        name
        for name in dir(torch.Tensor)
        if not name.startswith("_") and callable(getattr(torch.Tensor, name))
    )
    - _BARRED
    | frozenset(f"__{name}__" for name in _OPERATORS)
    | frozenset(
        "append bit_length copy count endswith extend get index insert is_integer items keys "
        "lower pop reverse sort split startswith strip update upper values".split()
    )
)
"""Methods that may be called: those of tensors that only compute, and of plain containers."""


def admit(op: Any, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Let a node pass, or say why not.

    Args:
        op: its opcode.
        target: what it calls, as the graph will have it.
        args: its positional arguments.
        kwargs: its keyword arguments.

    Raises:
        ValueError: it may not stand in a graph that is run.
    """
    for name in kwargs:
        if not _is_name(name):
            raise ValueError(f"{name!r} is no name of an argument")
    if op == "placeholder" and not _is_name(str(target).lstrip("*")):
        raise ValueError(f"{target!r} is no name of an input")
    if op == "call_method" and target not in METHODS:
        raise ValueError(f"the method {target!r} may not be called here")
    if op in ("call_module", "get_attr") and not _is_path(target):
        raise ValueError(f"{target!r} is no path to a part of a module")
    if target is getattr and not _asks_for_attribute(args, kwargs):
        raise ValueError("`getattr` may only be asked for attributes of tensors here")


def _is_name(text: Any) -> bool:
    return isinstance(text, str) and text.isidentifier() and not keyword.iskeyword(text)


def _is_path(target: Any) -> bool:
    parts = target.split(".") if isinstance(target, str) else ()
    return bool(parts) and all(_PARTS.fullmatch(p) and not p.startswith("__") for p in parts)


def _asks_for_attribute(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return len(args) in (2, 3) and not kwargs and type(args[1]) is str and args[1] in ATTRIBUTES
