"""Notes the use of attributes that a task forbids, without getting in the way."""

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
"""``(owner, name)``; use from within FX's own code does not count, unless the row goes on with
``"anywhere"``: however a learner gets there."""


_FX = ("torch.fx.", "autograder.speed.")
"""Modules of FX, and those that replace a part of FX with something faster."""


@cache
def _codes_of_fx() -> Mapping[int, CodeType]:
    """The code objects of FX, by their ids, as equal ones can be made.

    They are collected once, before the first spy takes the place of a property.
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
    """The functions behind the properties of a class."""
    for part in vars(value).values() if isinstance(value, type) else ():
        if isinstance(part, property) and part.fget is not None:
            yield part.fget


class _Spy:
    """Stands before one attribute, and notes its use while somebody wants to know."""

    def __init__(self, original: Any, name: str) -> None:
        self.name, self.anywhere = name, False
        self.used: list[str] | None = None
        note = self._noting()
        self.stand_in = (
            _property(original, note) if not callable(original) else _call(original, note)
        )

    def _noting(self) -> Callable[[], None]:
        """A function that notes that the attribute is used by whoever called its caller.

        What it needs is in its closure, and not under a name that a cell can give another meaning.
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


_standing: dict[tuple[int, str], _Spy] = {}


def install_spies(forbidden: Iterable[Row]) -> None:
    """Stand before these attributes from now on, for good.

    In a process for students' code, so that none of it can keep the attribute itself for later.
    """
    for owner, name, *_ in forbidden:
        if (id(owner), name) not in _standing:
            watch = _Spy(getattr(owner, name), name)
            _standing[id(owner), name] = watch
            setattr(owner, name, watch.stand_in)


@contextmanager
def spying_on(forbidden: tuple[Row, ...]) -> Iterator[list[str]]:
    """Yield a list that grows by the name of each forbidden attribute as it is used.

    Args:
        forbidden: the attributes.
    """
    used: list[str] = []
    with ExitStack() as stack:
        for owner, name, *where in forbidden:
            watch = _standing.get((id(owner), name))
            if watch is None:
                watch = _Spy(getattr(owner, name), name)
                patched = mock.patch.object(owner, name, watch.stand_in, create=True)
                stack.enter_context(patched)
            watch.used, watch.anywhere = used, bool(where)
            stack.callback(setattr, watch, "used", None)
        yield used
