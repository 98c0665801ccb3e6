"""Code that a chapter shows as text, without running it, does what the chapter says."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import fx, nn
from torch.fx.experimental.proxy_tensor import make_fx

from autograder.builder.paths import choose
from autograder.builder.source import read
from autograder.given import make_alive


def shown(chapter: str, word: str) -> str:
    """The block of code in a chapter's prose that contains a word."""
    (path,) = choose([chapter])
    prose = [cell.source for cell in read(path)[0].cells if cell.kind != "code"]
    blocks = re.findall(r"^```python\n(.*?)^```", "\n".join(prose), re.M | re.S)
    (found,) = (block for block in blocks if word in block)
    return found


def test_inductors_matcher_fuses_a_norm() -> None:
    def norm(x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

    def read_elsewhere(x):
        square = x.pow(2)
        return x * torch.rsqrt(square.mean(-1, keepdim=True) + 1e-6), square

    x = torch.rand(2, 3)
    for function, count in ((norm, 1), (read_elsewhere, 0)):
        gm = make_fx(function, tracing_mode="fake")(x)
        names: dict[str, Any] = {"torch": torch, "gm": gm}
        exec(shown("12c_normalize", "PatternMatcherPass"), names)
        op = torch.ops.fxcourse.rms_norm.default
        calls = gm.graph.find_nodes(op="call_function", target=op)
        assert len(calls) == count
        assert [call.args[1:] for call in calls] == [(None, 1e-6)] * count
        torch.testing.assert_close(gm(x), function(x))


@pytest.mark.parametrize("second", [nn.Identity, partial(nn.BatchNorm2d, 1)])
def test_inductors_fusion_counts_norms_and_not_calls(second: Callable[[], nn.Module]) -> None:
    """Chapter 10 says that another BatchNorm prevents the fusion, but a second call does not."""
    from torch._inductor.fx_passes.pre_grad import fuse_conv_bn

    class Head(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.bn, self.other = nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1), second()

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return self.bn(self.conv(x)), self.other(self.conv(x))

    x = torch.rand(1, 1, 2, 2)
    head = make_alive(Head(), x)
    fused = fuse_conv_bn(fx.symbolic_trace(copy.deepcopy(head)))
    is_right = torch.allclose(fused(x)[1], head(x)[1], atol=1e-3)
    assert is_right == (second is not nn.Identity)
