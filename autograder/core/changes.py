"""Changes of what a library looks up when it is called: for good, or for a while."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ABSENT = object()
"""In the place of a value: the name is not there."""


@dataclass(frozen=True)
class Change:
    """Another value for one name.

    Attributes:
        owner: a dictionary, or a class or module, which has the name itself and inherits it from
            nobody.
        name: the name.
        before: what is there as the library has it; `ABSENT` where nothing is.
        after: what is to be there.
    """

    owner: Any
    name: Any
    before: Any
    after: Any

    @property
    def now(self) -> Any:
        """What is there now."""
        names = self.owner if isinstance(self.owner, dict) else vars(self.owner)
        return names.get(self.name, ABSENT)

    def make(self) -> None:
        """Have the other value there."""
        self._put(self.after)

    def take_back(self) -> None:
        """Have there again what was there, unless somebody has put there something else."""
        if self.now is self.after:
            self._put(self.before)

    def _put(self, value: Any) -> None:
        if not isinstance(self.owner, dict):
            setattr(self.owner, self.name, value)
        elif value is ABSENT:
            del self.owner[self.name]
        else:
            self.owner[self.name] = value


def change_of(owner: Any, name: Any, after: Any) -> Change:
    """The change of what is there now.

    Raises:
        AttributeError: a class or module has nothing of that name.
    """
    before = Change(owner, name, None, None).now
    if before is ABSENT and not isinstance(owner, dict):
        raise AttributeError(f"{owner!r} has no {name!r} of its own")
    return Change(owner, name, before, after)


def source_digest(modules: Sequence[ModuleType]) -> str:
    """Return a digest of the text of modules, the same for any line ends; ``""`` without a text."""
    digest = hashlib.sha256()
    try:
        for module in modules:
            digest.update(Path(str(module.__file__)).read_text(encoding="utf-8").encode())
    except OSError:
        return ""
    return digest.hexdigest()


@contextmanager
def made(changes: Sequence[Change]) -> Iterator[None]:
    """Within this, all of the changes are made; none of them where one finds what it does not know.

    That may be another's change, or this one, which somebody has made before.
    """
    if any(change.now is not change.before for change in changes):
        yield
        return
    try:
        for change in changes:
            change.make()
        yield
    finally:
        for change in reversed(changes):
            change.take_back()
