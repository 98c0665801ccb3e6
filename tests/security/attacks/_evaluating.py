"""The fuzzer's only interface to admitting and evaluating a described graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.core.codec import Encoded
from autograder.core.graph_program import NotAdmitted, admitted


def evaluated(
    data: Encoded,
    tensors: list[torch.Tensor],
    functions: dict[str, Callable[..., Any]],
    inputs: tuple[Any, ...],
    see: Callable[[Any], None],
) -> str:
    """Evaluate a graph, pass each of its values to `see`, and return the result in a word.

    Returns:
        "refused", "raised" where an operation does not go with its arguments, or "ran".
    """
    try:
        program = admitted(data, tensors, functions)
    except NotAdmitted:
        return "refused"
    try:
        with torch.no_grad():
            see(program.run(*inputs, observe=lambda node, value: see(value)))
    except NotAdmitted:
        return "refused"
    except Exception:
        return "raised"
    return "ran"
