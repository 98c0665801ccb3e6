"""Runs a callable on a case's inputs and records the result, under the same conditions every time.

Used by the runner for a learner's result, and by the judge for a described graph.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any, TypedDict, cast

import torch
from torch import nn

from autograder.core.codec import Encoded, Encoder, Tagged

RUN_SEED = 2007


class ErrorRecord(TypedDict, total=False):
    """An exception. If it comes from a learner's code, the runner adds the place.

    Attributes:
        type: the name of its class.
        types: the names of its class and base classes.
        message: its first line.
        line: the number of the learner's last line.
        text: the code of that line.
        says: the whole message.
        frames: all of the learner's lines that led to it.
        generated: the line of a graph's code.
        near: see `runner.near_names`.
        values: the loop in which an answer was stopped, and its variables.
        asked: the model's line that asked a tracer for an unknown value.
    """

    type: str
    types: list[str]
    message: str
    line: int
    text: str
    says: str
    frames: list[FrameRecord]
    generated: str
    near: list[str]
    values: list[list[str]]
    asked: str


class FrameRecord(TypedDict):
    """A line of a learner's code, and the name of its function."""

    line: int
    text: str
    function: str


class CallResult(TypedDict, total=False):
    """The result of one call: either a value or an error.

    Attributes:
        args: the arguments after the call.
        log: the entries that callbacks of the case wrote.
        crossing: the return value of the first of two parts.
        then: the value right after its call, if `value` was recorded after later calls.
    """

    value: Encoded
    error: ErrorRecord
    args: Tagged
    log: Tagged
    crossing: Encoded
    then: Encoded


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def run_once(
    call: Callable[..., Any],
    inputs: tuple[Any, ...],
    encoder: Encoder,
    *,
    owner: Any = None,
    log: list[Any] | None = None,
    on_error: Callable[[Exception], ErrorRecord] | None = None,
) -> CallResult:
    """Call once on fresh copies of the inputs, under a fixed seed and without gradients.

    Args:
        call: the callable.
        inputs: its positional arguments; they are copied first.
        encoder: takes the tensors.
        owner: a module whose parameters and buffers are restored afterwards.
        log: the list that the case's callbacks append to; emptied first, recorded afterwards.
        on_error: makes the record of an exception.

    Returns:
        ``value`` or ``error``, the ``args`` afterwards, and the ``log``.
    """
    args = copied(inputs)
    state = _state_of(owner)
    if log is not None:
        log.clear()
    seed_all(RUN_SEED)
    try:
        with torch.no_grad():
            record: CallResult = {"value": encoder.encode(call(*args))}
    except Exception as error:
        record = {"error": (on_error or error_record)(error)}
    record["args"] = cast(Tagged, encoder.encode(args))
    record["log"] = cast(Tagged, encoder.encode(log or []))
    _restore(state)
    return record


def copied(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copy the inputs of a call as `copy.deepcopy` does, but faster if they are plain tensors.

    Tensors that share memory still share it in the copies, and views stay views.
    """
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    others = (value for value in inputs if not isinstance(value, torch.Tensor))
    places = {tensor.data_ptr() for tensor in tensors if _is_plain(tensor)}
    if len(places) < len(tensors) or not all(type(value) in _CONSTANTS for value in others):
        return copy.deepcopy(inputs)
    return tuple(one.clone() if isinstance(one, torch.Tensor) else one for one in inputs)


_CONSTANTS = frozenset({bool, int, float, str, type(None)})


def _is_plain(tensor: torch.Tensor) -> bool:
    """Whether a tensor covers all of its memory in order, and has no extra state."""
    return (
        type(tensor) is torch.Tensor
        and tensor.layout is torch.strided
        and tensor.device.type == "cpu"
        and not (tensor.requires_grad or tensor.is_conj() or tensor.is_neg() or vars(tensor))
        and tensor.numel() > 0
        and tensor.is_contiguous()
        and tensor.untyped_storage().nbytes() == tensor.nbytes
    )


def run_both(
    head: Callable[..., Any],
    tail: Callable[..., Any],
    encoder: Encoder,
    run: Callable[[Callable[..., Any]], CallResult],
) -> CallResult:
    """Run one part on the result of the other, and record it.

    Args:
        head: the first part.
        tail: the second.
        encoder: takes the tensors that pass from one to the other.
        run: makes a record of a call.
    """
    crossing: list[Encoded] = []

    def call(*args: Any) -> Any:
        values = head(*args)
        crossing.append(encoder.encode(values))  # before the second part can change them
        return tail(*values) if isinstance(values, tuple) else None

    return {**run(call), "crossing": crossing[0] if crossing else None}


def seed_all(seed: int) -> None:
    """Seed PyTorch's random number generator of the CPU.

    `torch.manual_seed` also records the call stack for GPUs that are initialized later, which takes
    longer than many cases.
    """
    torch.default_generator.manual_seed(seed)


def error_record(error: BaseException) -> ErrorRecord:
    """An exception's type, the names of its class and base classes, and its first line."""
    return {
        "type": type(error).__name__,
        "types": [base.__name__ for base in type(error).__mro__],
        "message": _first_line(error),
    }


def _first_line(error: BaseException) -> str:
    try:
        # Only the message: the text of a SyntaxError also has a file name and a line number.
        text = (str(error.msg) if isinstance(error, SyntaxError) else str(error)).strip()
    except Exception:
        return ""
    # Addresses of objects differ from run to run.
    return _ADDRESS.sub("", text.splitlines()[0])[:300] if text else ""


def _state_of(owner: Any) -> list[tuple[torch.Tensor, torch.Tensor]]:
    if not isinstance(owner, nn.Module):
        return []
    tensors = [*owner.parameters(), *owner.buffers()]
    return [(tensor, tensor.detach().clone()) for tensor in tensors]


def _restore(state: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
    with torch.no_grad():
        for tensor, value in state:
            if tensor.shape == value.shape:
                tensor.copy_(value)
