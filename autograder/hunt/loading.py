"""Loads the pass and the oracle of a hunt from ``MODULE:NAME``."""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from autograder.core.torch_private import is_exported
from autograder.hunt.standalone import returned, returned_program
from autograder.hunt.trying import Change, Given, Misused, Oracle, first_line


class CannotLoad(Exception):
    """The function does not exist or cannot be used; the message says what to do."""


def loaded(words: str, what: str) -> Callable[..., Any]:
    """Load the function with the name ``MODULE:NAME`` or ``FILE.py:NAME``.

    Args:
        words: this name.
        what: its part in the hunt, for messages: ``the pass`` or ``the oracle``.

    Raises:
        CannotLoad: if there is no such function.
    """
    place, colon, name = words.rpartition(":")
    if not colon or not place or not name:
        raise CannotLoad(
            f"{words!r} does not name {what}. Write MODULE:FUNCTION, such as my_passes:fold or "
            "my_passes.py:fold."
        )
    value: Any = _module(place, what)
    for part in name.split("."):
        if not hasattr(value, part):
            raise CannotLoad(f"{place!r} has no {part!r}.{_near(part, value)}")
        value = getattr(value, part)
    if inspect.isclass(value):
        raise CannotLoad(
            f"{words!r} is a class. Name an object that can be called. In your module, write "
            f"`run = {value.__name__}(...)`, and name {place}:run."
        )
    if not callable(value):
        raise CannotLoad(f"{words!r} cannot be called: it is of type {type(value).__name__}.")
    _demand_one_argument(value, words)
    found: Callable[..., Any] = value
    return found


def _module(place: str, what: str) -> ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # last, so that a file here does not hide a library
    path = Path(place)
    if path.suffix == ".py" or os.sep in place:
        return _from_file(path, what)
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name and (place == error.name or place.startswith(f"{error.name}.")):
            raise CannotLoad(
                f"There is no module {place!r} for {what}, neither in this folder nor among the "
                f"installed packages. To name a file, write {place}.py:NAME."
            ) from None
        says = first_line(error).rstrip(".")
        raise CannotLoad(f"{place!r} cannot be imported: {says}.") from error
    except (Exception, SystemExit) as error:
        raise _raised(place, error) from error


def _from_file(path: Path, what: str) -> ModuleType:
    if not path.is_file():
        raise CannotLoad(f"There is no file '{path}' for {what}.")
    if str(path.parent.resolve()) not in sys.path:
        sys.path.append(str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise CannotLoad(f"'{path}' is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _raised(str(path), error) from error
    return module


def _raised(place: str, error: BaseException) -> CannotLoad:
    says = f"{type(error).__name__}: {first_line(error)}".rstrip(".")
    return CannotLoad(f"'{place}' cannot be imported: it raises {says}.")


def _near(name: str, value: Any) -> str:
    near = difflib.get_close_matches(name, [n for n in dir(value) if not n.startswith("_")])
    return f" Did you mean {', '.join(map(repr, near))}?" if near else ""


def _demand_one_argument(function: Callable[..., Any], words: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # some functions have no signature
    try:
        signature.bind(object())
    except TypeError:
        raise CannotLoad(
            f"{words!r} cannot be called with one argument: it is {words.rpartition(':')[2]}"
            f"{signature}. Write a function that takes only the model, and calls it."
        ) from None


def as_change(function: Callable[[Any], Any], given: Given = "trace") -> Change:
    """Adapt a user's pass to the form in which a hunt calls it.

    It may change its input and return nothing, or return a module, a `PassResult`, a graph, or a
    pair of a module and another value. With ``exported``, it returns a program.
    """

    def change_program(given: Any, inputs: Any) -> Callable[..., Any]:
        program = returned_program(function(given), given)
        if not is_exported(program):
            raise Misused(
                f"Your pass returned an object of type {type(program).__name__}. With --given "
                "exported it must return an ExportedProgram, or change its input and return "
                "nothing."
            )
        try:
            module: Callable[..., Any] = program.module()
        except Exception as error:
            return functools.partial(_raise, error)  # like a result that cannot be called
        return module

    def change(given: Any, inputs: Any) -> Callable[..., Any]:
        result = returned(function(given), given)
        if not callable(result):
            raise Misused(
                f"Your pass returned an object of type {type(result).__name__}. It must return a "
                "module, a PassResult or a Graph, or change its input and return nothing."
            )
        changed: Callable[..., Any] = result
        return changed

    return change_program if given == "exported" else change


def _raise(error: Exception, *args: Any, **kwargs: Any) -> None:
    raise error


def as_oracle(function: Callable[[nn.Module], Any]) -> Oracle:
    """Adapt a user's oracle to the form in which a hunt calls it."""

    def oracle(model: nn.Module) -> Callable[..., Any]:
        right = function(model)
        if not callable(right):
            raise Misused(
                f"Your oracle returned an object of type {type(right).__name__}. It must take the "
                "model and return the expected one: a module, or a function of the model's "
                "arguments."
            )
        found: Callable[..., Any] = right
        return found

    return oracle
