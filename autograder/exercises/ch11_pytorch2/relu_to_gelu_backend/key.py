"""The answer key of `relu_to_gelu_backend`: the model's result with GELU for every ReLU."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unittest import mock

import torch
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from autograder.authoring.key import (
    AnswerKey,
    Evidence,
    Finding,
    Stage,
    caller_untouched,
    difference,
    rule,
    runs_of,
    same_result_by,
)
from autograder.exercises.ch11_pytorch2.keys import compiled_code_runs

SPELLINGS: dict[Callable[..., Any], str] = {
    torch.relu: "`torch.relu`",
    F.relu: "`F.relu`",
    F.relu_: "`F.relu_`",
    torch.relu_: "`torch.relu_`",
    torch.Tensor.relu: "the method `.relu()`",
    torch.Tensor.relu_: "the method `.relu_()`",
}


class Exchanging(TorchFunctionMode):
    """While active, replaces calls of these functions.

    Attributes:
        functions: the functions to replace.
        gelu: the function to call instead.
        in_place: whether to replace calls with ``inplace=True``, too.
    """

    def __init__(
        self,
        functions: Iterable[Callable[..., Any]],
        gelu: Callable[..., Any] = F.gelu,
        *,
        in_place: bool = True,
    ) -> None:
        super().__init__()
        self.functions, self.gelu, self.in_place = set(functions), gelu, in_place

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Call a function or its replacement."""
        kwargs = kwargs or {}
        left = not self.in_place and (kwargs.get("inplace") or args[1:] == (True,))
        if func in self.functions and not left:
            return self.gelu(args[0] if args else kwargs["input"])
        return func(*args, **kwargs)


@dataclass(frozen=True)
class Mistake:
    """A common mistake, in words, and a mode that reproduces its result.

    Attributes:
        says: the words that follow "It is as if".
        mode: replaces the functions.
        in_branches: whether to replace functions in branches, too.
    """

    says: str
    mode: Exchanging
    in_branches: bool = True


MISTAKES = (
    Mistake("no ReLU of this model became a GELU", Exchanging(())),
    *(
        Mistake(f"calls of {name} stayed ReLUs", Exchanging(SPELLINGS.keys() - {left}))
        for left, name in SPELLINGS.items()
    ),
    Mistake("calls with `inplace=True` stayed ReLUs", Exchanging(SPELLINGS, in_place=False)),
    Mistake("ReLUs in the branches of `torch.cond` stayed", Exchanging(SPELLINGS), False),
    Mistake(
        "the GELU were the approximation by `tanh`",
        Exchanging(SPELLINGS, partial(F.gelu, approximate="tanh")),
    ),
    Mistake("`F.relu6` became a GELU, too", Exchanging({*SPELLINGS, F.relu6, F.hardtanh})),
    Mistake("`F.leaky_relu` became a GELU, too", Exchanging({*SPELLINGS, F.leaky_relu})),
)


def as_if(evidence: Evidence) -> str:
    """The common mistake that gives the answer's result; ``""`` if none does."""
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
    """The returned value must be the model's result with GELU for every ReLU."""
    for finding in _SAME(evidence):
        says = as_if(evidence)
        text = f"{finding.message} It is as if {says}." if says else finding.message
        yield replace(
            finding,
            message=text,
            advice="Call your backend by hand on the trace of this model, and print `gm.graph` and "
            "`gm.code` before and after. Is a spelling left in the graph, or only in the code?",
        )


KEY = AnswerKey((caller_untouched, compiled_code_runs, same_result))
