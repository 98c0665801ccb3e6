"""What must come of `relu_to_gelu_backend`: what the model computes, with GELU for every ReLU."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unittest import mock

import torch
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from autograder.core.verdict import Finding
from autograder.exercises.ch11_pytorch2.rubric import compiled_code_runs
from autograder.judge.answer_key import AnswerKey
from autograder.judge.compare import difference
from autograder.judge.evidence import Evidence
from autograder.judge.oracles import runs_of
from autograder.judge.rule import Stage, rule
from autograder.rules.passes import caller_untouched, same_result_by

SPELLINGS: dict[Callable[..., Any], str] = {
    torch.relu: "calls of `torch.relu` stay ReLUs",
    F.relu: "calls of `F.relu` stay ReLUs",
    F.relu_: "calls of `F.relu_` stay ReLUs",
    torch.relu_: "calls of `torch.relu_` stay ReLUs",
    torch.Tensor.relu: "calls of the method `.relu()` stay ReLUs",
    torch.Tensor.relu_: "calls of the method `.relu_()` stay ReLUs",
}


class Exchanging(TorchFunctionMode):
    """While it is on, these functions are another one.

    Attributes:
        functions: the functions.
        gelu: what they are.
    """

    def __init__(
        self, functions: Iterable[Callable[..., Any]], gelu: Callable[..., Any] = F.gelu
    ) -> None:
        super().__init__()
        self.functions, self.gelu = set(functions), gelu

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Call a function, or the other one."""
        if func in self.functions:
            return self.gelu(args[0] if args else kwargs["input"])
        return func(*args, **(kwargs or {}))


@dataclass(frozen=True)
class Mistake:
    """What a result is like, in words, and the model that gives it.

    Attributes:
        says: the words that follow "It is as if".
        mode: which functions are exchanged.
        in_branches: whether those of branches are, too.
    """

    says: str
    mode: Exchanging
    in_branches: bool = True


MISTAKES = (
    Mistake("the graph ran as it was before your edit", Exchanging(())),
    *(Mistake(says, Exchanging(SPELLINGS.keys() - {left})) for left, says in SPELLINGS.items()),
    Mistake("ReLUs in the branches of `torch.cond` stayed", Exchanging(SPELLINGS), False),
    Mistake(
        "the GELU were the approximation by `tanh`",
        Exchanging(SPELLINGS, partial(F.gelu, approximate="tanh")),
    ),
    Mistake("`F.relu6` became a GELU, too", Exchanging({*SPELLINGS, F.relu6, F.hardtanh})),
    Mistake("`F.leaky_relu` became a GELU, too", Exchanging({*SPELLINGS, F.leaky_relu})),
)


def as_if(evidence: Evidence) -> str:
    """Which of the usual mistakes gives the result of the answer; ``""`` if none of them does."""
    return next((m.says for m in MISTAKES if _gives_the_same(m, evidence)), "")


def _gives_the_same(mistake: Mistake, evidence: Evidence) -> bool:
    model = evidence.trial.model
    assert model is not None

    def cond(pred: Any, yes: Callable[..., Any], no: Callable[..., Any], operands: Any) -> Any:
        branch = yes if pred else no
        if mistake.in_branches:
            return branch(*operands)
        with mock.patch.object(mistake.mode, "functions", set()):
            return branch(*operands)

    def run(*inputs: Any) -> Any:
        with mistake.mode, mock.patch.object(torch, "cond", cond):
            return model(*inputs)

    found = runs_of(run, evidence.trial)
    tables = evidence.outcome.tensors, found.tensors
    return all(
        "value" in mine
        and "value" in ours
        and difference(mine["value"], tables[0], ours["value"], tables[1]) is None
        for mine, ours in zip(
            (run["forward"] for run in evidence.outcome.runs), found.runs, strict=True
        )
    )


_SAME = same_result_by("forward")


@rule("same result", Stage.RESULT)
def same_result(evidence: Evidence) -> Iterable[Finding]:
    """What is returned is the model's result, with every ReLU a GELU."""
    for finding in _SAME(evidence):
        says = as_if(evidence)
        text = f"{finding.message} It is as if {says}." if says else finding.message
        yield replace(
            finding,
            message=text,
            look="Call your backend by hand on the trace of this model, and print `gm.graph` and "
            "`gm.code` before and after. Which ReLU is left, or what else has changed?",
        )


KEY = AnswerKey((caller_untouched, compiled_code_runs, same_result))

TRAP = """\
`recompile()`. What Dynamo hands over makes its code late, at the first call, so an edited graph
works without it. Print `gm.code` once before the edit, or be handed an ordinary graph module, and
the old code runs."""
"""What many answers get wrong; told after a pass."""
