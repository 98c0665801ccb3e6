"""Answers to `fold_bn`."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_weights

from tests.exercises import right, wrong


def refuse(conv, bn):
    if bn.running_mean is None or bn.running_var is None:
        raise ValueError("the BatchNorm has no running statistics")
    if conv.out_channels != bn.num_features:
        raise ValueError("the channels do not fit")


@right("a deep copy, by the formulas")
def by_the_formulas(conv, bn):
    refuse(conv, bn)
    new = copy.deepcopy(conv).eval()
    with torch.no_grad():
        factor = (bn.running_var.double() + bn.eps).rsqrt()
        if bn.weight is not None:
            factor = factor * bn.weight.double()
        bias = -bn.running_mean.double() * factor
        if conv.bias is not None:
            bias = bias + conv.bias.double() * factor
        if bn.bias is not None:
            bias = bias + bn.bias.double()
        shape = [-1] + [1] * (conv.weight.dim() - 1)
        weight = conv.weight.double() * factor.reshape(shape)
        dtype = conv.weight.dtype
        new.weight = nn.Parameter(weight.to(dtype))
        new.bias = nn.Parameter(bias.to(dtype))
    return new


@right("a new convolution from all settings", debrief=True)
def from_settings(conv, bn):
    if not bn.track_running_stats:
        raise ValueError("nothing to fold")
    if bn.num_features != conv.out_channels:
        raise ValueError("other channels")
    new = type(conv)(
        conv.in_channels,
        conv.out_channels,
        conv.kernel_size,
        stride=conv.stride,
        padding=conv.padding,
        dilation=conv.dilation,
        groups=conv.groups,
        bias=True,
        padding_mode=conv.padding_mode,
        device=conv.weight.device,
        dtype=conv.weight.dtype,
    )
    with torch.no_grad():
        mean, variance = bn.running_mean.double(), bn.running_var.double()
        scale = 1.0 if bn.weight is None else bn.weight.double()
        shift = 0.0 if bn.bias is None else bn.bias.double()
        old = 0.0 if conv.bias is None else conv.bias.double()
        scale = scale / torch.sqrt(variance + bn.eps)
        new.weight.copy_((conv.weight.double().transpose(0, -1) * scale).transpose(0, -1))
        new.bias.copy_((old - mean) * scale + shift)
    return new.eval()


@right("PyTorch's function for the weights, of a wide copy")
def pytorchs(conv, bn):
    refuse(conv, bn)
    new, wide = copy.deepcopy(conv).double(), copy.deepcopy(bn).double()
    new.weight, new.bias = fuse_conv_bn_weights(
        new.weight, new.bias, wide.running_mean, wide.running_var, bn.eps, wide.weight, wide.bias
    )
    return new.to(conv.weight.dtype).eval()


@right("probed: the BatchNorm is asked for zero and one")
def probed(conv, bn):
    refuse(conv, bn)
    norm = copy.deepcopy(bn).double().eval()
    shape = [1, bn.num_features] + [1] * (conv.weight.dim() - 2)
    with torch.no_grad():
        shift = norm(torch.zeros(shape, dtype=torch.float64)).flatten()
        scale = norm(torch.ones(shape, dtype=torch.float64)).flatten() - shift
        new = copy.deepcopy(conv).double()
        new.weight.mul_(scale.reshape(-1, *[1] * (conv.weight.dim() - 1)))
        bias = 0 if conv.bias is None else conv.bias.double()
        new.bias = nn.Parameter(shift + bias * scale, requires_grad=False)
    return new.to(conv.weight.dtype).eval()


@right("channel by channel")
def channel_by_channel(conv, bn):
    if bn.running_var is None or len(bn.running_var) != len(conv.weight):
        raise ValueError(f"cannot fold {bn} into {conv}")
    state = {k: v.detach().clone() for k, v in conv.state_dict().items()}
    state.setdefault("bias", torch.zeros(len(conv.weight), dtype=conv.weight.dtype))
    for i, filter_ in enumerate(conv.weight.detach()):
        scale = 1.0 / math.sqrt(bn.running_var[i].item() + bn.eps)
        if bn.affine:
            scale *= bn.weight[i].item()
        state["weight"][i] = filter_ * scale
        bias = (state["bias"][i].item() - bn.running_mean[i].item()) * scale
        state["bias"][i] = bias + (bn.bias[i].item() if bn.bias is not None else 0)
    new = copy.deepcopy(conv)
    if new.bias is None:
        new.register_parameter("bias", nn.Parameter(torch.empty_like(state["bias"])))
    new.load_state_dict(state)
    return new.train(False)


# ------------------------------------------------------------------ wrong


@dataclass
class Fold:
    """A right folding; each argument makes it wrong in one way."""

    copied: bool = True
    mode: bool | None = False
    eps: float | None = None
    work: torch.dtype | None = torch.float64
    cast: bool = True
    old_bias: bool = True
    rank: int | None = None
    checks: tuple[str, ...] = ("statistics", "channels")
    settings: dict[str, Any] = field(default_factory=dict)

    def __call__(self, conv: Any, bn: Any) -> nn.Module:
        if "statistics" in self.checks and bn.running_mean is None:
            raise ValueError("no statistics")
        if "channels" in self.checks and conv.out_channels != bn.num_features:
            raise ValueError("other channels")
        new = copy.deepcopy(conv) if self.copied else conv
        for name, value in self.settings.items():
            setattr(new, name, value(conv) if callable(value) else value)
        work = self.work or conv.weight.dtype
        var = bn.running_var if bn.running_var is not None else torch.ones(bn.num_features)
        mean = bn.running_mean if bn.running_mean is not None else torch.zeros(bn.num_features)
        with torch.no_grad():
            factor = (var.to(work) + (bn.eps if self.eps is None else self.eps)).rsqrt()
            if bn.affine:
                factor = factor * bn.weight.to(work)
            start = torch.zeros_like(factor)
            if conv.bias is not None and self.old_bias:
                start = conv.bias.to(work)
            bias = (start - mean.to(work)) * factor
            if bn.bias is not None:
                bias = bias + bn.bias.to(work)
            shape = [-1] + [1] * ((self.rank or conv.weight.dim()) - 1)
            weight = conv.weight.to(work) * factor.reshape(shape)
            dtype = conv.weight.dtype if self.cast else work
            new.weight = nn.Parameter(weight.to(dtype))
            new.bias = nn.Parameter(bias.to(dtype))
        if self.mode is not None:
            new.train(self.mode)
        return new


@wrong("both layers in a Sequential", "wrong-kind", clause="convolution")
def in_a_sequential(conv, bn):
    refuse(conv, bn)
    return nn.Sequential(copy.deepcopy(conv), copy.deepcopy(bn)).eval()


@wrong("the BatchNorm is dropped", "wrong-result", clause="value")
def dropped(conv, bn):
    refuse(conv, bn)
    return copy.deepcopy(conv).eval()


@wrong("the convolution itself is changed", "caller-changed", clause="conv-unchanged")
def changes_the_argument(conv, bn):
    return Fold(copied=False)(conv, bn)


@wrong("the argument is put into eval mode", "caller-changed", clause="mode-unchanged")
def evals_the_argument(conv, bn):
    bn.eval()
    return Fold()(conv, bn)


@wrong("the BatchNorm gets the weights that it lacks", "caller-changed", clause="bn-unchanged")
def fills_the_norm(conv, bn):
    refuse(conv, bn)
    if bn.weight is None:
        bn.weight = nn.Parameter(torch.ones_like(bn.running_var))
        bn.bias = nn.Parameter(torch.zeros_like(bn.running_var))
    return Fold()(conv, bn)


@wrong("training mode is kept", "training-mode", clause="eval-mode")
def keeps_the_mode(conv, bn):
    return Fold(mode=None)(conv, bn)


@wrong("eps is left out", "wrong-result", clause="eps")
def no_eps(conv, bn):
    return Fold(eps=0.0)(conv, bn)


@wrong("the bias of the convolution is lost", "wrong-result", clause="bias")
def loses_the_bias(conv, bn):
    return Fold(old_bias=False)(conv, bn)


@wrong("a convolution must have a bias", "crashed", clause="no-bias")
def needs_a_bias(conv, bn):
    refuse(conv, bn)
    return Fold()(conv, bn) if conv.bias.numel() else None


@wrong("a BatchNorm must be affine", "crashed", clause="affine")
def needs_affine(conv, bn):
    refuse(conv, bn)
    bn.weight.detach()
    return Fold()(conv, bn)


@wrong("only for images", "crashed", clause="dims")
def images_only(conv, bn):
    return Fold(rank=4)(conv, bn)


@wrong("groups are lost", "lost-setting", clause="groups")
def loses_groups(conv, bn):
    return Fold(settings={"groups": 1})(conv, bn)


@wrong("the stride is lost", "lost-setting", clause="stride")
def loses_stride(conv, bn):
    return Fold(settings={"stride": lambda conv: (1,) * len(conv.stride)})(conv, bn)


@wrong("the padding in numbers is lost", "lost-setting", clause="padding")
def loses_padding(conv, bn):
    def without(conv):
        known = isinstance(conv.padding, str) or conv.padding_mode != "zeros"
        return conv.padding if known else (0,) * len(conv.stride)

    return Fold(settings={"padding": without})(conv, bn)


@wrong("the padding must be numbers", "crashed", clause="padding-words")
def numbers_only(conv, bn):
    refuse(conv, bn)
    padding = tuple(int(p) for p in conv.padding)
    return Fold(settings={"padding": padding})(conv, bn)


@wrong("the padding mode is lost", "lost-setting", clause="padding-mode")
def loses_padding_mode(conv, bn):
    refuse(conv, bn)
    new = type(conv)(
        conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride, conv.padding,
        conv.dilation, conv.groups, dtype=conv.weight.dtype,
    )  # fmt: skip
    new.load_state_dict(Fold()(conv, bn).state_dict())
    return new.eval()


@wrong("worked out in float32", "wrong-result", clause="float64")
def in_float32(conv, bn):
    return Fold(work=torch.float32)(conv, bn)


@wrong("computed in the dtype of the layer", "wrong-result", clause="dead-channel")
def in_its_own_dtype(conv, bn):
    return Fold(work=None)(conv, bn)


@wrong("the result is not cast back", "result-raises", clause="half")
def not_cast_back(conv, bn):
    half = conv.weight.dtype in (torch.float16, torch.bfloat16)
    return Fold(work=torch.float32 if half else torch.float64, cast=not half)(conv, bn)


@wrong("no statistics: as if they were zero and one", "should-raise", clause="no-statistics")
def without_statistics(conv, bn):
    return Fold(checks=("channels",))(conv, bn)


@wrong("channels are left to broadcasting", "should-raise", clause="channels")
def unchecked_channels(conv, bn):
    refuse_shape = conv.out_channels != bn.num_features and 1 not in (
        conv.out_channels, bn.num_features,
    )  # fmt: skip
    if refuse_shape:
        raise ValueError("other channels")
    return Fold(checks=("statistics",))(conv, bn)
