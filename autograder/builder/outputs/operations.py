"""Writes `core/operations.json`, the list of operations that a described graph may contain.

A person reviews every change of the list; it is never computed where grades are decided. It is
generated from PyTorch's own lists: functions that can be overridden for tensors, core ATen
operations, and module classes. Operations that do not compute on tensors are left out here.

After pinning a new PyTorch, run ``python -m autograder.builder.outputs.operations``.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import warnings
from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from typing import Any

import torch
from torch import nn

from autograder.core.allowlist import class_name, full_name, importable_name
from autograder.core.torch_private import operator_names, tensor_base

FILE = Path(__file__).parents[2] / "core" / "operations.json"

_NAMESPACES = {
    "torch": torch,
    "torch.nn.functional": nn.functional,
    "torch.linalg": torch.linalg,
    "torch.special": torch.special,
    "torch.fft": torch.fft,
}
_FACTORIES = (
    "arange as_tensor bartlett_window blackman_window can_cast complex empty empty_like "
    "empty_strided eye full full_like hamming_window hann_window is_complex is_floating_point "
    "is_tensor kaiser_window linspace logspace normal numel ones "
    "ones_like polar promote_types rand rand_like randint randint_like randn randn_like randperm "
    "result_type scalar_tensor tensor tril_indices triu_indices vander zeros zeros_like"
).split()
"""Functions of `torch` that cannot be overridden: they take no tensor, or only as an example."""

_NOT_LISTED = "fill fill_ mm zero_".split()
"""Computations of `torch` that are missing in PyTorch's list of overridable functions. In it, the
entry for `mm` is lost, because `hspmm` is equal to it."""

_PRIVATE = (
    "torch._assert torch._C._nn.avg_pool2d torch._C._nn.avg_pool3d torch._C._nn.gelu "
    "torch._C._nn.hardtanh torch._C._nn.leaky_relu torch._C._nn.linear torch._C._nn.log_sigmoid "
    "torch._C._nn.one_hot torch._C._nn.pad torch._C._nn.scaled_dot_product_attention "
    "torch._C._nn.softplus torch._C._nn.softshrink torch._C._nn.hardsigmoid "
    "torch._C._nn.hardswish torch._C._nn.elu_ torch._C._nn.leaky_relu_ torch._C._nn.hardtanh_ "
    "torch._C._nn.pixel_shuffle torch._C._nn.pixel_unshuffle torch._softmax torch._log_softmax"
).split()
"""Private names that FX records for public functions."""

_TORCHVISION = (
    "torchvision.models.swin_transformer._get_relative_position_bias "
    "torchvision.models.swin_transformer._patch_merging_pad "
    "torchvision.models.swin_transformer.shifted_window_attention "
    "torchvision.models.video.mvit._add_rel_pos torchvision.models.video.mvit._add_shortcut "
    "torchvision.models.video.mvit._squeeze torchvision.models.video.mvit._unsqueeze "
    "torchvision.models.video.swin_transformer._compute_attention_mask_3d "
    "torchvision.models.video.swin_transformer._compute_pad_size_3d "
    "torchvision.models.video.swin_transformer._get_relative_position_bias "
    "torchvision.models.video.swin_transformer._get_window_and_shift_size "
    "torchvision.models.video.swin_transformer.shifted_window_attention_3d "
    "torchvision.ops.drop_block.drop_block2d torchvision.ops.drop_block.drop_block3d "
    "torchvision.ops.stochastic_depth.stochastic_depth"
).split()
"""Functions that torchvision wraps for FX, if they compute only on tensors."""

_PYTHON = {
    "builtins": "abs all any bool divmod float int len list max min pow print range round sum "
    "tuple",
    "math": "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees dist erf erfc "
    "exp expm1 fabs floor fmod fsum gcd hypot isclose isfinite isinf isnan isqrt lcm ldexp log "
    "log10 log1p log2 modf pow prod radians remainder sin sinh sqrt tan tanh trunc",
    "operator": "abs add and_ concat contains countOf delitem eq floordiv ge getitem gt iadd iand "
    "iconcat ifloordiv ilshift imatmul imod imul index indexOf inv invert ior ipow irshift is_ "
    "is_not isub itruediv ixor le lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem "
    "sub truediv truth xor",
    "torch": "sym_float sym_int sym_max sym_min sym_not sym_sqrt sym_sum typename",
}

_OF_TRAINING = (
    "_foreach_add_ _foreach_mul_ _log_softmax_backward_data _softmax_backward_data "
    "_unsafe_view convolution_backward gelu_backward lift_fresh_copy mse_loss mse_loss_backward "
    "native_batch_norm_backward native_layer_norm_backward nll_loss_backward nll_loss_forward "
    "sigmoid_backward tanh_backward threshold_backward"
).split()
"""ATen operators of the training steps in chapter 16: losses, derivatives and updates."""

_NO_COMPUTATION = re.compile(
    r"_backward|backward_|^_|sparse|dlpack|quantized|mkldnn|^q_|^(cudnn|miopen|fbgemm)_|"
    r"^(batch_norm|from|set|resize|get|is_vulkan|choose_qparams|sym_constrain)_|"
    r"^(asarray|frombuffer|resize|segment_reduce|gru|lstm|rnn_(tanh|relu))$|_cell$|"
    r"ctc_loss|embedding_bag$|fractional_max_pool|(ldl|lu)_solve$|(row|col)_indices|"
    r"^(int_repr|compile|cond|vmap|while_loop|scan|save|load|lobpcg)$|"
    r"^(assert_|handle_torch|has_torch|boolean_dispatch)|with_distance"
)
"""Names of functions that check no index, read memory or files, or change more than arguments."""

_BARRED_METHODS = frozenset(
    "apply_ as_subclass backward coalesce const_data_ptr cuda data_ptr dense_dim indices ipu "
    "is_coalesced is_distributed is_pinned is_set_to is_shared map_ map2_ module_load mtia new "
    "numpy pin_memory record_stream register_hook register_post_accumulate_grad_hook reinforce "
    "rename_ refine_names requires_grad_ retain_grad share_memory_ smm sspaddmm storage "
    "storage_offset storage_type typed_storage untyped_storage values xpu".split()
)
_BARRED_MODULES = re.compile(
    r"Container|CTCLoss|DataParallel|EmbeddingBag|FractionalMaxPool|SyncBatchNorm|WithDistance|"
    r"\.Module$|RNNBase|RNNCellBase"
)
_OPERATOR_METHODS = (
    "abs add and bool complex contains div divmod eq float floordiv ge getitem gt iadd iand "
    "idiv ifloordiv ilshift imatmul imod imul index int invert ior ipow irshift isub itruediv "
    "ixor le len lshift lt matmul mod mul ne neg or pos pow radd rand rdiv rdivmod rfloordiv "
    "rlshift rmatmul rmod rmul ror rpow rrshift rshift rsub rtruediv rxor setitem sub truediv xor"
).split()
_CONTAINERS = {
    "list": "append clear copy count extend index insert pop remove reverse",
    "tuple": "count index numel",
    "dict": "clear copy get items keys pop setdefault update values",
    "set": "add copy discard union",
    "str": "count endswith find lower lstrip replace rstrip split startswith strip upper",
    "number": "bit_length conjugate is_integer",
}

_OTHER_MODULES = (
    "torch.nn.modules.linear.NonDynamicallyQuantizableLinear",
    "torchvision.models.resnet.BasicBlock",
    "torchvision.models.resnet.Bottleneck",
)
"""Classes that the course's cases and answers treat as layers."""

