"""The answer key of `NegSigmSwap`: `neg` and `sigmoid` are exchanged."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx
from torch.overrides import TorchFunctionMode

from autograder.authoring.key import (
    AnswerKey,
    Reference,
    Trial,
    caller_untouched,
    made_from_the_class,
    runs_as_asked,
    runs_of,
)


class _Exchanged(TorchFunctionMode):
    """Exchanges `neg` and `sigmoid` while it is active, except inside layers."""

    table = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
    methods = {torch.Tensor.neg: torch.sigmoid, torch.Tensor.sigmoid: torch.neg}
    inside = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the other function; PyTorch calls this instead of each of its functions."""
        other = func if self.inside else (self.table | self.methods).get(func, func)
        return other(*args, **(kwargs or {}))

    def enter(self, *_: Any) -> None:
        """Count the start of a layer."""
        self.inside += 1

    def leave(self, *_: Any) -> None:
        """Count the end of a layer."""
        self.inside -= 1


def exchanged(trial: Trial) -> Reference:
    """The results of the model itself, while the two functions are exchanged."""
    mode = _Exchanged()
    for module in trial.given_model.modules():
        if fx.Tracer().is_leaf_module(module, ""):
            module.register_forward_pre_hook(mode.enter)
            module.register_forward_hook(mode.leave)

    def call(*args: Any) -> Any:
        with mode:
            return trial.given_model(*args)

    return runs_of(call, trial)


KEY = AnswerKey((made_from_the_class, caller_untouched, runs_as_asked), exchanged)
