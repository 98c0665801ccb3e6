"""Parts that several vocabularies share, for exercises about the nodes of a trace."""

from __future__ import annotations

from autograder.fuzz.grammar import ops

INPUT_KINDS = ("", "tensor", "row", "default", "star")
"""All kinds of further parameters."""

# Calls of every kind; the nodes of some depend on the model's mode.
CALL_OPS = (
    *ops(
        "torch.relu({a})",
        "[nn.ReLU()]({a})",
        "{a}.relu()",
        "torch.tanh(torch.tanh({a}) * 2)",
        "{a} + [nn.Parameter(torch.ones(()))]",
        "{a} + {b}",
        "{a} + {a}",
        "F.dropout({a}, 0.5, self.training)",
        "{a} + torch.rand_like({a}) if self.training else {a} * 1",
        "torch.add(other={a}, input={b})",
        "torch.where({a} > 0, input={a}, other={b})",
        "torch.stack([{x}, {y}, {x}]).mean(dim=0)",
        "[nn.Sequential(nn.Identity(), nn.Sequential(nn.ReLU()))]({a})",
        "{a} - [buffer(torch.ones(()))]",
    ),
    *ops(
        "{x}[{y}.dim() - {y}.dim() : {y}.shape[0] : {a}.dim() * 0 + 1]",
        "F.pad({x}, [0, {a}.dim() * 0])",
        dims=(1, 4),
    ),
)
MISLEADING_NAMES = ("max", "input", "relu_1", "add")
