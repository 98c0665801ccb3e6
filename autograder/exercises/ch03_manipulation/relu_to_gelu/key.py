"""The answer key of `relu_to_gelu`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from autograder.authoring.key import (
    PASS,
    RELU_MODULE,
    AnswerKey,
    Evidence,
    Finding,
    NodeRecord,
    Stage,
    exchanging,
    keyword,
    leaves_as_they_are,
    no_relu_left,
    none_overwritten,
    rule,
)


class GeluForRelu(fx.Interpreter):
    """Runs a model with the formula of GELU instead of each ReLU."""

    def run_node(self, n: fx.Node) -> Any:
        """Run a node; apply the formula if it is a ReLU."""
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


@rule("exact GELU", Stage.STRUCTURE)
def exact_gelu(evidence: Evidence) -> Iterable[Finding]:
    """GELU is not approximated, except in calls that the model already has."""
    left = sum(map(_approximates, evidence.traced_graph["nodes"]))
    for row in filter(_approximates, evidence.graph["nodes"]):
        left -= 1
        if left < 0:
            how = keyword(row, "approximate")
            yield evidence.finding(
                "not-exact",
                f"The call `{row['name']}` has the argument `approximate={how!r}`.",
                "The exercise asks for the exact GELU. What is the default?",
                nodes=(row["name"],),
            )
            return


def _approximates(row: NodeRecord) -> bool:
    return keyword(row, "approximate") not in (None, "none")


KEY = AnswerKey(
    (
        *PASS,
        no_relu_left,
        none_overwritten(RELU_MODULE).because(
            "names the module, where others see only a wrong result"
        ),
        exact_gelu.because("names the argument, where others see a tiny difference"),
        leaves_as_they_are.because("names the leaf, where others see only a wrong result"),
    ),
    exchanging(GeluForRelu),
)
