"""Small models with dead code and with side effects, for `sound_dce`."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101

from __future__ import annotations

from operator import (
    iadd,
    iand,
    ilshift,
    imul,
    ior,
    irshift,
    is_,
    ixor,
    not_,
    setitem,
)  # fmt: skip

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import BatchNorm, Trial

# FX records calls of these functions instead of running them during tracing.
for _name in "iadd iand ilshift imul ior irshift is_ ixor not_ setitem print halve_".split():
    fx.wrap(_name)


class DeadChain(nn.Module):
    def forward(self, x):
        torch.sin(x).cos().tan().exp().abs().neg()
        return x + 1


class DeadBranch(nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        torch.relu(y - x).sum()
        return y * 2


class DeadTangle(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x, y):
        a = torch.sin(x)
        b = a * self.weight
        torch.cat([b, a, b.cos()])
        first, _ = torch.split(y, [1, 2], dim=1)
        first.exp()
        return a


class DeadAttributes(nn.Module):
    def forward(self, x):
        x.sin().T.sum()
        return x * 2


class DeadModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        self.block(x)
        return self.head(x)


class NamesAlike(nn.Module):
    """The name of a dead module is a prefix of a live module's name, and the reverse."""

    def __init__(self):
        super().__init__()
        self.block1, self.block10 = nn.Linear(3, 3), nn.Linear(3, 3)
        self.head, self.head_old = nn.Linear(3, 2), nn.Linear(3, 2)

    def forward(self, x):
        self.head_old(self.block1(x))
        return self.head(self.block10(x))


class DeepInALeaf(nn.Module):
    """`encoder` is one node for FX; keep its contents."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, nn.ReLU(), batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, x):
        self.encoder.layers[0].activation(x)
        return self.encoder(x)


class InPlaceMethod(nn.Module):
    def forward(self, x):
        y = x + 1
        y.mul_(10)
        return y


class InPlaceFunction(nn.Module):
    def forward(self, x):
        y = x - 1
        torch.relu_(y)
        z = x * 2
        F.hardtanh_(z, -0.5, 0.5)
        return y, z


def halve_(x: torch.Tensor) -> torch.Tensor:
    """A function of the case that graphs may call."""
    return x.mul_(0.5)


class OwnInPlace(nn.Module):
    """FX records `halve_` here, because of `fx.wrap("halve_")`."""

    def forward(self, x):
        y = x - 1
        halve_(y)
        return y


class InPlaceKeyword(nn.Module):
    def forward(self, x):
        y = x - 1
        F.relu(y, inplace=True)
        F.leaky_relu(y - 1)
        return y


class InPlaceDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5, inplace=True)
        self.other = nn.Dropout(0.5)

    def forward(self, x):
        y = x * 2
        self.drop(y)
        self.other(y)
        return y


class OutTuple(nn.Module):
    def forward(self, x):
        values, places = torch.sort(x, dim=0)
        torch.sort(x.neg(), dim=0, out=(values, places))
        return values, places


class SetItemMethod(nn.Module):
    def forward(self, x):
        y = x + 1
        y.__setitem__(0, 5.0)
        return y


class SetItemFunction(nn.Module):
    """FX records `setitem` from Python's `operator` here, because of `fx.wrap("setitem")`."""

    def forward(self, x, y):
        z = x + 1
        setitem(z, 0, y[0])
        return z


class InPlaceOperators(nn.Module):
    """FX records `iadd` and `imul` from `operator` here, because of `fx.wrap`.

    FX records the method without `fx.wrap`. It would not record `z -= x` as this call.
    """

    def forward(self, x, y):
        z = x + 1
        iadd(z, y)
        imul(z, y)
        z.__isub__(x)
        return z


class BitOperators(nn.Module):
    """FX records these operators in place here, because of `fx.wrap`."""

    def forward(self, x, y):
        a, b, c = x.clone(), x.clone(), x.clone()
        ior(a, y)
        ilshift(a, 1)
        iand(b, y)
        ixor(c, y)
        irshift(c, 1)
        return a, b, c


class OperatorMethods(nn.Module):
    """FX records methods without `fx.wrap`."""

    def forward(self, x):
        y = x.clone()
        y.__iand__(29)
        y.__ior__(2)
        y.__ixor__(5)
        y.__ilshift__(2)
        y.__irshift__(1)
        y.__imul__(3)
        return y


class Logic(nn.Module):
    def forward(self, x, y):
        a = (x & y) | x
        (~a).sum()
        return x ^ y


class PureNames(nn.Module):
    """FX records `not_` and `is_` from `operator` here, because of `fx.wrap`."""

    def forward(self, x, y):
        not_(x.size(0))
        is_(x, y)
        return x + y


class Underscores(nn.Module):
    def forward(self, x):
        x.log_softmax(0).masked_fill(x > 0, 0.0)
        return x.sin()


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        self.norm(self.linear(x))
        return x.sin()


class Norm2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.BatchNorm2d(2), nn.BatchNorm2d(2, affine=False)])

    def forward(self, x):
        self.norms[0](x)
        self.norms[1](x)
        return x.sin()


class Norm3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm3d(2)

    def forward(self, x):
        self.norm(x)
        return x.sin()


class OtherNorms(nn.Module):
    """Norms that keep no statistics: their results depend only on their input."""

    def __init__(self):
        super().__init__()
        self.layer = nn.LayerNorm(3)
        self.group = nn.GroupNorm(1, 2)
        self.instance = nn.InstanceNorm1d(2)

    def forward(self, x):
        self.layer(x)
        self.instance(self.group(x))
        return x.sin()


class Assertion(nn.Module):
    def forward(self, x):
        torch._assert(x.shape[0] > 0, "an empty batch")
        torch.gt(x, 0).any()
        return x.sin()


class Prints(nn.Module):
    """FX records `print` here, because of `fx.wrap("print")`."""

    def forward(self, x):
        print("the sum is", x.sum())
        x.mean()
        return x.sin()


class NothingReturned(nn.Module):
    def forward(self, x, y):
        torch.sin(x).cos()
        x.mul_(y)


class ThroughASlice(nn.Module):
    def forward(self, x, y):
        rows = y.size(0)
        torch.sin(y).sum()
        return x[: rows - 1]


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.unused = nn.Linear(3, 3)

    def forward(self, x):
        y = self.linear(x)
        z = y[:, 1]
        z.fill_(7)
        self.unused(z.sin())
        torch.neg(y).abs()
        return y * 2


def traced_mixed() -> fx.GraphModule:
    """A model that is already a `GraphModule`."""
    return fx.symbolic_trace(Mixed())


def switch_first_norm(model: nn.Module) -> None:
    """Give the first of several norms the mode that the model does not have."""
    model.norms[0].train(not model.training)


def with_a_frozen_norm(trial: Trial, choice: int) -> Trial:
    """The trial, for some choices with one norm in another mode than the model."""
    norms = [m for m in trial.model.modules() if isinstance(m, BatchNorm)]
    if norms and choice % 2:
        norm = norms[choice // 2 % len(norms)]
        norm.train(not norm.training)
    return trial
