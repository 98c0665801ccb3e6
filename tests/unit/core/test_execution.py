"""Copies of a call's inputs, which match those of `copy.deepcopy`."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from autograder.core.execution import copied

BASE = torch.arange(12.0).reshape(3, 4)


def with_mark() -> torch.Tensor:
    """A tensor with an attribute."""
    tensor = torch.ones(2)
    tensor.mark = "mine"  # type: ignore[attr-defined]
    return tensor


INPUTS: dict[str, tuple[Any, ...]] = {
    "plain ones": (torch.ones(2, 3), torch.zeros(1, dtype=torch.int64), 3, "a", None, True, 2.5),
    "one twice": (BASE, BASE),
    "a view beside it": (BASE, BASE.view(-1)),
    "a column": (BASE[:, 1],),
    "turned": (BASE.T,),
    "a part": (BASE[1:],),
    "empty": (torch.ones(0), torch.ones(0, 3)),
    "trained": (torch.ones(2, requires_grad=True),),
    "conjugated": (torch.ones(2, dtype=torch.complex64).conj(),),
    "with an attribute": (with_mark(),),
    "on meta": (torch.ones(2, device="meta"),),
    "nested": ([torch.ones(2)], {"a": torch.ones(1)}),
    "none": (),
}


@pytest.mark.parametrize("inputs", INPUTS.values(), ids=INPUTS)
def test_copies_are_as_deepcopy_makes_them(inputs: tuple[Any, ...]) -> None:
    for one, other in zip(copied(inputs), copy.deepcopy(inputs), strict=True):
        assert type(one) is type(other)
        if isinstance(one, torch.Tensor):
            assert (one.stride(), one.dtype, one.device) == (
                other.stride(), other.dtype, other.device,
            )  # fmt: skip
            assert one.storage_offset() == other.storage_offset()
            assert (one.requires_grad, one.is_leaf) == (other.requires_grad, other.is_leaf)
            assert vars(one) == vars(other) and one.is_conj() == other.is_conj()
            assert one.is_meta or torch.equal(one, other)


@pytest.mark.parametrize("inputs", INPUTS.values(), ids=INPUTS)
def test_what_shares_memory_still_does(inputs: tuple[Any, ...]) -> None:
    def places(values: tuple[Any, ...]) -> list[int]:
        found = [
            value.untyped_storage().data_ptr()
            for value in values
            if isinstance(value, torch.Tensor)
        ]
        return [found.index(place) for place in found]

    mine = copied(inputs)
    assert places(mine) == places(inputs)
    for one, other in zip(mine, inputs, strict=True):
        if isinstance(one, torch.Tensor) and one.numel() and not one.is_meta:
            assert one.data_ptr() != other.data_ptr()
