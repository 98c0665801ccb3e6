"""Every private name of PyTorch that the course relies on; `speed.fx_tracing` alone has more.

They are private, so a new version of PyTorch may take any of them away. A test then says which, and
this is the file to change.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import fx, nn
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx import _symbolic_trace
from torch.fx import node as fx_node
from torch.fx.node import _get_qualified_name
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.utils import _pytree as pytree

__all__ = [
    "BatchNorm",
    "ConvNd",
    "OpOverload",
    "OpOverloadPacket",
    "codegen_of",
    "fake_tensor_class",
    "fake_tensor_mode",
    "inputs_recorded_by",
    "is_exported",
    "leave_modes",
    "modes_entered",
    "operator_names",
    "own_buffers",
    "own_modules",
    "own_parameters",
    "pytree",
    "qualified_name",
    "rename",
    "schema_of",
    "side_effectful_functions",
    "tensor_base",
    "wrapped_functions",
    "wrapped_methods",
]

BatchNorm = _BatchNorm
ConvNd = _ConvNd
"""What all batch norms are."""


def wrapped_functions() -> dict[Any, dict[str, Any]]:
    """The registry of `fx.wrap`: by file and name, the namespace in which the function stands."""
    return _symbolic_trace._wrapped_fns_to_patch


def wrapped_methods() -> list[Any]:
    """The registry of methods that `fx` wraps while it traces."""
    return _symbolic_trace._wrapped_methods_to_patch


def side_effectful_functions() -> set[Callable[..., Any]]:
    """Functions that `Node.is_impure` knows to have an effect."""
    return fx_node._side_effectful_functions


def codegen_of(graph: fx.Graph) -> Any:
    """What writes a graph's code; `Graph.set_codegen` changes it."""
    return graph._codegen


def inputs_recorded_by(node: fx.Node) -> Iterable[fx.Node]:
    """The inputs that a node has on record: `all_input_nodes`, without a walk of its arguments."""
    return node._input_nodes


def rename(node: fx.Node, name: str) -> None:
    """Give a node another name, one that is free in its graph."""
    node._rename(name)


def own_buffers(module: nn.Module) -> dict[str, torch.Tensor | None]:
    """A module's own buffers by name, those that are ``None`` included; the dictionary itself."""
    return module._buffers


def own_parameters(module: nn.Module) -> dict[str, nn.Parameter | None]:
    """A module's own parameters by name, as `own_buffers`."""
    return module._parameters


def own_modules(module: nn.Module) -> dict[str, nn.Module | None]:
    """A module's children by name, as `own_buffers`."""
    return module._modules


def qualified_name(function: Callable[..., Any]) -> str:
    """The name under which FX writes a function into generated code."""
    return _get_qualified_name(function)


def schema_of(overload: Any) -> Any:
    """The schema of an operator's overload: its name, its parameters, and what it gives."""
    return overload._schema


def operator_names() -> list[str]:
    """The names of all operators that PyTorch's dispatcher knows, such as ``aten::add.Tensor``."""
    return torch._C._dispatch_get_all_op_names()


def tensor_base() -> type:
    """The class, written in C, from which `torch.Tensor` has its methods."""
    return torch._C.TensorBase


def fake_tensor_mode() -> Any:
    """The class of the mode in which tensors have shapes and no numbers; its module comes late."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    return FakeTensorMode


def fake_tensor_class() -> Any:
    """The class of tensors that have shapes and no numbers."""
    from torch._subclasses.fake_tensor import FakeTensor

    return FakeTensor


def modes_entered() -> int:
    """How many modes are entered that see every operation, such as that of fake tensors."""
    return torch._C._len_torch_dispatch_stack()


def leave_modes(entered: int) -> int:
    """Leave all such modes but the first ones that were entered; returns how many were left."""
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack, _pop_mode

    count = modes_entered() - entered
    while (now := modes_entered()) > entered:
        mode = _get_current_dispatch_mode_stack()[-1]
        with contextlib.suppress(Exception):  # it may be a learner's own, or half entered
            mode.__exit__(None, None, None)
        if modes_entered() >= now:
            _pop_mode()
    return max(count, 0)


def is_exported(value: Any) -> bool:
    """Whether this is an `ExportedProgram` of `torch.export`, whose import takes a second."""
    module = sys.modules.get("torch.export.exported_program")
    return module is not None and isinstance(value, module.ExportedProgram)
