"""Oracles: expected results of random models, computed differently from the solutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from autograder.core.codec import Encoder
from autograder.core.execution import run_once
from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.judge.answer_key import Oracle


def runs_of(call: Callable[..., Any], trial: Trial) -> Reference:
    """Call a function or module on a case's inputs, and record the results."""
    encoder = Encoder(trial.functions)
    with torch.random.fork_rng(devices=[]):
        runs = [
            run_once(call, inputs, encoder, owner=trial.model, log=trial.log)
            for inputs in trial.inputs
        ]
    return Reference(None, runs, encoder.tensors)


def _model(trial: Trial) -> nn.Module:
    if trial.model is None:
        raise TypeError("this oracle needs a model")
    return trial.model


def model_itself(trial: Trial) -> Reference:
    """The oracle of passes that preserve a model's results: run the model without any graph."""
    return runs_of(_model(trial), trial)


DROPOUTS = frozenset(
    (F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout)
)


class NoDropout(TorchFunctionMode):
    """A mode in which every dropout function returns its input."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Handle a call of a PyTorch function."""
        kwargs = kwargs or {}
        if func in DROPOUTS:
            return args[0] if args else kwargs["input"]
        return func(*args, **kwargs)


def without_dropout(trial: Trial) -> Reference:
    """Run the model with dropouts disabled."""
    with NoDropout():
        return model_itself(trial)


def exchanging(interpreter: type[fx.Interpreter]) -> Oracle:
    """Make the oracle of a pass that replaces an operation: an interpreter runs the model."""

    def oracle(trial: Trial) -> Reference:
        model = _model(trial)
        gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
        return runs_of(lambda *args: interpreter(gm).run(*args), trial)

    return oracle


def answer_of(compute: Callable[..., Any]) -> Oracle:
    """Make the oracle of an analysis: it computes the value from the answer's arguments."""

    def oracle(trial: Trial) -> Reference:
        encoder = Encoder(trial.functions)
        value = encoder.encode(compute(*trial.args, **trial.kwargs))
        return Reference(value, [], encoder.tensors)

    return oracle
