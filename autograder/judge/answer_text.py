"""The text of an answer, as a learner's own process knows it."""

from __future__ import annotations

import inspect
import linecache
import re
import types
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """Where the text of an answer stands.

    Attributes:
        cells: the sources of the code cells that have run when the answer is tried, in order.
        name: what the answer is called in them.
    """

    cells: tuple[str, ...]
    name: str

    @property
    def cell(self) -> str:
        """The last cell that defines the answer; ``""`` if none does."""
        defines = re.compile(rf"^(?:def|class)\s+{self.name}\b", re.M)
        return next((each for each in reversed(self.cells) if defines.search(each)), "")


def source_of_answer(answer: Any) -> Source | None:
    """The cells of which an answer is made, as far as they are known here.

    Python keeps the text of each cell under the name of a file. Cells of other functions and
    classes that the answer may call are among them.

    Args:
        answer: a function or class.

    Returns:
        ``None`` where the text is not known, such as that of a function made by `functools`.
    """
    if not isinstance(getattr(answer, "__code__", None), types.CodeType):
        return None
    inner = inspect.unwrap(answer)  # a decorator may stand in another file
    names = getattr(inner, "__globals__", {})
    files = dict.fromkeys(_files(names, answer.__module__))
    codes = (getattr(each, "__code__", None) for each in (answer, inner))
    own = dict.fromkeys(code.co_filename for code in codes if isinstance(code, types.CodeType))
    for file in own:
        files.pop(file, None)
    texts = ["".join(linecache.getlines(file)) for file in (*files, *own)]
    return Source(tuple(texts), _name_of(answer, names)) if texts[-1] else None


def _name_of(answer: Any, names: dict[str, Any]) -> str:
    """The name that an answer has in its file, which a wrapper or a lambda does not know."""
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
