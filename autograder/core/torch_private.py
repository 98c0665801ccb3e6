"""The private names of PyTorch that the course uses, except for those of `speed.fx_tracing`.

A new version of PyTorch may remove or change any of them. A test then names it, and only this file
has to change.
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
from torch.fx.graph import _PyTreeCodeGen
from torch.fx.node import _get_qualified_name
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.utils import _pytree as pytree

__all__ = [
    "BatchNorm",
    "ConvNd",
    "OpOverload",
    "OpOverloadPacket",
    "argument_trees",
    "codegen_of",
    "fake_tensor_class",
    "fake_tensor_mode",
    "inputs_recorded_by",
    "is_exported",
    "leave_modes",
    "memory_of",
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
"""The base classes of all batch norms and of all convolutions."""


def wrapped_functions() -> dict[Any, dict[str, Any]]:
    """The registry of `fx.wrap`: each function's namespace, by file and name."""
    return _symbolic_trace._wrapped_fns_to_patch


def wrapped_methods() -> list[Any]:
    """The registry of methods that `fx` wraps while it traces."""
    return _symbolic_trace._wrapped_methods_to_patch


def side_effectful_functions() -> set[Callable[..., Any]]:
    """Functions that `Node.is_impure` treats as having a side effect."""
    return fx_node._side_effectful_functions


def codegen_of(graph: fx.Graph) -> Any:
    """The generator of a graph's code; `Graph.set_codegen` changes it."""
    return graph._codegen


def argument_trees(graph: fx.Graph) -> tuple[Any, Any] | None:
    """The places of a graph's placeholders in nested arguments, and of its outputs in the result.

    Each is nested as the arguments and the result are, with numbers in the places of values.
    ``None`` if the arguments are not nested, or in another way than `fx.Tracer` records it.
    """
    codegen = codegen_of(graph)
    if type(codegen) is not _PyTreeCodeGen or codegen.pytree_info.out_spec is None:
        return None
    info: Any = codegen.pytree_info
    own = int(info.orig_args[:1] == ["self"])  # a module's trace counts the module, too
    given = pytree.tree_unflatten(range(-own, info.in_spec.num_leaves - own), info.in_spec)
    return given[own:], pytree.tree_unflatten(range(info.out_spec.num_leaves), info.out_spec)


def memory_of(tensor: torch.Tensor) -> int:
    """A number for the memory of a tensor, which may be fake; the same for all its views."""
    number: int = tensor.untyped_storage()._cdata
    return number


def inputs_recorded_by(node: fx.Node) -> Iterable[fx.Node]:
    """The inputs that a node has on record: `all_input_nodes`, without a walk of its arguments."""
    return node._input_nodes


def rename(node: fx.Node, name: str) -> None:
    """Rename a node; the name must be free in its graph."""
    node._rename(name)


def own_buffers(module: nn.Module) -> dict[str, torch.Tensor | None]:
    """A module's own buffers by name, including those that are ``None``; the dictionary itself."""
    return module._buffers


def own_parameters(module: nn.Module) -> dict[str, nn.Parameter | None]:
    """A module's own parameters by name, as `own_buffers`."""
    return module._parameters


def own_modules(module: nn.Module) -> dict[str, nn.Module | None]:
    """A module's children by name, as `own_buffers`."""
    return module._modules


def qualified_name(function: Callable[..., Any]) -> str:
    """FX's name for a function in generated code."""
    return _get_qualified_name(function)


def schema_of(overload: Any) -> Any:
    """The schema of an operator's overload: its name, parameters and results."""
    return overload._schema


def operator_names() -> list[str]:
    """The names of all operators of PyTorch's dispatcher, such as ``aten::add.Tensor``."""
    return torch._C._dispatch_get_all_op_names()


def tensor_base() -> type:
    """The class, written in C, from which `torch.Tensor` inherits its methods."""
    return torch._C.TensorBase


def fake_tensor_mode() -> Any:
    """The class of the mode for tensors with shapes but no data; imported late: it is slow."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    return FakeTensorMode


def fake_tensor_class() -> Any:
    """The class of tensors with shapes but no data."""
    from torch._subclasses.fake_tensor import FakeTensor

    return FakeTensor


def modes_entered() -> int:
    """The number of dispatch modes entered, such as that of fake tensors."""
    return torch._C._len_torch_dispatch_stack()


def leave_modes(entered: int) -> int:
    """Leave all dispatch modes except the first `entered`; return the number left."""
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack, _pop_mode

    count = modes_entered() - entered
    while (now := modes_entered()) > entered:
        mode = _get_current_dispatch_mode_stack()[-1]
        with contextlib.suppress(Exception):  # it may be the learner's, or half entered
            mode.__exit__(None, None, None)
        if modes_entered() >= now:
            _pop_mode()
    return max(count, 0)


def is_exported(value: Any) -> bool:
    """Whether this is an `ExportedProgram` of `torch.export`, whose import takes a second."""
    module = sys.modules.get("torch.export.exported_program")
    return module is not None and isinstance(value, module.ExportedProgram)
