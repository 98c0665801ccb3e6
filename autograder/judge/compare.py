"""Compares two plain values, and words the first difference.

Two values are the same under the course's contract if they have the same structure, dtype and
shape, and are equal under `torch.testing.assert_close` with the tolerances of the dtype and
NaN equal to NaN. Python numbers are the same only if they have the same type.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from autograder.core.codec import Encoded, kind_of, show, unwrap

Table = list[torch.Tensor]


@dataclass(frozen=True)
class Difference:
    """The first difference found.

    Attributes:
        code: ``wrong-structure``, ``wrong-dtype``, ``wrong-shape`` or ``wrong-result``.
        text: a clause such as ``the result has dtype float32, not float64``.
    """

    code: str
    text: str


def difference(
    got: Encoded, got_tensors: Table, want: Encoded, want_tensors: Table, where: str = "the result"
) -> Difference | None:
    """Find the first difference between two plain values; ``None`` if they are the same."""
    if _kind(got) != _kind(want):
        return Difference("wrong-structure", f"{where} is {kind_of(got)}, not {kind_of(want)}")
    if not isinstance(got, dict):
        return None if _same_scalar(got, want) else _unequal(where, got, want)
    if "tensor" in got:
        return _tensor_difference(got_tensors[got["tensor"]], want_tensors[want["tensor"]], where)
    if (kind := _kind(got)) in ("list", "tuple"):
        mine, theirs = unwrap(got)[1], unwrap(want)[1]
        return _sequence_difference(mine, got_tensors, theirs, want_tensors, where)
    if kind == "dict":
        return _dict_difference(got["dict"], got_tensors, want["dict"], want_tensors, where)
    return None if got == want else _unequal(where, got, want)


def _kind(value: Encoded) -> str:
    if isinstance(value, dict):
        # A non-finite float is encoded as text; it is still a float.
        return next(iter(value)) if "float" not in value else "float"
    return type(value).__name__


def _same_scalar(a: Encoded, b: Encoded) -> bool:
    if type(a) is float and type(b) is float:
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return type(a) is type(b) and a == b


def _unequal(where: str, got: Encoded, want: Encoded) -> Difference:
    return Difference("wrong-result", f"{where} is {show(got)}, not {show(want)}")


def _sequence_difference(
    got: list[Encoded], got_tensors: Table, want: list[Encoded], want_tensors: Table, where: str
) -> Difference | None:
    if len(got) != len(want):
        return Difference("wrong-structure", f"{where} has {_items(len(got))}, not {len(want)}")
    for i, (a, b) in enumerate(zip(got, want, strict=True), 1):
        place = f"the {ordinal(i)} item of {where}" if len(got) > 1 else f"the item of {where}"
        found = difference(a, got_tensors, b, want_tensors, place)
        if found:
            return found
    return None


def ordinal(number: int) -> str:
    """``1st``, ``2nd``, ``3rd``, ``4th`` …"""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"


def times(count: int) -> str:
    """A number of times in words."""
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"


def _dict_difference(
    got: list[list[Encoded]],
    got_tensors: Table,
    want: list[list[Encoded]],
    want_tensors: Table,
    where: str,
) -> Difference | None:
    ours = {show(key): value for key, value in got}
    theirs = {show(key): value for key, value in want}
    for key in theirs:
        if key not in ours:
            return Difference("wrong-structure", f"{where} has no key {key}")
    for key in ours:
        if key not in theirs:
            return Difference("wrong-structure", f"{where} has a key {key} too many")
    for key in theirs:
        found = difference(
            ours[key], got_tensors, theirs[key], want_tensors, f"{where} at key {key}"
        )
        if found:
            return found
    return None


def _tensor_difference(got: torch.Tensor, want: torch.Tensor, where: str) -> Difference | None:
    if got.dtype != want.dtype:
        names = (str(t.dtype).removeprefix("torch.") for t in (got, want))
        return Difference("wrong-dtype", "{} has dtype {}, not {}".format(where, *names))
    if got.shape != want.shape:
        return Difference(
            "wrong-shape", f"{where} has shape {tuple(got.shape)}, not {tuple(want.shape)}"
        )
    if torch.equal(got, want):  # true for most tensors, and much faster
        return None
    try:
        torch.testing.assert_close(got, want, equal_nan=True)
    except AssertionError:
        text = f"{where} has other values: {_worst_entry(got, want)}{_distance(got, want)}"
        return Difference("wrong-result", text)
    return None


def _worst_entry(got: torch.Tensor, want: torch.Tensor) -> str:
    """The entry that differs most, with both values; the text of `_distance` follows it."""
    if got.dtype == torch.bool or got.is_complex() or not 1 < got.numel() <= _EXACT:
        at_all = got.numel() == 1 and not got.is_complex()
        return f"it is {_two_numbers(got, want)}; " if at_all else ""
    gap = (got.double() - want.double()).abs().nan_to_num(math.inf, math.inf)
    gap[(got == want) | (got.isnan() & want.isnan())] = 0
    place = [int(i) for i in torch.unravel_index(gap.argmax(), gap.shape)]
    return f"at {place} it is {_two_numbers(got[tuple(place)], want[tuple(place)])}; "


def _two_numbers(got: torch.Tensor, want: torch.Tensor) -> str:
    """Two entries that differ, with enough digits to show the difference."""
    a, b = got.item(), want.item()
    for digits in (4, 7, 17):
        words = [f"{v:.{digits}g}" if isinstance(v, float) else str(v) for v in (a, b)]
        if words[0] != words[1]:
            break
    return f"{words[0]}, not {words[1]}"


_EXACT = 100_000
"""Largest number of entries for which integers are subtracted one by one."""


def _distance(got: torch.Tensor, want: torch.Tensor) -> str:
    if got.dtype == torch.bool:
        return f"{int((got != want).sum())} of {got.numel()} entries differ"
    if not (got.is_floating_point() or got.is_complex()) and got.numel() <= _EXACT:
        # A float cannot represent every large integer: two that differ could look the same.
        pairs = zip(got.flatten().tolist(), want.flatten().tolist(), strict=True)
        return f"the largest difference is {max(abs(a - b) for a, b in pairs)}"
    a, b = got.to(torch.complex128), want.to(torch.complex128)
    gap = (a - b).abs()
    worst = gap[gap.isfinite()].max().item() if gap.isfinite().any() else math.inf
    if not torch.equal(got.isnan(), want.isnan()):
        return f"NaN is in {int(got.isnan().sum())} entries, not in {int(want.isnan().sum())}"
    return f"the largest difference is {worst:.3g}"
