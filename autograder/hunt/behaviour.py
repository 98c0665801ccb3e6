"""The behavior of a model that a caller can notice, and the differences between two models."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import nn

from autograder.core.codec import Encoded, Encoder
from autograder.core.execution import RUN_SEED, CallResult, error_record, seed_all
from autograder.hunt.standalone import floats, step_arguments, weighted_gradients
from autograder.judge.compare import difference
from autograder.judge.error_text import error_text

RESULT = "the result"
AGAIN = "the result of a further call"
KEYWORDS = "the result of a call by keyword"
ARGUMENTS = "the arguments after a call"
STATE = "parameters and buffers after the calls"
LOSS = "the loss"
LOSS_AGAIN = "the loss of a second step"
STEP_GRADIENTS = "the dictionary of gradients"
ARGUMENT_GRADIENTS = "the gradients of the arguments"
PARAMETER_GRADIENTS = "the gradients of the parameters"
MODES = "the modes of the modules"

EVERYTHING = (
    RESULT, AGAIN, KEYWORDS, LOSS, LOSS_AGAIN, STEP_GRADIENTS, ARGUMENTS, STATE,
    ARGUMENT_GRADIENTS, PARAMETER_GRADIENTS, MODES,
)  # fmt: skip
"""The aspects of a model's behavior. A pass may be allowed to change some, such as `MODES`."""

STEPS = (LOSS, LOSS_AGAIN)
"""The aspects of calls that are training steps; see `standalone.training_step`."""

_NAMED = {
    ARGUMENTS: "the argument `{}` after the call",
    STATE: "`{}` after the step",
    ARGUMENT_GRADIENTS: "the gradient of the argument `{}`",
    PARAMETER_GRADIENTS: "the gradient of `{}`",
}
"""The aspects whose rows are dictionaries by name, and the words for one of their values."""

Inputs = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Call:
    """One call, and the aspect that its result belongs to.

    Attributes:
        aspect: `RESULT`, `AGAIN`, `KEYWORDS`, or one of `STEPS`.
        args: positional arguments.
        names: the parameters that the arguments belong to, such as ``x`` or ``rest[0]``.
        kwargs: keyword arguments.
    """

    aspect: str
    args: tuple[Any, ...]
    names: tuple[str, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)


def calls_of(model: nn.Module, inputs: Inputs) -> list[Call]:
    """The calls on which models are compared: each once, the first again, the last by keyword."""
    parameters = list(inspect.signature(model.forward).parameters.values())
    calls = [Call(RESULT, args, _names(parameters, args)) for args in inputs]
    if not inputs:
        return calls
    calls.append(replace(calls[0], aspect=AGAIN))
    named = parameters[1 : len(inputs[-1])]
    if len(named) == len(inputs[-1]) - 1 > 0 and all(
        parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in named
    ):
        words = {p.name: value for p, value in zip(named, inputs[-1][1:], strict=True)}
        last = calls[len(inputs) - 1]
        calls.append(replace(last, aspect=KEYWORDS, args=last.args[:1], kwargs=words))
    return calls


def steps_of(model: nn.Module, inputs: Inputs) -> list[Call]:
    """The calls of the function or graph of a training step: one, and the same again."""
    if not inputs:
        return []
    args = step_arguments(model, inputs[0])
    if not args[-1]:
        return []  # no result is a floating-point tensor, so there is no loss
    return [Call(aspect, args, ("params", "buffers", "x", "y")) for aspect in STEPS]


def _names(parameters: list[inspect.Parameter], args: tuple[Any, ...]) -> tuple[str, ...]:
    """The parameter of each argument; for ``*rest``, with the index."""
    positional = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    star = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
    more = [f"{star}[{i}]" for i in range(len(args) - len(positional))]
    return (*positional, *more)[: len(args)]


def by_position(calls: Sequence[Call]) -> list[Call]:
    """The same calls without keywords, for an oracle: `Interpreter.run` accepts positions only."""
    return [replace(call, args=(*call.args, *call.kwargs.values()), kwargs={}) for call in calls]


