"""How answers are exercised that change a model in place, with a number that seeds them."""

from __future__ import annotations

import copy
from typing import Any

from torch import nn

from autograder.core.codec import Encoder, Plain
from autograder.core.execution import RUN_SEED, seed_all
from autograder.core.exercise import Trial
from autograder.core.global_state import RandomState
from autograder.core.outcome import CALLS, GIVEN, Outcome
from autograder.core.torch_private import own_buffers, own_parameters
from autograder.runner.call import Answer, encode_result
from autograder.runner.snapshot import Snapshot


def in_place(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of a model and a seed that changes the model, and returns it.

    It is called on the case's model and on two copies of it, with the seed, with the same seed,
    and with the next one, each time from another global random state. Each call is a run; beside
    what came back, its ``state`` says what has become of each parameter and buffer, by name:
    whether it is the same object as before, the first name of that object, whether it asks for
    gradients, and its values.
    """
    model, seed = trial.args
    models = [model, *(copy.deepcopy(model) for _ in CALLS[1:])]
    for i, (each, more) in enumerate(zip(models, CALLS, strict=True)):
        before = _tensors(each)
        seed_all(RUN_SEED + i)
        watched = Snapshot(RandomState())
        result = answer(each, seed + more)
        outcome.changed += [c for c in watched.changes() if c not in outcome.changed]
        value = GIVEN if result is each else encode_result(result, trial, encoder)
        outcome.runs.append({"forward": {"value": value}, "state": _state(each, before, encoder)})


def _tensors(model: nn.Module) -> dict[str, Any]:
    """Every parameter and buffer by its path, under each name that it has."""
    return {
        f"{path}.{name}" if path else name: tensor
        for path, module in model.named_modules(remove_duplicate=False)
        for store in (own_parameters(module), own_buffers(module))
        for name, tensor in store.items()
    }


def _state(model: nn.Module, before: dict[str, Any], encoder: Encoder) -> Plain:
    first: dict[int, str] = {}
    now = _tensors(model)
    for name, tensor in now.items():
        first.setdefault(id(tensor), name)
    return encoder.encode(
        {
            name: None
            if tensor is None
            else (tensor is before.get(name), first[id(tensor)], tensor.requires_grad, tensor)
            for name, tensor in now.items()
        }
    )
