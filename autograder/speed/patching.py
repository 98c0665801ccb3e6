"""Patches of a library: other values for names that it looks up at each call."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any


@dataclass(frozen=True)
class Patch:
    """Another value for one name.

    Attributes:
        owner: a class or module that defines the name itself.
        name: the name.
        before: the library's own value.
        after: the value that replaces it.
    """

    owner: Any
    name: str
    before: Any
    after: Any

    @property
    def now(self) -> Any:
        """The present value."""
        return vars(self.owner)[self.name]

    def apply(self) -> None:
        """Replace the value, unless it is no longer the library's own."""
        if self.now is self.before:
            setattr(self.owner, self.name, self.after)


def patch_of(owner: Any, name: str, after: Any) -> Patch:
    """Return the patch that replaces the present value.

    Raises:
        AttributeError: the class or module does not define the name.
    """
    if name not in vars(owner):
        raise AttributeError(f"{owner!r} has no {name!r} of its own")
    return Patch(owner, name, vars(owner)[name], after)


def source_digest(modules: Sequence[ModuleType]) -> str:
    """Return a digest of the text of modules, the same for any line ends; ``""`` without a text."""
    digest = hashlib.sha256()
    try:
        for module in modules:
            digest.update(Path(str(module.__file__)).read_text(encoding="utf-8").encode())
    except OSError:
        return ""
    return digest.hexdigest()