_WITH_LAYERS = (
    "autograder.exercises.ch08_limits.keep_dynamic.models",
    "autograder.exercises.ch05b_programs.inline.models",
    "autograder.given",
    "autograder.models.networks",
)

_WITH_OPERATORS = "autograder.given"
_OPERATORS = "fxcourse"
"""The module that registers the course's own operators, and their namespace."""

_TENSOR_ATTRIBUTES = (
    "H T data device dtype grad imag is_cpu is_leaf itemsize layout mH mT nbytes ndim real "
    "requires_grad shape"
).split()
_OTHER_ATTRIBUTES = {
    "tuple": "H L LD LU P Q R S U V Vh a bin_edges cloned_coefficient eigenvalues eigenvectors "
    "exponent hist indices info inverse logabsdet mantissa max min pivots rank residuals result "
    "sign singular_values solution tau values",
    "dtype": "is_complex is_floating_point is_signed itemsize",
    "device": "index type",
    "slice": "start step stop",
    "number": "imag real",
}


def operations() -> dict[str, Any]:
    """The complete list: functions and operators, methods and attributes by owner, modules."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "functions": sorted({*_functions(), *filter(_is_there, _PRIVATE), *_TORCHVISION}),
            "aten": sorted(_aten()),
            "operators": dict.fromkeys(sorted(_own_operators()), _WITH_OPERATORS),
            "methods": {"Tensor": sorted(_tensor_methods())} | _split(_CONTAINERS),
            "attributes": {"Tensor": _TENSOR_ATTRIBUTES} | _split(_OTHER_ATTRIBUTES),
            "modules": sorted(_module_classes()),
        }


def _is_there(name: str) -> bool:
    """Whether this PyTorch has a function of that name."""
    space, _, leaf = name.removeprefix("torch.").rpartition(".")
    return hasattr(reduce(getattr, space.split(".") if space else [], torch), leaf)


def write() -> None:
    """Write the list to its file."""
    text = json.dumps(operations(), indent=1)
    FILE.write_text(text + "\n", encoding="utf-8", newline="\n")


def _split(table: dict[str, str]) -> dict[str, list[str]]:
    return {kind: words.split() for kind, words in table.items()}


def _overridable() -> set[int]:
    """Ids of the functions that PyTorch documents as overridable: operations on tensors."""
    return {id(function) for function in torch.overrides.get_testing_overrides()}


def _functions() -> Iterable[str]:
    known = _overridable()
    for space, module in _NAMESPACES.items():
        named = {f"{name}_" for name in dir(module) if id(getattr(module, name)) in known}
        if module is nn.functional:
            named |= {name for name, found in vars(module).items() if _is_of_functional(found)}
        for name in dir(module):
            found = getattr(module, name, None)
            if _NO_COMPUTATION.search(name) or not callable(found) or isinstance(found, type):
                continue
            if (id(found) in known or name in named) and not takes_callable(found):
                yield from {f"{space}.{name}", _as_recorded(found) or f"{space}.{name}"}
    yield from (f"torch.{name}" for name in [*_FACTORIES, *_NOT_LISTED])
    for space, names in _PYTHON.items():
        yield from (f"{space}.{name}" for name in names.split())


def _as_recorded(found: Callable[..., Any]) -> str | None:
    """The name by which FX knows a function, if that name leads back to the function."""
    name = full_name(found)
    return name if name and importable_name(found) == name else None


def _is_of_functional(found: Any) -> bool:
    """Whether this is a function of `torch.nn.functional` or a built-in function."""
    return getattr(found, "__module__", None) in (nn.functional.__name__, None)


def takes_callable(function: Callable[..., Any]) -> bool:
    """Whether a parameter of a function is named or annotated as a callable."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False  # a built-in function, none of which takes a callable
    return any(
        "Callable" in str(p.annotation) or p.name in ("func", "function", "fn", "callable", "key")
        for p in parameters
    )


