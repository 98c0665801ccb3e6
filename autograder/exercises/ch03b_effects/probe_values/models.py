"""Small models, and probes for their values, for `probe_values`."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import Trial

Log = list[tuple[str, Any]]
Probe = Callable[[str, Any], Any]


class SinSum(nn.Module):
    def forward(self, x):
        return torch.sin(x).sum() * 2


class SinTwice(nn.Module):
    def forward(self, x):
        return torch.sin(torch.sin(x))


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.block = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))

    def forward(self, x):
        return self.block(x + self.weight)


class Names(nn.Module):
    """Names of nodes that differ from their targets."""

    def __init__(self):
        super().__init__()
        self.sin = nn.Tanh()

    def forward(self, x, y):
        return torch.sin(self.sin(x)) + y.sin() - torch.add(x, y)


class Readers(nn.Module):
    def forward(self, x, y):
        a = x * y
        b = torch.cat([a, x, a])
        return {"a": a, "rest": [b, (a.sin(), a)]}


class Overwritten(nn.Module):
    def forward(self, x):
        y = x * 2
        z = y.sin()
        y.mul_(100)
        return y + z


class Pieces(nn.Module):
    def forward(self, x):
        first, second = torch.split(x, [1, 2], dim=1)
        size = x.shape[0]
        return second.reshape(size, -1) * first


class Collections(nn.Module):
    """Values that are collections, each of another type."""

    def forward(self, x):
        size, numbers = x.size(), x.sum(1).tolist()
        top = torch.max(x, 1)
        return (x.reshape(size) + top.values.sum()) * numbers[0]


class SameObject(nn.Module):
    """A method in place returns the tensor itself."""

    def forward(self, x):
        y = x * 2
        z = y.relu_()
        pieces = torch.split(z.add_(1), [1, 2], dim=1)
        return pieces[0] + y


class DeadEnd(nn.Module):
    def forward(self, x):
        torch.cos(x).exp()
        return x.sin()


class Checked(nn.Module):
    """The check is also a call, with the value `None`."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        torch._assert(x.dim() == 2, "a matrix is needed")
        y = self.norm(x)
        return y.exp() if self.training else y


class NamesTaken(nn.Module):
    def __init__(self):
        super().__init__()
        self.probe = nn.Tanh()
        self._probe, self.probe_0, self.call_probe = nn.Sigmoid(), nn.Softsign(), nn.ELU()
        self.register_buffer("probe_1", torch.ones(3))
        self.probe_ = nn.Parameter(torch.ones(3))

    def forward(self, x):
        x = x * self.probe_ + self.probe_1
        return self.call_probe(self.probe_0(x)) - self._probe(self.probe(x))


def traced_layers() -> fx.GraphModule:
    """A model that is already a `GraphModule`."""
    return fx.symbolic_trace(Layers())


# ------------------------------------------------------------------ probes


def _note(log: Log, name: str, value: Any) -> None:
    log.append((name, copy.deepcopy(value)))


def function_probe(log: Log) -> Probe:
    """A function that records each value."""

    def record(name: str, value: Any) -> None:
        _note(log, name, value)

    return record


def answering_probe(log: Log) -> Probe:
    """A function with a result that no node should read."""

    def record(name: str, value: Any) -> str:
        _note(log, name, value)
        return "not for you"

    return record


def passing_probe(log: Log) -> Probe:
    """A function that returns the value."""

    def record(name: str, value: Any) -> Any:
        _note(log, name, value)
        return value

    return record


def namesake_probe(log: Log) -> Probe:
    """A function with the name of a node."""

    def sin(name: str, value: Any) -> None:
        _note(log, name, value)

    return sin


@dataclass
class Notes:
    """A callable object without a hash, like any plain dataclass."""

    log: Log

    def __call__(self, name: str, value: Any) -> None:
        """Record a value."""
        _note(self.log, name, value)


def lambda_probe(log: Log) -> Probe:
    """A lambda."""
    return lambda name, value: _note(log, name, value)


