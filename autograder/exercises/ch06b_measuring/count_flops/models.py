"""Models with linear layers, convolutions and products, for `count_flops`."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import fx, nn

# FX records calls of it instead of tracing into it.
fx.wrap("matmul")


class OneLinear(nn.Module):
    """One layer, with a bias."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 5)

    def forward(self, x):
        return self.layer(x)


class LinearThenRelu(nn.Module):
    """One layer, and a ReLU, which counts nothing."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        return torch.relu(self.layer(x))


def matmul(x, y):
    """A function in the notebook with the name of PyTorch's function."""
    return x * y


class OwnMatmul(nn.Module):
    """A function `matmul` that is not a matrix product, and a matrix product."""

    def forward(self, x):
        return matmul(x, x) + x @ x


class LinearSpellings(nn.Module):
    """One layer with two calls, once by keyword, and its function."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.weight = nn.Parameter(torch.rand(5, 3))
        self.bias = nn.Parameter(torch.rand(5))

    def forward(self, x):
        x = self.layer(input=self.layer(x))
        a = F.linear(x, self.weight, self.bias)
        return a + F.linear(x, weight=self.weight)


class TwoSizes(nn.Module):
    """Each layer and each weight has two inputs of different sizes."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.conv = nn.Conv2d(2, 3, 2)
        self.weight = nn.Parameter(torch.rand(5, 3))

    def forward(self, x, image):
        layers = self.layer(x), self.layer(x[:1])
        convs = self.conv(image), self.conv(image[:, :, 1:])
        return layers, convs, F.linear(x[:2], self.weight), F.linear(x, self.weight)


class OfTorch(nn.Module):
    """A subclass of `nn.Linear` in PyTorch, which tracing keeps as a leaf."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 3, bias=False)
        self.second = nn.modules.linear.NonDynamicallyQuantizableLinear(3, 5)

    def forward(self, x):
        return self.second(self.first(x).relu())


class TiedLayers(nn.Module):
    """Two layers share one weight."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x).relu())


class OneConv(nn.Module):
    """A convolution with stride, dilation and padding."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, (3, 2), stride=2, padding=1, dilation=(1, 2))

    def forward(self, x):
        return self.conv(x)


class Grouped(nn.Module):
    """Convolutions with groups, with one and with two dimensions."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Conv2d(4, 6, 3, groups=2, padding="same")
        self.deep = nn.Conv2d(6, 6, 3, groups=6, bias=False)
        self.line = nn.Conv1d(6, 4, 2, groups=2, stride=2)

    def forward(self, x):
        return self.line(self.deep(self.wide(x)).flatten(2))


class PositionalConvs(nn.Module):
    """Convolutions as functions with only positional arguments; groups are last."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(6, 2, 3, 3))
        self.line = nn.Parameter(torch.rand(3, 2, 2))
        self.bias = nn.Parameter(torch.rand(3))

    def forward(self, x):
        y = F.conv2d(x, self.weight, None, 2, 1, 1, 2)
        return F.conv1d(y.flatten(2), self.line, self.bias, 1, 0, 2, 3)


class SameCalls(nn.Module):
    """Calls that repeat a computation."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.conv = nn.Conv1d(2, 4, 2)
        self.weight = nn.Parameter(torch.rand(5, 3))

    def forward(self, x):
        layers = self.layer(x) * self.layer(x), self.conv(x), self.conv(x)
        functions = F.linear(x, self.weight) + F.linear(x, self.weight)
        return layers, functions, x @ x.mT + x @ x.mT


class MatmulSpellings(nn.Module):
    """Every spelling of a product of two matrices."""

    def __init__(self):
        super().__init__()
        self.register_buffer("square", torch.rand(3, 3))

    def forward(self, x, y):
        a = x @ y
        b = torch.matmul(a, other=y.t()).matmul(y)
        c = torch.mm(x, mat2=y).mm(self.square)
        return self.square @ a.t(), b + c


class NotCounted(nn.Module):
    """One layer that counts, and operations that also multiply, but are not listed."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.pair = nn.Bilinear(4, 4, 4)
        self.weight = nn.Parameter(torch.rand(4, 4))

    def forward(self, x):
        y = self.pair(self.layer(x), x)
        z = torch.einsum("ij,jk->ik", y, self.weight)
        return F.scaled_dot_product_attention(z[None], y[None], x[None])


class OnNoList(nn.Module):
    """One layer that counts, and operations similar to the listed ones."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.volume = nn.Conv3d(1, 2, (1, 2, 2))
        self.longer = nn.ConvTranspose1d(3, 2, 2)
        self.kernel = nn.Parameter(torch.rand(1, 2, 1, 1, 1))
        self.weight = nn.Parameter(torch.rand(4, 4))

    def forward(self, x):
        y = self.layer(x)
        volume = F.conv3d(self.volume(y[:, None, None]), self.kernel)
        total = torch.addmm(y[0], y[1], self.weight)
        return volume, self.longer(y), torch.mv(total, total[0])


class OneMatrix(nn.Module):
    """A batch of matrices and a single matrix, in either order."""

    def forward(self, x, y):
        return x @ y, torch.matmul(y.t(), x.transpose(1, 2))


class Upwards(nn.Module):
    """A convolution, and transposed ones, which are not listed."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 2)
        self.up = nn.ConvTranspose2d(3, 2, 2, stride=2)
        self.weight = nn.Parameter(torch.rand(2, 3, 2, 2))

    def forward(self, x):
        return F.conv_transpose2d(self.up(self.conv(x)), self.weight)
