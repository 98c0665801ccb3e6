"""A clock that a test moves, for code that decides by time: so a busy machine changes nothing."""

from __future__ import annotations

from collections.abc import Callable


class HandClock:
    """Reads as many seconds as a test has moved it on.

    Attributes:
        each_look: how far it moves by itself before it is read.
    """

    def __init__(self, each_look: float = 0.0) -> None:
        self.seconds, self.each_look = 0.0, each_look
        self._waiting: list[Callable[[], None]] = []

    def __call__(self) -> float:
        self.seconds += self.each_look
        if self._waiting:
            self._waiting.pop()()
        return self.seconds

    def move(self, seconds: float) -> None:
        self.seconds += seconds

    def after_looks(self, count: int, do: Callable[[], None]) -> None:
        """Do something once it has been read so many times."""
        self._waiting = [do, *[lambda: None] * (count - 1)]