class Collector:
    """A callable object with a method that is also a probe."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def record(self, name: str, value: Any) -> None:
        """Record a value."""
        _note(self._log, name, value)

    def __call__(self, name: str, value: Any) -> None:
        self.record(name, value)


def method_probe(log: Log) -> Probe:
    """A bound method."""
    return Collector(log).record


def partial_probe(log: Log) -> Probe:
    """A partial function, which has no `__name__`."""
    return functools.partial(_note, log)


def built_in_probe(log: Log) -> Probe:
    """A bound method of a built-in object, such as `{}.__setitem__`.

    It has a `__name__`, but no module has a function with that name.
    """
    return functools.partial(_note, log).__call__


class Slots:
    """A callable object that is false and accepts no new attributes."""

    __slots__ = ("_log",)

    def __init__(self, log: Log) -> None:
        self._log = log

    def __len__(self) -> int:
        """Return 0, so that the object is false."""
        return 0

    def __call__(self, name: str, value: Any) -> None:
        """Record a value."""
        _note(self._log, name, value)


class Unique:
    """A callable object; its copies record nothing."""

    def __init__(self, log: Log) -> None:
        self._log, self._original = log, self

    def __call__(self, name: str, value: Any) -> None:
        """Record a value."""
        if self is self._original:
            _note(self._log, name, value)


def nameless_probe(log: Log) -> Probe:
    """A function with positional-only parameters."""

    def record(label: str, seen: Any, /) -> None:
        _note(log, label, seen)

    return record


WHICH = "which is"
"""The key under which a `Recognizer` records which earlier value it sees again."""


class Recognizer:
    """Records for each value the earlier value that is the same object, not only equal."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._seen: list[tuple[str, Any]] = []

    def __call__(self, name: str, value: Any) -> None:
        """Record a value, and the name under which it came before."""
        if not self._log:  # a new run
            self._seen.clear()
        known = next((earlier for earlier, seen in self._seen if seen is value), "new")
        self._seen.append((name, value))
        _note(self._log, name, {"value": value, WHICH: known})


class Stop(ArithmeticError):
    """The exception of a probe."""


def stopping_probe(log: Log) -> Probe:
    """A function that stops the run at the first tensor without dimensions."""

    def record(name: str, value: Any) -> None:
        _note(log, name, value)
        if isinstance(value, torch.Tensor) and value.dim() == 0:
            raise Stop(f"{name} is a number")

    return record


class Refusal(AttributeError, TypeError, ValueError, RuntimeError, LookupError):
    """The exception of a probe that cannot use a value; it has many types."""


def refusing_probe(log: Log) -> Probe:
    """A function that stops the run at the first value that is not a tensor."""

    def record(name: str, value: Any) -> None:
        _note(log, name, value)
        if not isinstance(value, torch.Tensor):
            raise Refusal(f"{name} is not a tensor")

    return record


@dataclass(frozen=True, eq=False)
class Probed:
    """Builds a trial that passes the answer a probe, which writes to the trial's log."""

    plain: Callable[[int], Trial]
    probe: Callable[[Log], Probe]
    another: bool = False
    """Whether the answer probes another model before the result runs.

    Both probes have the same type and name, like `first.append` and `second.append`.
    """

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        made = self.plain(seed)
        made.args = (made.model, self.probe(made.log))
        made.watch = (made.log,)  # the answer must not call the probe before the result runs
        if self.another:
            made.meanwhile = lambda answer: answer(self.plain(seed).model, self.probe([]))
        return made


PROBES = (
    function_probe,
    method_probe,
    Collector,
    passing_probe,
    method_probe,
    answering_probe,
    partial_probe,
    lambda_probe,
    Slots,
    nameless_probe,
)


def with_probe(trial: Trial, choice: int) -> Trial:
    """The trial with a probe that writes to its log."""
    probe = PROBES[choice % len(PROBES)]
    trial.args = (trial.model, probe(trial.log))
    trial.watch = (trial.log,)
    return trial
