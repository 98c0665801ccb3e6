"""Notes the use of attributes that a task forbids, without getting in the way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import torch

_TORCH_FOLDER = str(Path(torch.__file__).parent)


@contextmanager
def recording_use(forbidden: tuple[tuple[Any, ...], ...]) -> Iterator[list[str]]:
    """Yield a list that grows by the name of each forbidden attribute as it is used.

    Args:
        forbidden: ``(owner class, name)`` rows. Use from within PyTorch's own code does not
            count, unless the row goes on with ``"anywhere"``: however a learner gets there.
    """
    used: list[str] = []
    with ExitStack() as stack:
        for owner, name, *where in forbidden:
            recorder = _recorder(getattr(owner, name), name, used, bool(where))
            stack.enter_context(mock.patch.object(owner, name, recorder, create=True))
        yield used


def _recorder(original: Any, name: str, used: list[str], anywhere: bool) -> Any:
    def note() -> None:
        caller = sys._getframe(2).f_code.co_filename
        if (anywhere or not caller.startswith(_TORCH_FOLDER)) and name not in used:
            used.append(name)

    if not callable(original):

        def read(self: Any) -> Any:
            note()
            return original.__get__(self, type(self))

        def write(self: Any, value: Any) -> None:
            original.__set__(self, value)

        return property(read, write)
    return _recording_function(original, note)


def _recording_function(original: Callable[..., Any], note: Callable[[], None]) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        note()
        return original(*args, **kwargs)

    return call
