"""What must come of `count_flops`: the number that PyTorch counts, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from autograder.core.verdict import Finding
from autograder.judge.answer_key import AnswerKey
from autograder.judge.evidence import Evidence
from autograder.judge.oracles import answer_of
from autograder.judge.rule import Stage, rule
from autograder.rules.passes import caller_untouched
from autograder.rules.values import returns


def counted(model: nn.Module, *inputs: Any) -> int:
    """What PyTorch itself counts while the model runs."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(*inputs)
    return int(counter.get_total_flops())


@rule("right count", Stage.RESULT)
def right_count(evidence: Evidence) -> Iterable[Finding]:
    """The number of floating-point operations."""
    got, want = evidence.outcome.value, evidence.reference.value
    if got == want:
        return
    if want and got:
        text = f"{got:,} operations, which is {got / want:.3g} times as many as there are"
    else:
        text = f"{got:,} operations; there are {want:,} to count"
    yield evidence.finding(
        "wrong-count",
        f"{evidence.you} counted {text}.",
        "Compute one node of this model on paper, from the shapes of its operands.",
    )


KEY = AnswerKey(
    (
        returns("int").because("names the kind that came back, before any number is compared"),
        caller_untouched,
        right_count,
    ),
    answer_of(counted),
)

TRAP = """\
The parameters alone do not say what a layer costs: a convolution uses each weight once for
every place of its output. And with `groups`, each output reads only a part of the input
channels."""
"""What many answers get wrong; told after a pass."""
