"""Decide on copies whether two models do the same: for two exercises of chapter 09."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.authoring.key import Encoded, Encoder, difference, seed_all

Made = Callable[[int], tuple[Any, ...]]


Record = tuple[list[Encoded], list[torch.Tensor]]


def _record(model: nn.Module, args: tuple[Any, ...], training: bool, seed: int) -> Record:
    """The result and the final arguments of a copy of the model, with their tensors."""
    encoder = Encoder()
    module = copy.deepcopy(model).train(training)
    args = copy.deepcopy(args)
    seed_all(seed)
    with torch.no_grad():
        said = [encoder.encode(module(*args)), encoder.encode(args)]
    return said, encoder.tensors


_WHERE = ("the result", "the tuple of arguments afterwards")


def first_difference(
    model: nn.Module,
    other: nn.Module,
    make_inputs: Made,
    trials: int = 8,
    modes: tuple[bool, ...] = (True, False),
) -> str:
    """The first difference of two models, as a clause; ``""`` if they do the same."""
    with torch.random.fork_rng(devices=[]):
        for seed in range(trials):
            for training in modes:
                want, wanted = _record(model, make_inputs(seed), training, seed)
                got, tensors = _record(other, make_inputs(seed), training, seed)
                for a, b, where in zip(got, want, _WHERE, strict=True):
                    found = difference(a, tensors, b, wanted, where)
                    if found:
                        mode = "train" if training else "eval"
                        return f"in {mode} mode, for seed {seed}, {found.text}"
    return ""
