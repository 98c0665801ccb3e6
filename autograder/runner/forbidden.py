"""Records the use of attributes that a task forbids, without preventing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from types import CodeType
from typing import Any
from unittest import mock

from autograder.core.code_objects import codes_of

Row = tuple[Any, ...]
"""``(owner, name)``. A use by FX's own code does not count, unless the row continues with
``"anywhere"``, which counts every use."""


_FX = ("torch.fx.", "autograder.speed.")
"""Modules of FX, and those that replace a part of FX with something faster."""


@cache
def _codes_of_fx() -> Mapping[int, CodeType]:
    """The code objects of FX by id, because a learner can make an equal code object.

    They are collected once, before the first spy replaces a property.
    """
    modules = [each for key, each in list(sys.modules.items()) if f"{key}.".startswith(_FX)]
    values = [
        value
        for module in modules
        for value in list(vars(module).values())
        if getattr(value, "__module__", None) == module.__name__
    ]
    parts = [part for value in values for part in (value, *_properties_of(value))]
    return {id(code): code for part in parts for code in codes_of(part)}


def _properties_of(value: Any) -> Iterator[Callable[..., Any]]:
    """The getter functions of a class's properties."""
    for part in vars(value).values() if isinstance(value, type) else ():
        if isinstance(part, property) and part.fget is not None:
            yield part.fget


class _Spy:
    """Replaces one attribute, and records its uses while `used` is a list."""

    def __init__(self, original: Any, name: str) -> None:
        self.name, self.anywhere = name, False
        self.used: list[str] | None = None
        note = self._noting()
        self.stand_in = (
            _property(original, note) if not callable(original) else _call(original, note)
        )

    def _noting(self) -> Callable[[], None]:
        """Make a function that records a use of the attribute by the caller of its caller.

        Its data is in its closure, because a cell could assign to a global name.
        """
        frame, codes = sys._getframe, _codes_of_fx()

        def note() -> None:
            if self.used is None or self.name in self.used:
                return
            if self.anywhere or id(frame(2).f_code) not in codes:
                self.used.append(self.name)

        return note


def _property(original: Any, note: Callable[[], None]) -> property:
    def read(owner: Any) -> Any:
        note()
        return original.__get__(owner, type(owner))

    return property(read, lambda owner, value: original.__set__(owner, value))


def _call(original: Callable[..., Any], note: Callable[[], None]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        note()
        return original(*args, **kwargs)

    return call


_installed_spies: dict[tuple[int, str], _Spy] = {}


def install_spies(forbidden: Iterable[Row]) -> None:
    """Replace these attributes by spies for the lifetime of the process.

    This runs in processes for students' code, before that code can keep a reference to the
    attribute.
    """
    for owner, name, *_ in forbidden:
        if (id(owner), name) not in _installed_spies:
            watch = _Spy(getattr(owner, name), name)
            _installed_spies[id(owner), name] = watch
            setattr(owner, name, watch.stand_in)


@contextmanager
def spying_on(forbidden: tuple[Row, ...]) -> Iterator[list[str]]:
    """Yield a list to which the name of each forbidden attribute is added when it is first used.

    Args:
        forbidden: the attributes.
    """
    used: list[str] = []
    with ExitStack() as stack:
        for owner, name, *where in forbidden:
            watch = _installed_spies.get((id(owner), name))
            if watch is None:
                watch = _Spy(getattr(owner, name), name)
                patched = mock.patch.object(owner, name, watch.stand_in, create=True)
                stack.enter_context(patched)
            watch.used, watch.anywhere = used, bool(where)
            stack.callback(setattr, watch, "used", None)
        yield used
