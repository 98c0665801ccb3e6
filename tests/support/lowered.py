"""An answer to `lower` for one small model, which ignores the sets."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn


def lower_relu(
    gm: fx.GraphModule, parts: list[set[str]], compile: Callable[..., nn.Module]
) -> fx.GraphModule:
    """Return the small model of the canary with its ReLU compiled."""
    inside, outer = fx.Graph(), fx.Graph()
    inside.output((inside.call_function(torch.relu, (inside.placeholder("y"),)),))
    root: Any = fx.GraphModule(gm, copy.deepcopy(gm.graph))
    root.compiled = compile(fx.GraphModule(gm, inside), (None,))
    y = outer.call_module("layer", (outer.placeholder("x"),))
    z = outer.call_function(operator.getitem, (outer.call_module("compiled", (y,)), 0))
    outer.output(outer.call_function(operator.add, (z, 1)))
    return fx.GraphModule(root, outer)
