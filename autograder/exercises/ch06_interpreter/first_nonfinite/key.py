"""The answer key of `first_nonfinite`: the name of a node, or `None`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.key import (
    AnswerKey,
    Evidence,
    Finding,
    Stage,
    answer_of,
    caller_untouched,
    kind_of,
    rule,
)
from autograder.exercises.ch06_interpreter.keys import values_of


def _numbers(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, (float, torch.Tensor)):
        yield value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=torch.float64)


def where_it_begins(model: nn.Module, *inputs: Any) -> str | None:
    """The expected result of `first_nonfinite`."""
    finite = {name: _is_finite(value) for name, value in values_of(model, *inputs).items()}
    for node in fx.symbolic_trace(model).graph.nodes:
        if not finite[node.name] and all(finite[read.name] for read in node.all_input_nodes):
            return str(node.name)
    return None


def _is_finite(value: Any) -> bool:
    # A finite number times 0 is 0.
    return not any((number * 0 != 0).any() for number in _numbers(value))


@rule("a name or None", Stage.KIND)
def a_name_or_none(evidence: Evidence) -> Iterable[Finding]:
    """The result is the name of a node, or `None`."""
    value = evidence.outcome.value
    if value is not None and not isinstance(value, str):
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} returned {kind_of(value)}, not a name or `None`.",
            "`node.name` is the name of a node.",
        )


@rule("the first that is not finite", Stage.RESULT)
def the_first_not_finite(evidence: Evidence) -> Iterable[Finding]:
    """The answer names the node at which finite values become a NaN or an infinity."""
    got: Any = evidence.outcome.value
    want = evidence.reference.value
    if got == want:
        return
    names = {node.name for node in evidence.traced.graph.nodes}
    if got is None:
        text = "returned `None`, but a value of this run is not finite"
        yield evidence.finding("missed", f"{evidence.you} {text}.", _LOOK_MISSED)
    elif want is None:
        text = f"named `{got}`, but all values of this run are finite"
        yield evidence.finding("false-alarm", f"{evidence.you} {text}.", _LOOK_ALARM, (got,))
    elif got not in names:
        text = f"returned {got!r}, which is not a node of the trace"
        yield evidence.finding("no-such-node", f"{evidence.you} {text}.", _LOOK_NAME)
    else:
        text = f"named `{got}`, but that is not where it begins"
        advice = _why_not(evidence, got)
        yield evidence.finding("wrong-node", f"{evidence.you} {text}.", advice, (got,))


def _why_not(evidence: Evidence, name: str) -> str:
    """Advice on a wrong node: its value, the values that it reads, or an earlier node."""
    model, *inputs = evidence.case.make(0).args
    values = values_of(model, *inputs)
    node = next(node for node in evidence.traced.graph.nodes if node.name == name)
    if _is_finite(values[name]):
        return f"The value of `{name}` is finite in this run."
    for read in node.all_input_nodes:
        if not _is_finite(values[read.name]):
            return f"`{name}` reads `{read.name}`, whose value is not finite either."
    return f"`{name}` is such a node, and another one runs before it."


_LOOK_MISSED = "Print the value of each node. Look into nested values, and at every kind of number."
_LOOK_ALARM = "Which values did you take for a NaN or an infinity?"
_LOOK_NAME = "Return `node.name` of a node of a fresh trace."


KEY = AnswerKey(
    (
        a_name_or_none.because("names the kind that came back, before any name is compared"),
        caller_untouched,
        the_first_not_finite,
    ),
    answer_of(where_it_begins),
)
