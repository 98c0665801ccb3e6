"""A unit of processor time for performance tests, relative to this machine's current speed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


def unit() -> float:
    """Seconds of processor time for a fixed piece of work on this machine."""
    found = []
    for _ in range(3):
        start, total = time.process_time(), 0
        for number in range(200_000):
            total += number % 7
        found.append(time.process_time() - start)
    return min(found)


@contextmanager
def at_most(units: float) -> Iterator[None]:
    """Fail if the block uses more processor time than this many units."""
    start = time.process_time()
    yield
    took = time.process_time() - start
    assert took < units * unit(), f"{took:.2f} s, which is {took / unit():.0f} units"
