"""State that an answer keeps between its calls: class attributes, defaults, outer variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from autograder.runner.exceptions import is_learners

_CONTAINERS = (list, dict, set, deque)
_PLAIN = (int, float, str, bool, type(None))


@dataclass(frozen=True)
class Kept:
    """One object or variable that outlives a call and was changed by calls.

    Attributes:
        name: its name in the learner's code.
        words: a description for a sentence: ``a list outside of your function``.
        kind: ``"class"``, ``"default"`` or ``"outside"``.
    """

    name: str
    words: str
    kind: str


@dataclass
class _SavedState:
    kept: Kept
    value: Any
    copy: Any
    put_back: Callable[[], None] = field(repr=False)
    now: Callable[[], Any] = field(repr=False)

    @property
    def changed(self) -> bool:
        now = self.now()
        if isinstance(self.value, _PLAIN):
            return type(now) is not type(self.value) or now != self.value
        try:
            return len(now) != len(self.copy) or bool(now != self.copy)
        except Exception:  # items that cannot be compared, such as tensors
            return False


class LastingState:
    """All lasting state that an answer can reach, saved before its first call.

    Args:
        answer: the learner's function or class.
    """

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        found = _of(answer, depth=2)
        self._held = list({(held.kept.name, id(held.value)): held for held in found}.values())

    def changed(self) -> list[Kept]:
        """The state that differs from the saved one."""
        return [held.kept for held in self._held if held.changed]

    def restore(self) -> None:
        """Restore the saved state of containers and plain values."""
        for held in self._held:
            held.put_back()

    def forgetful(self) -> Any:
        """Wrap the answer so that each call, or each new object, begins with the saved state."""
        answer, restore = self._answer, self.restore
        if isinstance(answer, type):

            def begin(self: Any, *args: Any, **kwargs: Any) -> None:
                restore()
                answer.__init__(self, *args, **kwargs)  # type: ignore[misc]

            return type(answer.__name__, (answer,), {"__init__": begin})

        def call(*args: Any, **kwargs: Any) -> Any:
            restore()
            return answer(*args, **kwargs)

        return call


def _of(answer: Any, depth: int) -> Iterator[_SavedState]:
    if isinstance(answer, type):
        for name, value in list(vars(answer).items()):
            if isinstance(value, _CONTAINERS):
                kind = type(value).__name__
                kept = Kept(
                    name, f"a `{kind}` that belongs to the class `{answer.__name__}`", "class"
                )
                yield _container(kept, value)
            elif isinstance(value, FunctionType):
                yield from _of(value, depth)
    elif isinstance(answer, FunctionType) and is_learners(answer.__code__.co_filename):
        yield from _of_function(answer, depth)


def _of_function(function: FunctionType, depth: int) -> Iterator[_SavedState]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = function.__defaults__ or ()
    given = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    for name, value in (given | (function.__kwdefaults__ or {})).items():
        if isinstance(value, _CONTAINERS):
            words = (
                f"the default value of a parameter, which is one `{type(value).__name__}` for all"
            )
            yield _container(Kept(name, f"{words} calls", "default"), value)
    for name in dict.fromkeys(_names(function.__code__)):
        if name in function.__globals__:
            yield from _of_name(function.__globals__, name, function.__globals__[name], depth)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        try:
            value = cell.cell_contents
        except ValueError:
            continue  # not filled yet
        yield from _of_value(_outside(name, value), value, depth)


def _of_name(names: dict[str, Any], name: str, value: Any, depth: int) -> Iterator[_SavedState]:
    if isinstance(value, _PLAIN):
        yield _SavedState(
            _outside(name, value),
            value,
            value,
            lambda: names.__setitem__(name, value),
            lambda: names.get(name),
        )
    else:
        yield from _of_value(_outside(name, value), value, depth)


def _of_value(kept: Kept, value: Any, depth: int) -> Iterator[_SavedState]:
    if isinstance(value, _CONTAINERS):
        yield _container(kept, value)
    elif depth and isinstance(value, FunctionType):
        yield from _of(value, depth - 1)
    elif depth and isinstance(value, type) and not value.__module__.startswith("torch"):
        yield from _of(value, depth - 1)


def _outside(name: str, value: Any) -> Kept:
    return Kept(name, f"a `{type(value).__name__}` outside of your function", "outside")


def _container(kept: Kept, value: Any) -> _SavedState:
    copy = value.copy()

    def put_back() -> None:
        value.clear()
        (value.update if isinstance(value, (dict, set)) else value.extend)(copy)

    return _SavedState(kept, value, copy, put_back, lambda: value)


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function's code uses, including functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
