"""Snapshots detect a call's changes to the caller's objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograder.core.outcome import Change, Part
from autograder.runner.snapshot import Snapshot

X = "`requires_grad` of an input tensor"
NESTED = "`requires_grad` of tensor 1 of an argument"


def asks(value: Any) -> None:
    """Set `requires_grad` on the last tensor of a value."""
    tensor = value if isinstance(value, torch.Tensor) else value[-1]
    tensor.requires_grad_()


def asks_no_more(value: Any) -> None:
    """Unset `requires_grad` on the last tensor of a value."""
    tensor = value if isinstance(value, torch.Tensor) else value[-1]
    tensor.requires_grad_(False)


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda needs: torch.ones(2, requires_grad=needs), X),
        (lambda needs: (torch.ones(2), torch.ones(2, requires_grad=needs)), NESTED),
        (lambda needs: [torch.ones(2), torch.ones(2, requires_grad=needs)], NESTED),
    ],
    ids=["a tensor", "a tuple", "a list"],
)
@pytest.mark.parametrize("needs", [False, True])
def test_whether_gradients_are_asked_for_is_noted(
    make: Callable[[bool], Any], where: str, needs: bool
) -> None:
    value = make(needs)
    before = Snapshot(value)
    assert before.changes() == []
    (asks_no_more if needs else asks)(value)
    assert before.changes() == [Change(Part.TENSOR, f"{where} was changed")]
