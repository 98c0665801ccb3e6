"""One run of a learner's code, watched line by line with `sys.settrace`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from torch import fx

from autograder.asking.code import FILE, Place
from autograder.asking.plain_value import plain_value

MOST_EVENTS = 4_000
"""Lines that are watched in one run; a longer run gives no questions."""


class TooLong(Exception):
    """The run has too many events for questions."""


@dataclass(frozen=True)
class Arrival:
    """A line that is about to run.

    Attributes:
        line: the line.
        call: the number of the call of the function around it.
        values: the local variables with a short text.
        nodes: the names of those variables that are nodes.
    """

    line: int
    call: int
    values: Mapping[str, str]
    nodes: frozenset[str] = frozenset()


@dataclass
class _Watch:
    owner: Mapping[int, int]
    arrivals: list[Arrival] = field(default_factory=list)
    calls: dict[FrameType, int] = field(default_factory=dict)  # a freed frame's id is used again
    before: dict[FrameType, int] = field(default_factory=dict)
    events: int = 0

    def begin(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code.co_filename != FILE or code.co_name.startswith("<"):
            return None
        self.calls.setdefault(frame, len(self.calls))
        return self.see

    def see(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self.events += 1
            if self.events > MOST_EVENTS:
                raise TooLong
            line = self.owner.get(frame.f_lineno, 0)
            # A statement of several lines, and on Python 3.12 a comprehension, has several events.
            if line and self.before.get(frame) != line:
                self.arrivals.append(self.arrival(frame, line))
            self.before[frame] = line
        return self.see

    def arrival(self, frame: FrameType, line: int) -> Arrival:
        held = {name: value for name, value in frame.f_locals.items() if name.isidentifier()}
        values = {name: text for name, value in held.items() if (text := plain_value(value))}
        nodes = frozenset(name for name in values if isinstance(held[name], fx.Node))
        return Arrival(line, self.calls[frame], values, nodes)


def watch(places: Mapping[int, Place], work: Callable[[], Any]) -> list[Arrival]:
    """Run a function, and return all arrivals at these places of the learner's code.

    Args:
        places: by line.
        work: calls the learner's code.

    Raises:
        TooLong: if the run has more than `MOST_EVENTS` lines.
        RuntimeError: if another program traces this process, such as a debugger.
    """
    if sys.gettrace() is not None:
        raise RuntimeError("another tracer is active")
    owner = {
        line: place.line for place in places.values() for line in range(place.line, place.last + 1)
    }
    watched = _Watch(owner)
    sys.settrace(watched.begin)
    try:
        work()
    finally:
        sys.settrace(None)
    if watched.events > MOST_EVENTS:  # the learner's code may have caught `TooLong`
        raise TooLong
    return watched.arrivals
