"""A clock that a test moves, so that tests of timeouts do not depend on the machine's load."""

from __future__ import annotations

from collections.abc import Callable


class HandClock:
    """A clock that shows the seconds by which a test has moved it.

    Attributes:
        each_look: the seconds by which each reading moves it before it returns.
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
        """Call a function at the `count`-th reading."""
        self._waiting = [do, *[lambda: None] * (count - 1)]
