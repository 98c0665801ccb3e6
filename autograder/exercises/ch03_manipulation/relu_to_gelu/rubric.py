"""What must come of `relu_to_gelu`."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from autograder.judge.answer_key import AnswerKey
from autograder.judge.oracles import exchanging
from autograder.rules.passes import PASS
from autograder.rules.replacements import leaves_as_they_are, no_relu_left


class GeluForRelu(fx.Interpreter):
    """Computes what a model does, with the formula of GELU wherever it has a ReLU."""

    def run_node(self, n: fx.Node) -> Any:
        """Any node."""
        if n.op == "call_module":
            is_relu = type(self.module.get_submodule(str(n.target))) is nn.ReLU
        else:
            is_relu = n.target in (torch.relu, F.relu) or (n.op, n.target) == (
                "call_method",
                "relu",
            )
        if not is_relu:
            return super().run_node(n)
        value = self.env[n.all_input_nodes[0]]
        return value * (1 + torch.erf(value / 2**0.5)) / 2


KEY = AnswerKey(
    (
        *PASS,
        no_relu_left,
        leaves_as_they_are.because("names the leaf, where others see only a wrong result"),
    ),
    exchanging(GeluForRelu),
)

TRAP = """\
A model may call one `nn.ReLU` in several places, and other code may still use it. Replace the
*calls*, and delete a module only when nothing calls it any more. `inplace=True` must not reach
`F.gelu`, which has no such parameter."""
"""What many answers get wrong; told after a pass."""
