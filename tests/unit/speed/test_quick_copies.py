"""What `quick_copies` copies is what `copy.deepcopy` makes without it."""

from __future__ import annotations

import copy
import traceback
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import fx, nn

from autograder.core import quick_copies


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    """With the quick ways; what was there before comes back."""
    ways = copy._deepcopy_dispatch  # type: ignore[attr-defined]
    before = dict(ways)
    quick_copies.install()
    yield
    ways.clear()
    ways.update(before)


def test_parts_that_are_shared_share_their_copy() -> None:
    part = [1]
    made = copy.deepcopy({"a": part, "b": OrderedDict(c=part), "d": (part,)})
    assert made["a"] is made["b"]["c"] is made["d"][0]
    assert made["a"] is not part


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_what_holds_itself_is_copied(kind: type[dict[str, Any]]) -> None:
    value = kind(other=[])
    value["self"] = value
    made = copy.deepcopy(value)
    assert made["self"] is made is not value
    assert type(made) is kind
    assert made["other"] is not value["other"]


def test_the_order_of_names_stays() -> None:
    value = OrderedDict.fromkeys("cab")
    value.move_to_end("c")
    assert list(copy.deepcopy(value)) == ["a", "b", "c"]


def test_keys_are_copied_and_shared_with_values() -> None:
    class Key:
        pass

    key = Key()
    (own, value), *_ = copy.deepcopy({key: key}).items()
    assert own is value is not key


def test_attributes_of_an_ordered_dictionary_are_copied() -> None:
    value: Any = OrderedDict(a=1)
    value.note = [2]
    made = copy.deepcopy(value)
    assert made == value
    assert made.note == [2]
    assert made.note is not value.note


def test_a_class_that_derives_from_one_is_copied_as_ever() -> None:
    class Named(OrderedDict[str, int]):
        def __deepcopy__(self, memo: dict[int, Any]) -> str:
            return "its own way"

    assert copy.deepcopy({"a": Named()}) == {"a": "its own way"}


def test_sets_are_copied_with_what_they_hold() -> None:
    class Key:
        pass

    key = Key()
    (own,) = copy.deepcopy({key})
    assert own is not key
    assert copy.deepcopy({"a", 1}) == {"a", 1}
    empty: set[int] = set()
    assert copy.deepcopy(empty) is not empty


def test_a_memo_counts_for_numbers_and_names_too() -> None:
    number = 12345678
    assert copy.deepcopy({"a": number}, {id(number): "known"}) == {"a": "known"}


def test_a_graph_module_and_its_copy_share_nothing_and_do_the_same() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(2, 2)
            self.again = nn.Linear(2, 2)
            self.again.weight = self.first.weight
            self.norm = nn.BatchNorm1d(2)
            self.register_buffer("kept", torch.ones(2), persistent=False)
            self.norm.register_forward_hook(lambda *_: None)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = self.norm(self.again(self.first(x))) + self.kept
            return y

    gm = fx.symbolic_trace(Tied().eval())
    made = copy.deepcopy(gm)
    assert made.first.weight is made.again.weight
    assert made.first is not gm.first
    assert made.code == gm.code
    assert made.norm._forward_hooks.keys() == gm.norm._forward_hooks.keys()
    assert made._non_persistent_buffers_set == {"kept"}
    assert made._non_persistent_buffers_set is not gm._non_persistent_buffers_set
    x = torch.randn(3, 2)
    assert torch.equal(made(x), gm(x))
    assert not {p.data_ptr() for p in made.parameters()} & {p.data_ptr() for p in gm.parameters()}


def test_an_error_within_is_shown_as_the_librarys() -> None:
    class Odd:
        def __deepcopy__(self, memo: dict[int, Any]) -> Any:
            raise ValueError("not me")

    with pytest.raises(ValueError, match="not me") as caught:
        copy.deepcopy(OrderedDict(a=Odd()))
    files = {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)}
    assert files == {__file__, copy.__file__}