def _aten() -> Iterable[str]:
    """ATen packets of the core set and of the public functions and methods."""
    core = {
        name.partition("::")[2].partition(".")[0]
        for name in operator_names()
        if name.startswith("aten::") and _is_core(name)
    }
    public = {name.removeprefix("torch.") for name in _functions() if name.count(".") == 1}
    public |= {name for name in _tensor_methods() if not name.startswith("__")}
    yield from _OF_TRAINING
    for name in (core | public).difference(_OF_TRAINING):
        if not _NO_COMPUTATION.search(name.lstrip("_")) and hasattr(torch.ops.aten, name):
            yield name


def _is_core(name: str) -> bool:
    packet, _, overload = name.partition("::")[2].partition(".")
    found = getattr(torch.ops.aten, packet, None)
    op = getattr(found, overload or "default", None)
    return op is not None and torch.Tag.core in op.tags


def _own_operators() -> Iterable[str]:
    """The operators that the course registers, with their overloads."""
    importlib.import_module(_WITH_OPERATORS)
    for name in operator_names():
        space, _, rest = name.partition("::")
        if space == _OPERATORS:
            leaf, _, overload = rest.partition(".")
            yield f"torch.ops.{space}.{leaf}.{overload or 'default'}"


def _tensor_methods() -> Iterable[str]:
    known = _overridable()
    for name in dir(torch.Tensor):
        found = getattr(torch.Tensor, name, None)
        if not callable(found) or name in _BARRED_METHODS or _NO_COMPUTATION.search(name):
            continue
        if id(found) in known or name in tensor_base().__dict__:
            yield name
    yield from (f"__{name}__" for name in _OPERATOR_METHODS)


def _module_classes() -> Iterable[str]:
    for found in vars(nn).values():
        if isinstance(found, type) and issubclass(found, nn.Module):
            name = class_name(found)
            if not _BARRED_MODULES.search(name):
                yield name
    yield from _OTHER_MODULES
    yield from _course_classes()


def _course_classes() -> Iterable[str]:
    """Classes in the course's models that the tracer of a case treats as layers."""
    for module in map(importlib.import_module, _WITH_LAYERS):
        for found in vars(module).values():
            if isinstance(found, type) and issubclass(found, nn.Module):
                if found.__module__ == module.__name__:
                    yield class_name(found)


if __name__ == "__main__":
    write()
