"""Differences in behavior between two models, and changes that do not count."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn

from autograder.hunt import behaviour as doing
from autograder.hunt.behaviour import behaviour, calls_of, unlike

X = torch.tensor([1.0, -2.0], dtype=torch.float64)


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.by = nn.Parameter(torch.tensor(3.0, dtype=torch.float64))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor, k: float = 2.0) -> torch.Tensor:
        self.calls += 1
        return x * self.by * k


class Wrapped(Scale):
    """The same model with one change in behavior."""

    def __init__(self, change: Callable[[Scale, torch.Tensor, float], torch.Tensor]) -> None:
        super().__init__()
        self.change = change

    def forward(self, x: torch.Tensor, k: float = 2.0) -> torch.Tensor:
        return self.change(self, x, k)


def _right(model: Scale, x: torch.Tensor, k: float) -> torch.Tensor:
    model.calls += 1
    return x * model.by * k


def _writes(model: Scale, x: torch.Tensor, k: float) -> torch.Tensor:
    out = _right(model, x, k)
    x.zero_()
    return out


def _counts_twice(model: Scale, x: torch.Tensor, k: float) -> torch.Tensor:
    model.calls += 1
    return _right(model, x, k)


def _remembers(model: Scale, x: torch.Tensor, k: float) -> torch.Tensor:
    return _right(model, x, k) * (1 if model.calls <= 2 else 2)


def _detached(model: Scale, x: torch.Tensor, k: float) -> torch.Tensor:
    return _right(model, x.detach(), k)


def _frozen(model: Scale, x: torch.Tensor, k: float) -> torch.Tensor:
    model.calls += 1
    return x * model.by.detach() * k


def _raises(model: Scale, x: torch.Tensor, k: float) -> torch.Tensor:
    raise ValueError("no")


def _single(model: Scale, x: torch.Tensor, k: float) -> torch.Tensor:
    return _right(model, x, k).float()


def _differs(change: Callable[[Scale, torch.Tensor, float], torch.Tensor]) -> str:
    inputs = ((X,), (X, -0.5))
    calls = calls_of(Scale(), inputs)
    want, got = behaviour(Scale(), calls), behaviour(Wrapped(change), calls)
    found = unlike(got, want)
    return found[0] if found else ""


@pytest.mark.parametrize(
    ("change", "aspect"),
    [
        (_right, ""),
        (_writes, doing.ARGUMENTS),
        (_counts_twice, doing.STATE),
        (_remembers, doing.AGAIN),
        (_detached, doing.ARGUMENT_GRADIENTS),
        (_frozen, doing.PARAMETER_GRADIENTS),
        (_raises, doing.RESULT),
        (_single, doing.RESULT),
        (lambda model, x, k: _right(model, x, k) + 1e-3, doing.RESULT),
    ],
)
def test_each_difference_is_seen_for_what_it_is(
    change: Callable[[Scale, torch.Tensor, float], torch.Tensor], aspect: str
) -> None:
    assert _differs(change) == aspect


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_writes, "the argument `x` after the call has other values"),
        (_detached, "the gradient of the argument `x` has other values"),
        (_frozen, "the gradient of `by` has other values"),
    ],
)
def test_an_argument_is_called_by_its_name(
    change: Callable[[Scale, torch.Tensor, float], torch.Tensor], says: str
) -> None:
    calls = calls_of(Scale(), ((X,),))
    found = unlike(behaviour(Wrapped(change), calls), behaviour(Scale(), calls))
    assert found and found[1].startswith(says)


def test_an_argument_of_a_star_is_called_by_its_place() -> None:
    class Starred(nn.Module):
        def forward(self, x: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
            return x

    (call, *_) = calls_of(Starred(), ((X, X, X),))
    assert call.names == ("x", "rest[0]", "rest[1]")


def test_a_call_by_keyword_is_tried() -> None:
    class Deaf(Scale):
        def __call__(self, *args: object, **kwargs: object) -> object:
            return super().__call__(*args)

    calls = calls_of(Scale(), ((X, -0.5),))
    found = unlike(behaviour(Deaf(), calls), behaviour(Scale(), calls))
    assert found and found[0] == doing.KEYWORDS


def test_modes_count_for_all_but_modules_that_only_hold_others() -> None:
    def model(mode: bool) -> nn.Module:
        outer = nn.Sequential(nn.Dropout(0.0)).eval()
        outer[0].train(mode)
        outer.holder = nn.Module().train(mode)
        return outer

    calls = calls_of(model(True), ((X,),))
    found = unlike(behaviour(model(True), calls), behaviour(model(False), calls))
    assert found == (doing.MODES, "`0` is in training mode")
    plain = model(False)
    plain.holder.train()
    assert unlike(behaviour(plain, calls), behaviour(model(False), calls)) is None


def test_what_is_not_asked_about_may_differ() -> None:
    calls = calls_of(Scale(), ((X,),))
    want, got = behaviour(Scale(), calls), behaviour(Wrapped(_frozen), calls)
    left = [a for a in doing.EVERYTHING if a != doing.PARAMETER_GRADIENTS]
    assert unlike(got, want, left) is None


def test_arguments_are_copied() -> None:
    mine = copy.deepcopy(X)
    behaviour(Wrapped(_writes), calls_of(Scale(), ((mine,),)))
    assert torch.equal(mine, X)
