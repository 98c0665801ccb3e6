"""The models of `fuse_addcmul`: products and sums, and similar expressions."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101, D103

from __future__ import annotations

import math

import torch
from torch import fx, nn

# FX records calls of these functions instead of tracing into them.
fx.wrap("add")
fx.wrap("mul")

# ------------------------------------------------------------------ products and sums


class ProductLeft(nn.Module):
    def forward(self, x, y, z):
        return x * y + z


class ProductLeftTwice(nn.Module):
    def forward(self, x, y, z):
        first = x * y + z
        return torch.tanh(first) * z + x


class ProductRight(nn.Module):
    def forward(self, x, y, z):
        return z + x * y


def add(x, y):
    return x - y * 0.5


def mul(x, y):
    return x + y * 0.5


class MixedSpellings(nn.Module):
    def forward(self, x, y, z):
        first = torch.mul(x, y) + z
        second = torch.add(y * z, x)
        third = y + torch.mul(x, x)
        return first - second * torch.add(z, third * y)


class Keywords(nn.Module):
    def forward(self, x, y, z):
        first = torch.add(torch.mul(input=x, other=y), other=z)
        second = torch.add(input=z, other=torch.mul(y, other=x))
        third = torch.add(other=torch.mul(other=z, input=y), input=x)
        return first - second / third


class Square(nn.Module):
    def forward(self, x, z):
        return x * x + z


class SameValueAgain(nn.Module):
    def forward(self, x, y):
        a = x * y + x
        b = y + x * y
        c = a * b - (a * a + a)
        return c - (x + x * x)


class Scale(nn.Module):
    """Parameters and buffers are tensors, even without dimensions."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(3))
        self.power = nn.Parameter(torch.rand(()))
        self.register_buffer("offset", torch.rand(3))

    def forward(self, x):
        first = x * self.gain + self.offset
        return self.gain + first * self.power


class Pieces(nn.Module):
    """Items of tuples, transposes and attributes whose values are tensors."""

    def forward(self, x, y):
        a, b = torch.chunk(x, 2, dim=-1)
        top = torch.topk(y, 2, dim=-1)
        first = a * b + top.values
        return first.T.T * a + (x[:, :2] * x[:, 2:] + y[..., :2]).mT.mT


class SizeTimesTensor(nn.Module):
    """The first factor is a number, but the product is a tensor."""

    def forward(self, x, y):
        scaled = x.size(0) * x
        return scaled * y + x


class WholeSums(nn.Module):
    """Sums over all entries are tensors without dimensions, not numbers."""

    def forward(self, x, y):
        a = x.sum() * y + x
        return a - (x * y + y.mean())


# ------------------------------------------------------------------ chains


class TwoProducts(nn.Module):
    def forward(self, a, b, c, d):
        return a * b + c * d


class LongSum(nn.Module):
    def forward(self, a, b, c, d):
        return a * b + c * d + a * d + (b * c + (c * c + d))


class ShiftedAgain(nn.Module):
    """Two models of this class can have different graphs."""

    def __init__(self, times=3):
        super().__init__()
        self.times = times

    def forward(self, x, y, z):
        for _ in range(self.times):
            x = x * y + z
        return x


# ------------------------------------------------------------------ numbers


class NumberInProduct(nn.Module):
    def forward(self, x, y):
        return x * 2 + y


class Sizes(nn.Module):
    def forward(self, x, y):
        a = x.size(0) * x + y
        b = x * x.shape[-1] + y
        return a - b * (x * y + x.size(1))


class PiecesOfSizes(nn.Module):
    def forward(self, x, y):
        rows, columns = x.shape[-2:]
        a = x * rows + y
        return a - (x * y + x.size()[-1:][0])


class ComputedSizes(nn.Module):
    def forward(self, x, y):
        half = x.size(-1) // 2
        a = x * (half + 1) + y
        b = math.sqrt(x.size(-1)) * x + y
        c = x * x.size()[0] ** -0.5 + y
        return a - b * c + (x * y + -half)


class OtherNumbersOfTensors(nn.Module):
    def forward(self, x, y):
        a = x.dim() * x + y
        b = x * x.numel() + y
        c = x * x.ndim + y
        d = x * y.sum().item() + y
        return a - b - c - d


class DefaultZero(nn.Module):
    def forward(self, x, y, shift=0.0, scale=0):
        return x * y + shift, x * scale + y


# ------------------------------------------------------------------ readers


class ProductReturned(nn.Module):
    def forward(self, x, y, z):
        product = x * y
        return product + z, product


class AddedToItself(nn.Module):
    def forward(self, x, y):
        product = x * y
        return product + product


# ------------------------------------------------------------------ unchanged


class Alpha(nn.Module):
    def forward(self, x, y, z):
        a = torch.add(x * y, z, alpha=2)
        return a - torch.add(z, x * y, alpha=0.5)


class Out(nn.Module):
    def forward(self, x, y, z):
        place = torch.empty_like(x)
        total = torch.add(x * y, z, out=place)
        return total - 1, place


class Methods(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("gain", torch.rand(3))

    def forward(self, x, y, z):
        a = x.mul(y) + z
        b = (x * y).add(z)
        c = self.gain * x + y
        return a - b - c * (self.gain + x * y)


class OtherOperations(nn.Module):
    def forward(self, x, y, z):
        a = x * y - z
        b = x / y + z
        c = x @ y.T + 1
        d = (x + y) * z
        e = torch.matmul(x, y.mT) + c
        f = z + torch.div(x, y) - (torch.multiply(x, y) + z)
        return a, b, d, torch.sub(torch.mul(x, y), z), e + c, f
