"""The answer key of `count_flops`: the number that PyTorch counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import fx, nn
from torch.utils.flop_counter import FlopCounterMode

from autograder.authoring.key import (
    AnswerKey,
    Evidence,
    Finding,
    Stage,
    answer_of,
    caller_untouched,
    returns,
    rule,
)


def counted(model: nn.Module, *inputs: Any) -> int:
    """The number that PyTorch counts while the model runs."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(*inputs)
    return int(counter.get_total_flops())


class _ByNode(fx.Interpreter):
    """Counts each node separately."""

    def run(self, *args: Any) -> dict[str, int]:  # type: ignore[override]  # inputs alone
        """The count of each node, without zeros."""
        self.counts: dict[str, int] = {}
        with torch.no_grad():
            super().run(*args)
        return {name: count for name, count in self.counts.items() if count}

    def run_node(self, n: fx.Node) -> Any:
        with FlopCounterMode(display=False) as counter:
            value = super().run_node(n)
        self.counts[n.name] = int(counter.get_total_flops())
        return value


def _where_to_look(evidence: Evidence) -> str:
    """Advice with the right count of each node, if these add up to the expected result."""
    model, *inputs = evidence.case.make(0).args
    counts = _ByNode(fx.symbolic_trace(model)).run(*inputs)
    if not counts or sum(counts.values()) != evidence.reference.value:
        return "Compute one node of this model on paper, from the shapes of its operands."
    listed = [f"{count:,} at `{name}`" for name, count in counts.items()]
    more = ", and more" if len(listed) > 4 else ""
    return (
        f"The right counts are {', '.join(listed[:4])}{more}. Which of them does your code compute "
        "differently?"
    )


@rule("right count", Stage.RESULT)
def right_count(evidence: Evidence) -> Iterable[Finding]:
    """The answer returns the number of floating-point operations."""
    got: Any = evidence.outcome.value
    want: Any = evidence.reference.value
    if got == want:
        return
    if want and got:
        text = f"{got:,} operations, which is {got / want:.3g} times as many as there are"
    else:
        text = f"{got:,} operations; there are {want:,} to count"
    yield evidence.finding(
        "wrong-count",
        f"{evidence.you} counted {text}.",
        _where_to_look(evidence),
    )


KEY = AnswerKey(
    (
        returns("int").because("names the kind that came back, before any number is compared"),
        caller_untouched,
        right_count,
    ),
    answer_of(counted),
)
