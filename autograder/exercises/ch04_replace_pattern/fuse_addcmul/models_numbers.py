"""The models of `fuse_addcmul` with sums that only look like places to fuse."""

# A learner sees these as they stand here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import math

import torch
from torch import nn

# ------------------------------------------------------------------ numbers


class NumberInProduct(nn.Module):
    def forward(self, x, y):
        return x * 2 + y


class NumberAdded(nn.Module):
    def forward(self, x, y):
        return x * y + 1


class ManyNumbers(nn.Module):
    def forward(self, x, y):
        a = 3 * x + y
        b = y + torch.mul(x, 0.5)
        c = torch.add(x * y, 2.5)
        return a - b / (1 + x * y) - c


class NumberBesideProduct(nn.Module):
    def forward(self, x, y):
        return x * 2 + x * y


class Sizes(nn.Module):
    def forward(self, x, y):
        a = x.size(0) * x + y
        b = x * x.shape[-1] + y
        return a - b * (x * y + x.size(1))


class UnpackedSizes(nn.Module):
    def forward(self, x, y):
        rows, columns = x.shape
        a = torch.mul(rows, x) + y
        return a - (y + x * columns)


class SizesOnly(nn.Module):
    def forward(self, x):
        count = x.size(0) * x.size(1) + x.size(-1)
        return x.reshape(count - x.shape[1])


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


class DefaultNumber(nn.Module):
    def forward(self, x, y, scale=2.0, shift=1):
        return x * scale + y - (x * y + shift)


# ------------------------------------------------------------------ readers


class ProductReturned(nn.Module):
    def forward(self, x, y, z):
        product = x * y
        return product + z, product


class ProductReadAgain(nn.Module):
    def forward(self, x, y, z):
        product = x * y
        return (product + z) - product


class AddedToItself(nn.Module):
    def forward(self, x, y):
        product = x * y
        return product + product


class ReadInList(nn.Module):
    def forward(self, x, y, z):
        product = torch.mul(x, y)
        total = torch.add(z, product)
        return torch.cat([total, product])


class TwoSums(nn.Module):
    def forward(self, x, y, z):
        product = x * y
        return (product + x) / (product + z)


class OneSharedOneNot(nn.Module):
    def forward(self, x, y, z):
        shared, own = x * y, y * z
        return (shared + own) - shared


# ------------------------------------------------------------------ what stays


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
        return a, b, d, torch.sub(torch.mul(x, y), z), e + c
