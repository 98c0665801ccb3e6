"""Small models to look into, and things to look with: for `probe_values`."""

# A learner sees these classes as they stand here; their names say what they are for.
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
    """A node's name is not its target."""

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
    """Values that are collections, each of a kind of its own."""

    def forward(self, x):
        size, numbers = x.size(), x.sum(1).tolist()
        top = torch.max(x, 1)
        return (x.reshape(size) + top.values.sum()) * numbers[0]


class SameObject(nn.Module):
    """What a method in place returns is the tensor itself."""

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
    """The check is a call, too. Its value is `None`."""

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


class DefaultScale(nn.Module):
    def forward(self, input, scale=0.5, unread=None):
        return torch.sin(input) * scale


def traced_layers() -> fx.GraphModule:
    """A `GraphModule` that somebody else traced."""
    return fx.symbolic_trace(Layers())


# ------------------------------------------------------------------ probes


def _note(log: Log, name: str, value: Any) -> None:
    log.append((name, copy.deepcopy(value)))


def function_probe(log: Log) -> Probe:
    """A function that remembers what it is shown."""

    def record(name: str, value: Any) -> None:
        _note(log, name, value)

    return record


def answering_probe(log: Log) -> Probe:
    """A function that returns something, which nobody is to read."""

    def record(name: str, value: Any) -> str:
        _note(log, name, value)
        return "not for you"

    return record


def passing_probe(log: Log) -> Probe:
    """A function that returns the value it was shown."""

    def record(name: str, value: Any) -> Any:
        _note(log, name, value)
        return value

    return record


def namesake_probe(log: Log) -> Probe:
    """A function that is called as nodes are."""

    def sin(name: str, value: Any) -> None:
        _note(log, name, value)

    return sin


@dataclass
class Notes:
    """An object that can be called, and has no hash, as no plain dataclass has one."""

    log: Log

    def __call__(self, name: str, value: Any) -> None:
        """Remember a value."""
        _note(self.log, name, value)


def lambda_probe(log: Log) -> Probe:
    """A lambda."""
    return lambda name, value: _note(log, name, value)


class Collector:
    """An object that can be called, and whose method can be."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def record(self, name: str, value: Any) -> None:
        """Remember a value."""
        _note(self._log, name, value)

    def __call__(self, name: str, value: Any) -> None:
        self.record(name, value)


def method_probe(log: Log) -> Probe:
    """A bound method."""
    return Collector(log).record


def partial_probe(log: Log) -> Probe:
    """A partial function, which has no name."""
    return functools.partial(_note, log)


def built_in_probe(log: Log) -> Probe:
    """A bound method of an object that is not written in Python, as `{}.__setitem__` is.

    It has a `__name__`, and no module has a function of that name.
    """
    return functools.partial(_note, log).__call__


class Slots:
    """An object that can be called, takes no further attributes, and is false."""

    __slots__ = ("_log",)

    def __init__(self, log: Log) -> None:
        self._log = log

    def __len__(self) -> int:
        """How many values it keeps for itself: none."""
        return 0

    def __call__(self, name: str, value: Any) -> None:
        """Remember a value."""
        _note(self._log, name, value)


class Unique:
    """An object that can be called; copies of it remember nothing."""

    def __init__(self, log: Log) -> None:
        self._log, self._original = log, self

    def __call__(self, name: str, value: Any) -> None:
        """Remember a value."""
        if self is self._original:
            _note(self._log, name, value)


def nameless_probe(log: Log) -> Probe:
    """A function whose parameters have no names to call them by."""

    def record(label: str, seen: Any, /) -> None:
        _note(log, label, seen)

    return record


WHICH = "which is"
"""The key under which a `Recognizer` notes which value it saw again."""


class Recognizer:
    """Notes of each value which earlier one it is: the same object, not only an equal one."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._seen: list[tuple[str, Any]] = []

    def __call__(self, name: str, value: Any) -> None:
        """Remember a value, and what it was before."""
        if not self._log:  # another run
            self._seen.clear()
        known = next((earlier for earlier, seen in self._seen if seen is value), "new")
        self._seen.append((name, value))
        _note(self._log, name, {"value": value, WHICH: known})


class Stop(ArithmeticError):
    """What a probe raises."""


def stopping_probe(log: Log) -> Probe:
    """A function that stops the run at the first value that is a number, all alone."""

    def record(name: str, value: Any) -> None:
        _note(log, name, value)
        if isinstance(value, torch.Tensor) and value.dim() == 0:
            raise Stop(f"{name} is a number")

    return record


class Refusal(AttributeError, TypeError, ValueError, RuntimeError, LookupError):
    """What a probe raises that cannot make use of a value: of many kinds at once."""


def refusing_probe(log: Log) -> Probe:
    """A function that stops the run at the first value that is not a tensor."""

    def record(name: str, value: Any) -> None:
        _note(log, name, value)
        if not isinstance(value, torch.Tensor):
            raise Refusal(f"{name} is not a tensor")

    return record


@dataclass(frozen=True, eq=False)
class Probed:
    """Builds a trial whose answer is given a probe, which writes to the trial's log."""

    plain: Callable[[int], Trial]
    probe: Callable[[Log], Probe]
    another: bool = False
    """Whether the answer probes another model for somebody else before the result runs.

    The two probes are of one kind and name, as `first.append` and `second.append` are.
    """

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        made = self.plain(seed)
        made.args = (made.model, self.probe(made.log))
        made.watch = (made.log,)  # nobody is to be probed before the result runs
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
