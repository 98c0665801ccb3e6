"""The classes of torchvision that models are built from.

Without torchvision they are placeholders, so that exercises can be imported. An exercise that
builds one then raises the same error as ``import torchvision``.
"""

from __future__ import annotations

from typing import Any

from torch import nn

try:
    from torchvision.models.feature_extraction import DualGraphModule
    from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet
    from torchvision.ops import MLP
except (ImportError, RuntimeError):  # not installed, or a build for another PyTorch

    class _Missing(nn.Module):
        """A placeholder for any of them."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            import torchvision  # noqa: F401

    BasicBlock = Bottleneck = DualGraphModule = MLP = ResNet = _Missing

__all__ = ["MLP", "BasicBlock", "Bottleneck", "DualGraphModule", "ResNet"]