@dataclass
class Behaviour:
    """The behavior of a model.

    Attributes:
        rows: results and exceptions, by aspect and number.
        tensors: the tensors that `rows` refer to.
        start: parameters and buffers before the first call, by name.
        end: the same after the last one.
    """

    rows: dict[tuple[str, int], CallResult] = field(default_factory=dict)
    tensors: list[torch.Tensor] = field(default_factory=list)
    start: dict[str, torch.Tensor] = field(default_factory=dict)
    end: dict[str, torch.Tensor] = field(default_factory=dict)

    @property
    def error(self) -> str:
        """The exception of the first call; ``""`` if it returned."""
        first = next(iter(self.rows.values()), None)
        return error_text(first["error"]) if first and "error" in first else ""


def behaviour(
    model: Callable[..., Any], calls: Sequence[Call], aspects: Sequence[str] = EVERYTHING
) -> Behaviour:
    """Run a model on copies of the arguments, under fixed seeds.

    Args:
        model: any callable. The calls may change its state.
        calls: the calls, in order.
        aspects: the aspects to record.
    """
    encoder, found = Encoder(), Behaviour()
    if isinstance(model, nn.Module):
        found.start = {name: value.detach().clone() for name, value in _state(model)}
    for number, call in enumerate(calls):
        args, kwargs = copy.deepcopy((call.args, dict(call.kwargs)))
        seed_all(RUN_SEED + number)
        with torch.no_grad():
            row = _ran(encoder, partial(model, *args, **kwargs))
        found.rows[call.aspect, number] = row
        if "value" in row:
            after = dict(zip(call.names, (*args, *kwargs.values()), strict=True))
            if call.aspect in STEPS:
                _split_step(found, call.aspect, number)
                state = {**after.pop("params"), **after.pop("buffers")}
                found.rows[STATE, number] = {"value": _by_name(encoder, state)}
            found.rows[ARGUMENTS, number] = {"value": _by_name(encoder, after)}
        if found.error:
            break  # a model that raises cannot test a pass
    if isinstance(model, nn.Module):
        found.end = {name: value.detach().clone() for name, value in _state(model)}
        found.rows[MODES, 0] = modes_of(model)
    wanted = {ARGUMENT_GRADIENTS, PARAMETER_GRADIENTS} & set(aspects)
    if wanted and calls and calls[0].aspect not in STEPS and not found.error:
        _note_gradients(model, calls[0], encoder, found)
    found.tensors = encoder.tensors
    return found


def modes_of(model: nn.Module) -> CallResult:
    """The modes of a module and its submodules, as a row of `Behaviour.rows`."""
    # FX makes plain modules to hold others. Their mode does not matter.
    parts = [pair for pair in model.named_modules() if type(pair[1]) is not nn.Module]
    return {"value": {name: part.training for name, part in parts}}


def unlike(
    got: Behaviour, want: Behaviour, aspects: Sequence[str] = EVERYTHING
) -> tuple[str, str] | None:
    """The first difference between a model and the expected one.

    Returns:
        The aspect and a clause such as ``the result has dtype float32, not float64``;
        ``None`` if nothing differs. If the expected one raises, anything is right.
    """
    for (aspect, number), right in want.rows.items():
        if aspect not in aspects or "error" in right:
            continue
        mine = got.rows.get((aspect, number))
        if aspect == MODES:
            found = _modes_differ(mine, right)
        elif mine is None:
            continue  # only a module has parameters
        elif "error" in mine:
            found = f"{aspect} cannot be computed: the call raises {error_text(mine['error'])}"
        elif aspect in _NAMED:
            found = _named_differ(_NAMED[aspect], mine, got.tensors, right, want.tensors)
        else:
            pair = (mine["value"], got.tensors, right["value"], want.tensors)
            differing = difference(*pair, aspect)
            found = differing.text if differing else ""
        if found:
            return aspect, found
    if STATE in aspects:
        for name in _written_otherwise(got, want):
            return STATE, f"`{name}` has other values after the calls"
    return None


