"""The private names in `core.torch_private`, as expressions that another PyTorch can evaluate."""

from __future__ import annotations

import importlib
from types import ModuleType

MODULES = (
    "torch",
    "torch._ops",
    "torch._subclasses.fake_tensor",
    "torch.fx",
    "torch.fx._symbolic_trace",
    "torch.fx.graph",
    "torch.fx.node",
    "torch.nn.modules.batchnorm",
    "torch.nn.modules.conv",
    "torch.utils._pytree",
    "torch.utils._python_dispatch",
)

NAMES = (
    "torch._C.TensorBase",
    "torch._C._dispatch_get_all_op_names",
    "torch._C._len_torch_dispatch_stack",
    "torch._ops.OpOverload",
    "torch._ops.OpOverloadPacket",
    "torch._subclasses.fake_tensor.FakeTensor",
    "torch._subclasses.fake_tensor.FakeTensorMode",
    "torch.fx.Graph()._codegen",
    "torch.fx.Graph().placeholder('x')._input_nodes",
    "torch.fx.Node._rename",
    "torch.fx._symbolic_trace._wrapped_fns_to_patch",
    "torch.fx._symbolic_trace._wrapped_methods_to_patch",
    "torch.fx.graph._PyTreeCodeGen",
    "torch.fx.node._get_qualified_name",
    "torch.fx.node._side_effectful_functions",
    "torch.empty(1).untyped_storage()._cdata",
    "torch.nn.Module()._buffers",
    "torch.nn.Module()._modules",
    "torch.nn.Module()._parameters",
    "torch.nn.modules.batchnorm._BatchNorm",
    "torch.nn.modules.conv._ConvNd",
    "torch.ops.aten.add.Tensor._schema",
    "torch.utils._pytree.tree_map",
    "torch.utils._python_dispatch._get_current_dispatch_mode_stack",
    "torch.utils._python_dispatch._pop_mode",
)


def problem_with(name: str) -> str:
    """The error if PyTorch does not have a name; ``""`` if it does."""
    try:
        eval(name, {"torch": _torch()})
    except AttributeError as error:
        return str(error)
    return ""


def _torch() -> ModuleType:
    """PyTorch, with those of the modules above that it has."""
    for module in MODULES:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError:
            continue  # each of its names has an error then
    return importlib.import_module("torch")
