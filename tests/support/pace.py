"""How fast this machine is now: a unit of processor time for tests of what must not take long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


def unit() -> float:
    """Seconds of processor time that a fixed piece of work takes on this machine."""
    found = []
    for _ in range(3):
        start, total = time.process_time(), 0
        for number in range(200_000):
            total += number % 7
        found.append(time.process_time() - start)
    return min(found)


@contextmanager
def at_most(units: float) -> Iterator[None]:
    """Fail if what is done takes more processor time than so many pieces of that work."""
    start = time.process_time()
    yield
    took = time.process_time() - start
    assert took < units * unit(), f"{took:.2f} s, which is {took / unit():.0f} units"
