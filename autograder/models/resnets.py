"""Torchvision's ResNet with few channels: the whole structure of the network, but fast."""

from __future__ import annotations

from functools import partial

from torch import nn

from autograder.models.torchvision_parts import BasicBlock, Bottleneck, ResNet


class Narrow(ResNet):
    """A ResNet with the given number of blocks per stage, and a sixteenth of the channels."""

    def __init__(self, *blocks, bottlenecks=False, **options):
        block = Bottleneck if bottlenecks else BasicBlock
        super().__init__(block, list(blocks), num_classes=4, **options)
        self.fc = nn.Linear(32 * block.expansion, 4)

    def _make_layer(self, block, planes, *rest, **options):
        return super()._make_layer(block, planes // 16, *rest, **options)


# All but one have the same class, like torchvision's: the class does not determine the depth.
one_block_each = partial(Narrow, 1, 1, 1, 1)
many_blocks = partial(Narrow, 1, 1, 11, 2)
bottlenecks = partial(Narrow, 1, 1, 3, 2, bottlenecks=True)
grouped = partial(
    Narrow, 1, 1, 2, 1, bottlenecks=True, groups=2, width_per_group=32,
    replace_stride_with_dilation=[False, True, True],
)  # fmt: skip
"""Grouped like ResNeXt, and dilated."""


class Headless(Narrow):
    """A ResNet of torchvision with another normalization, fewer channels, and no classifier."""

    def __init__(self):
        super().__init__(1, 2, 1, 1, norm_layer=partial(nn.GroupNorm, 2))
        self.fc = nn.Identity()
