"""Functions that change a model in place.

A function that changes a model, and returns it.

**Input.** A model and a seed.

**Result.** The same model.

* The check calls your function on the model, on a copy of the changed model, and on a copy of the
  original. It uses equal seeds, and one other seed.
* Equal seeds must give equal values, for any state of the global random generator. Another seed
  must give other values.
* Parameters and buffers must be the same objects as before, and shared ones must still be shared.
"""

from __future__ import annotations

import builtins
import copy
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from torch import nn

from autograder.core.codec import Encoded, Encoder
from autograder.core.execution import RUN_SEED, seed_all
from autograder.core.exercise import Trial
from autograder.core.global_state import RandomState
from autograder.core.outcome import CALLS, GIVEN, Change, Outcome, Part
from autograder.core.torch_private import own_buffers, own_parameters
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, encode_result
from autograder.runner.canary import Small
from autograder.runner.snapshot import Snapshot

RIGHT = """\
def NAME(model, seed):
    return model
"""
SPOILT = ("return model", "return model.layer")


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function of a model and a seed that changes the model, and returns it.

    It is called on the case's model, on a copy of the changed model, and on a copy of the original:
    with the seed, the same seed, and the next one, each time from another global random state. In
    the second call, texts have other hashes, as in another process. Each call is a run. Its
    ``state`` has for each parameter and buffer, by name: whether it is the same object as before,
    the first name of that object, whether it requires gradients, and its values.
    """
    model, seed = trial.args
    models = [model, *(copy.deepcopy(model) for _ in CALLS[1:])]
    for i, more in enumerate(CALLS):
        each = models[i]
        before, modes = _tensors(each), _modes(each)
        seed_all(RUN_SEED + i)
        watched = Snapshot(RandomState())
        with _other_hashes() if i == 1 else nullcontext():
            result = answer(each, seed + more)
        changes = [*watched.changes(), *_changed_modes(modes, _modes(each))]
        outcome.changed += [c for c in changes if c not in outcome.changed]
        if i == 0:
            with suppress(Exception):  # computed tensors cannot be copied
                models[1] = copy.deepcopy(model)
        value = GIVEN if result is each else encode_result(result, trial, encoder)
        outcome.runs.append({"forward": {"value": value}, "state": _state(each, before, encoder)})


@contextmanager
def _other_hashes() -> Iterator[None]:
    """Make `hash` return other numbers for texts, as in a new process."""
    known = builtins.hash

    def salted(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(salted, value))
        return ("another process", value) if isinstance(value, (str, bytes)) else value

    builtins.hash = lambda value, /: known(salted(value))
    try:
        yield
    finally:
        builtins.hash = known


def _modes(model: nn.Module) -> dict[str, bool]:
    return {
        f"`{path}`" if path else "the model": part.training for path, part in model.named_modules()
    }


def _changed_modes(before: dict[str, bool], now: dict[str, bool]) -> list[Change]:
    return [
        Change(Part.TRAINING_FLAG, f"the training flag of {where} was changed")
        for where, mode in now.items()
        if before.get(where, mode) != mode
    ]


def _tensors(model: nn.Module) -> dict[str, Any]:
    """Every parameter and buffer by its path, under each of its names."""
    return {
        f"{path}.{name}" if path else name: tensor
        for path, module in model.named_modules(remove_duplicate=False)
        for store in (own_parameters(module), own_buffers(module))
        for name, tensor in store.items()
    }


def _state(model: nn.Module, before: dict[str, Any], encoder: Encoder) -> Encoded:
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


def _canary_trial(seed: int) -> Trial:
    model = Small()
    return Trial(args=(model, seed), model=model)


KIND = AnswerKind(run, canary_trial=_canary_trial)
