"""The text of an answer, as a learner's own process knows it."""

from __future__ import annotations

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
    code = getattr(answer, "__code__", None)
    if not isinstance(code, types.CodeType):
        return None
    files = dict.fromkeys(_files(getattr(answer, "__globals__", {}), answer.__module__))
    files.pop(code.co_filename, None)
    texts = ["".join(linecache.getlines(file)) for file in (*files, code.co_filename)]
    return Source(tuple(texts), code.co_name) if texts[-1] else None


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
