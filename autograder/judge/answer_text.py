"""The source text of an answer, read in the process that defined it."""

from __future__ import annotations

import inspect
import linecache
import re
import types
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """The cells that contain the text of an answer.

    Attributes:
        cells: the sources of the code cells that have run before the answer is tried, in order.
        name: the name of the answer in these cells.
    """

    cells: tuple[str, ...]
    name: str

    @property
    def cell(self) -> str:
        """The last cell that defines the answer; ``""`` if none does."""
        defines = re.compile(rf"^(?:def|class)\s+{self.name}\b", re.M)
        return next((each for each in reversed(self.cells) if defines.search(each)), "")


def source_of_answer(answer: Any) -> Source | None:
    """The source cells of an answer, including the functions and classes that it may call.

    Python keeps the text of each cell under a file name of its own.

    Args:
        answer: a function or class.

    Returns:
        ``None`` if the text is unknown, for example for a function made by `functools`.
    """
    if not isinstance(getattr(answer, "__code__", None), types.CodeType):
        return None
    inner = inspect.unwrap(answer)  # a decorator may be defined in another file
    names = getattr(inner, "__globals__", {})
    files = dict.fromkeys(_files(names, answer.__module__))
    codes = (getattr(each, "__code__", None) for each in (answer, inner))
    own = dict.fromkeys(code.co_filename for code in codes if isinstance(code, types.CodeType))
    for file in own:
        files.pop(file, None)
    texts = ["".join(linecache.getlines(file)) for file in (*files, *own)]
    return Source(tuple(texts), _name_of(answer, names)) if texts[-1] else None


def _name_of(answer: Any, names: dict[str, Any]) -> str:
    """The name of an answer in its file; a wrapper or a lambda has another `__name__`."""
    own: str = answer.__code__.co_name
    known = [own, answer.__name__, *(name for name in names if not name.startswith("_"))]
    return next((name for name in known if names.get(name) is answer), own)


def _files(names: dict[str, Any], module: str) -> list[str]:
    """The files of the functions and classes that a module itself defines."""
    found = []
    for value in list(names.values()):
        if getattr(value, "__module__", None) != module:
            continue
        parts = vars(value).values() if isinstance(value, type) else (value,)
        codes = (getattr(part, "__code__", None) for part in parts)
        found += [code.co_filename for code in codes if isinstance(code, types.CodeType)]
    return found