def _by_name(encoder: Encoder, values: Mapping[str, Any]) -> dict[str, Encoded]:
    return {name: encoder.encode(value) for name, value in values.items()}


def _split_step(found: Behaviour, aspect: str, number: int) -> None:
    """Split the result of a training step into two rows: the loss and the gradients."""
    value = found.rows[aspect, number]["value"]
    parts: Sequence[Encoded] = value.get("tuple", ()) if isinstance(value, dict) else ()
    loss, gradients = parts if len(parts) == 2 else (value, None)
    found.rows[aspect, number] = {"value": loss}
    found.rows[STEP_GRADIENTS, number] = {"value": gradients}


def _ran(encoder: Encoder, call: Callable[[], Any]) -> CallResult:
    try:
        return {"value": encoder.encode(call())}
    except Exception as error:
        return {"error": error_record(error)}


def _state(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from model.named_parameters(remove_duplicate=False)
    yield from model.named_buffers(remove_duplicate=False)


def _written_otherwise(got: Behaviour, want: Behaviour) -> Iterator[str]:
    """The names of tensors that were equal before the calls and differ after them."""
    for name, was in want.start.items():
        if name in got.start and _same(got.start[name], was):
            if not _same(got.end.get(name, was), want.end[name]):
                yield name


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return torch.equal(a, b) or torch.allclose(a, b, equal_nan=True)


def _modes_differ(got: CallResult | None, want: CallResult) -> str:
    for name, mode in want["value"].items():
        if got and got["value"].get(name, mode) != mode:
            part = f"`{name}`" if name else "the model"
            return f"{part} is in {'eval' if mode else 'training'} mode"
    return ""


def _note_gradients(model: Any, call: Call, encoder: Encoder, found: Behaviour) -> None:
    """Record the gradients of a weighted sum of all results, by arguments and by parameters."""
    args = copy.deepcopy(call.args)
    inner = _float_tensors(call.names, args)
    for tensor in inner.values():
        tensor.requires_grad_(True)
    named = dict(_state(model)) if isinstance(model, nn.Module) else {}
    wanted = {name: value for name, value in named.items() if value.requires_grad}
    seed_all(RUN_SEED)
    try:
        made = weighted_gradients(model, args, [*inner.values(), *wanted.values()])
    except Exception as error:
        # A model that writes to an argument in place has no gradient with respect to it.
        record: CallResult = {"error": error_record(error)}
        found.rows[ARGUMENT_GRADIENTS, 0] = found.rows[PARAMETER_GRADIENTS, 0] = record
        return
    left = iter(made)
    for aspect, tensors in ((ARGUMENT_GRADIENTS, inner), (PARAMETER_GRADIENTS, wanted)):
        by_name = {name: encoder.encode(next(left)) for name in tensors}
        found.rows[aspect, 0] = {"value": by_name}


def _float_tensors(names: Sequence[str], args: Sequence[Any]) -> dict[str, torch.Tensor]:
    """The floating-point tensors in arguments, by parameter; with a number if it has several."""
    found: dict[str, torch.Tensor] = {}
    for name, arg in zip(names, args, strict=True):
        own = floats(arg)
        found |= {f"{name}, tensor {i}" if own[1:] else name: t for i, t in enumerate(own, 1)}
    return found


def _named_differ(
    words: str,
    got: CallResult,
    got_tensors: list[torch.Tensor],
    want: CallResult,
    want_tensors: list[torch.Tensor],
) -> str:
    """Compare values by name. If the pass removed a parameter, its gradient is ignored."""
    mine: Any = got["value"]
    theirs: Any = want["value"]
    for name, right in theirs.items():
        if name in mine:
            pair = (mine[name], got_tensors, right, want_tensors)
            found = difference(*pair, words.format(name))
            if found:
                return found.text
    return ""
