"""The results of changed code, found in two ways: by the check, and by a plain comparison."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import torch
from torch import fx, nn

from autograder.asking.code import Code
from autograder.asking.plain_value import plain_value
from autograder.asking.small_models import SmallModel
from autograder.asking.usage import use_of
from autograder.core.exercise import Case, Exercise, Trial
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import Limits, OutOfTime, bounded_output, time_limit
from autograder.judge import findings_of
from autograder.judge.answer_key import key_of
from autograder.judge.evidence import Evidence
from autograder.judge.findings import UNLISTED, is_vacuous
from autograder.runner import run

LIMITS = Limits(cpu=0.6, wall=10.0, printed=0)
"""For one run of changed code."""

_RAISES = ("model-fails", "result-raises")
"""Codes of findings about an exception after the call."""

Result = Literal["right", "wrong", "unknown"]


@dataclass(frozen=True)
class Judged:
    """The result of the check on one model.

    Attributes:
        result: ``"unknown"`` if the run took too long or nothing was judged.
        says: the message of the first finding, or the exception.
        raised: whether the code raised an exception.
    """

    result: Result
    says: str = ""
    raised: bool = False


def judged(exercise: Exercise, code: Code, case: Case, cell: str = "") -> Judged:
    """Check an answer on one case, as `check` does.

    Args:
        exercise: the exercise.
        code: the answer.
        case: the case.
        cell: a changed cell that replaces the answer's.
    """
    try:
        with preserve_global_state(), bounded_output(0), time_limit(LIMITS):
            answer = code.load(cell, "<your changed code>")
    except (Exception, OutOfTime) as error:
        return Judged("wrong", _of_error(error), raised=True)
    outcome = run(exercise, answer, case, limits=LIMITS)
    if outcome.ended in ("out of time", "not attempted"):
        return Judged("unknown")
    with preserve_global_state(), bounded_output(0):
        if is_vacuous(Evidence(exercise, case, outcome, key_of(exercise), 0)):
            return Judged("unknown")
        found = findings_of(exercise, case, outcome)
    if not found:
        return Judged("right" if outcome.ended == "returned" else "unknown")
    if found[0].code in (UNLISTED, "unreadable", "unrecorded"):
        return Judged("unknown")
    raised = outcome.ended == "raised" or found[0].code in _RAISES
    return Judged("wrong", found[0].message, raised)


def _of_error(error: BaseException) -> str:
    return f"It raises `{type(error).__name__}`."


# ------------------------------------------------------------------ the second way


class CannotCompare(Exception):
    """A result has a part that is not compared."""


@dataclass
class Print:
    """A result in comparable form: its structure as text, and all tensors in it."""

    structure: str
    tensors: list[torch.Tensor] = field(default_factory=list)

    def equals(self, other: Print) -> bool:
        """Whether two results are equal; tensors up to rounding."""
        if self.structure != other.structure:
            return False
        pairs = zip(self.tensors, other.tensors, strict=False)
        return len(self.tensors) == len(other.tensors) and all(_close(a, b) for a, b in pairs)


def _close(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.is_floating_point() or one.is_complex():
        return torch.allclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True)
    return torch.equal(one, other)


def compared(
    exercise: Exercise, code: Code, model: SmallModel, cell: str, right: list[Print]
) -> Result:
    """Compare the result of changed code with results of right code.

    Neither the runner nor the judge takes part in this, and the model is made from its text.

    Args:
        exercise: the exercise.
        code: the answer.
        model: the model.
        cell: the changed cell.
        right: the results of the unchanged answer and of other right answers.
    """
    mine = print_of(exercise, code, model, cell)
    if mine is None:
        return "wrong"
    if any(mine.equals(each) for each in right):
        return "right"
    return "wrong"


def print_of(exercise: Exercise, code: Code, model: SmallModel, cell: str = "") -> Print | None:
    """The result of an answer in comparable form; ``None`` if it raises.

    Raises:
        CannotCompare: a part of the result is not compared, or the time is used up.
    """
    with preserve_global_state(), bounded_output(0):
        trial = model.pasted()
        try:
            with time_limit(LIMITS) as clock:
                result = use_of(exercise.kind)(code.load(cell, "<your changed code>"), trial)
        except OutOfTime:
            raise CannotCompare("time") from None
        except Exception:
            if clock.is_over():
                raise CannotCompare("time") from None
            return None
        try:
            with time_limit(LIMITS):
                return _Printer(trial).print(result)
        except OutOfTime:
            raise CannotCompare("time") from None


class _Printer:
    """Describes a result and the objects of the caller that may have changed."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.tensors: list[torch.Tensor] = []

    def print(self, result: Any) -> Print:
        given = [value for value in self.trial.args if isinstance(value, nn.Module)]
        given += [self.trial.model] if self.trial.model is not None else []
        parts = [self.text(result), *map(self._caller, given), self.text(list(self.trial.log))]
        return Print("\n".join(parts), self.tensors)

    def text(self, value: Any, depth: int = 6) -> str:
        if isinstance(value, torch.Tensor):
            self.tensors.append(value.detach().clone())
            return f"tensor {tuple(value.shape)} {value.dtype} {value.requires_grad}"
        if isinstance(value, fx.GraphModule):
            return f"graph module {self._instructions(value.graph)} {self._runs(value)}"
        if isinstance(value, nn.Module):
            return f"module {type(value).__name__} {self._runs(value)}"
        if isinstance(value, fx.Graph):
            return f"graph {rows(value)}"
        if isinstance(value, tuple | list | dict | set | frozenset) and depth:
            return f"{type(value).__name__} {list(self._items(value, depth - 1))}"
        if isinstance(value, torch.dtype | torch.Size | fx.Node) or plain_value(value):
            return plain_value(value) or str(value)
        if isinstance(value, int | float | str):
            return repr(value)
        raise CannotCompare(type(value).__name__)

    def _instructions(self, graph: fx.Graph) -> list[str]:
        """The instructions of a graph that is run; their order and arguments show in the values."""
        if not self.trial.inputs:
            return rows(graph)
        return sorted(f"{node.op} {_target(node)}" for node in graph.nodes)

    def _items(self, value: Any, depth: int) -> Iterator[str]:
        if isinstance(value, dict):
            yield from (f"{self.text(k, depth)}: {self.text(v, depth)}" for k, v in value.items())
        elif isinstance(value, set | frozenset):
            yield from sorted(self.text(item, depth) for item in value)
        else:
            yield from (self.text(item, depth) for item in value)

    def _runs(self, module: nn.Module) -> list[str]:
        found = []
        for inputs in self.trial.inputs:
            torch.manual_seed(0)
            found.append(self._attempt(partial(module, *copy.deepcopy(inputs))))
        return found

    def _attempt(self, call: Callable[[], Any]) -> str:
        kept = len(self.tensors)
        try:
            return self.text(call())
        except CannotCompare:
            raise
        except Exception as error:
            del self.tensors[kept:]
            return f"raises {type(error).__name__}"

    def _caller(self, module: nn.Module) -> str:
        """The state of an object that belongs to the caller."""
        graph = rows(module.graph) if isinstance(module, fx.GraphModule) else ""
        modes = [part.training for part in module.modules()]
        return f"{graph} {modes} {self.text(dict(module.state_dict()))}"


def same_values(one: Any, other: Any) -> bool:
    """Whether two results are equal, with all tensors in them."""
    prints = [
        Print(p.text(value), p.tensors) for value in (one, other) for p in [_Printer(Trial())]
    ]
    return prints[0].equals(prints[1])


def rows(graph: fx.Graph) -> list[str]:
    """The instructions of a graph, with places instead of names."""
    places = {node: f"%{at}" for at, node in enumerate(graph.nodes)}

    def place(node: fx.Node) -> Any:
        return places.get(node, "%?")

    return [
        f"{node.op} {_target(node)} {fx.node.map_arg((node.args, node.kwargs), place)}"
        for node in graph.nodes
    ]


def _target(node: fx.Node) -> str:
    if isinstance(node.target, str):
        return node.target
    target: Any = node.target
    return f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', type(target))}"
