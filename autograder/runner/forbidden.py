"""Notes the use of attributes that a task forbids, without getting in the way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import torch

_TORCH_FOLDER = str(Path(torch.__file__).parent)

Row = tuple[Any, ...]
"""``(owner, name)``; use from within PyTorch's own code does not count, unless the row goes on
with ``"anywhere"``: however a learner gets there."""


class _Spy:
    """Stands before one attribute, and notes its use while somebody wants to know."""

    def __init__(self, original: Any, name: str) -> None:
        self.name, self.anywhere = name, False
        self.used: list[str] | None = None
        self.stand_in = self._property(original) if not callable(original) else self._call(original)

    def note(self) -> None:
        """Note that the attribute is used by whoever called the caller."""
        if self.used is None or self.name in self.used:
            return
        caller = sys._getframe(2).f_code.co_filename
        if self.anywhere or not caller.startswith(_TORCH_FOLDER):
            self.used.append(self.name)

    def _property(self, original: Any) -> property:
        def read(owner: Any) -> Any:
            self.note()
            return original.__get__(owner, type(owner))

        return property(read, lambda owner, value: original.__set__(owner, value))

    def _call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.note()
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
