"""Real networks, small enough for a fast check: random weights, few classes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from autograder.alive import images, make_alive
from autograder.core.execution import seed_all


def real(make: Callable[[], nn.Module], seed: int, dtype: torch.dtype = torch.float32) -> nn.Module:
    """A network in eval mode with its own random weights and mild running statistics.

    Unlike the weights of `fresh`, these keep the values of a deep network finite.
    """
    with torch.random.fork_rng(devices=[]):
        seed_all(seed)
        model = make()
        for name, value in model.named_buffers():
            if name.endswith("running_mean"):
                value.normal_(0, 0.1)
            elif name.endswith("running_var"):
                value.uniform_(0.5, 1.5)
    return model.to(dtype).eval()


def alive(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    """A network in eval mode and float64, with random weights that make every layer matter."""
    with torch.random.fork_rng(devices=[]):
        model = make().double()
    return make_alive(model, images(2).double(), seed=seed)


def resnet18() -> nn.Module:
    """Torchvision's ResNet-18 with four classes."""
    import torchvision

    return torchvision.models.resnet18(num_classes=4)


def mobilenet() -> nn.Module:
    """Torchvision's MobileNetV2, a quarter as wide, with four classes."""
    import torchvision

    return torchvision.models.mobilenet_v2(num_classes=4, width_mult=0.25)


def not_in_place(model: nn.Module) -> nn.Module:
    """The same network, without activations that overwrite their input."""
    for module in model.modules():
        if hasattr(module, "inplace"):
            module.inplace = False
    return model


class Shift(nn.Module):
    """An addition without a layer: a part of a model that a custom tracer may keep as a leaf."""

    def forward(self, x):
        return x + 0.5


class Attention(nn.Module):
    """Self-attention with one head, spelled out."""

    def __init__(self, width: int = 6):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.width = width

    def forward(self, x):
        q, k, v = torch.split(self.qkv(x), self.width, dim=-1)
        scores = q @ k.transpose(-2, -1) / self.width**0.5
        return self.proj(torch.matmul(scores.softmax(dim=-1), v))


class Encoder(nn.Module):
    """A small transformer encoder: attention and a feed-forward part, twice."""

    def __init__(self, width: int = 6, depth: int = 2):
        super().__init__()
        self.attention = nn.ModuleList(Attention(width) for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(depth))
        self.feed = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 8), nn.GELU(), nn.Linear(8, width))
            for _ in range(depth)
        )

    def forward(self, x):
        for attention, norm, feed in zip(self.attention, self.norms, self.feed, strict=True):
            x = x + attention(norm(x))
            x = x + feed(x)
        return x
