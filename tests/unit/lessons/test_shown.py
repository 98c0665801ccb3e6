"""Code that a chapter shows as text, and does not run, does what the chapter says of it."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from autograder.builder.paths import choose
from autograder.builder.source import read


def shown(chapter: str, word: str) -> str:
    """The block of code in a chapter's prose that has a word in it."""
    (path,) = choose([chapter])
    prose = [cell.source for cell in read(path)[0].cells if cell.kind != "code"]
    blocks = re.findall(r"^```python\n(.*?)^```", "\n".join(prose), re.M | re.S)
    (found,) = (block for block in blocks if word in block)
    return found


def test_inductors_matcher_fuses_a_norm() -> None:
    import autograder.given  # noqa: F401 - its import registers the operator

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
