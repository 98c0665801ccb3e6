"""Torchvision's ResNet with few channels: every shape of the network, at a small price."""

from __future__ import annotations

from functools import partial

from torch import nn
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet


class Narrow(ResNet):
    """A ResNet whose stages have a sixteenth of the usual channels, and four classes."""

    def __init__(self, block, layers, **options):
        super().__init__(block, layers, num_classes=4, **options)
        self.fc = nn.Linear(32 * block.expansion, 4)

    def _make_layer(self, block, planes, *rest, **options):
        return super()._make_layer(block, planes // 16, *rest, **options)


class OneBlockEach(Narrow):
    """`ResNet(BasicBlock, [1, 1, 1, 1])` of torchvision, with fewer channels."""

    def __init__(self):
        super().__init__(BasicBlock, [1, 1, 1, 1])


class ManyBlocks(Narrow):
    """`ResNet(BasicBlock, [1, 1, 11, 2])` of torchvision, with fewer channels."""

    def __init__(self):
        super().__init__(BasicBlock, [1, 1, 11, 2])


class Bottlenecks(Narrow):
    """`ResNet(Bottleneck, [1, 1, 3, 2])` of torchvision, with fewer channels."""

    def __init__(self):
        super().__init__(Bottleneck, [1, 1, 3, 2])


class Grouped(Narrow):
    """A ResNet of torchvision with groups, as in ResNeXt, dilation, and fewer channels."""

    def __init__(self):
        dilated = [False, True, True]
        super().__init__(
            Bottleneck, [1, 1, 2, 1], groups=2, width_per_group=32,
            replace_stride_with_dilation=dilated,
        )  # fmt: skip


class Headless(Narrow):
    """A ResNet of torchvision with another normalization, fewer channels, and no classifier."""

    def __init__(self):
        super().__init__(BasicBlock, [1, 2, 1, 1], norm_layer=partial(nn.GroupNorm, 2))
        self.fc = nn.Identity()
