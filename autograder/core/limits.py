"""Bounds on what a learner's code may take: time and printed text."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType


class OutOfTime(BaseException):
    """Raised inside a learner's code when its time is used up."""


@dataclass(frozen=True)
class Limits:
    """Seconds of processor time and of waiting for one case; characters shown."""

    cpu: float = 10.0
    wall: float = 60.0
    printed: int = 4_000


def charged_wait(passed: float, queued: float) -> float:
    """Seconds of waiting that count, where a process was kept waiting for a processor.

    A busy machine fails no right answer; but at least a quarter counts, so that every wait ends.
    """
    return passed - min(queued, 0.75 * passed)


ONE_LOOK = 1.0
"""Seconds that count, at most, from one look at the time to the next."""


class SuspendAwareClock:
    """A clock that is not moved on while nobody looks at it.

    A process that waits looks several times a second. If much more has passed, the machine slept,
    or was paused as virtual machines are; that is not the answer's fault.

    Args:
        seconds: reads a clock that never goes back.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._last, self._now = seconds(), 0.0

    def now(self) -> float:
        """Seconds since it was made."""
        last, self._last = self._last, self._seconds()
        self._now += min(ONE_LOOK, self._last - last)
        return self._now


CLOCK = SuspendAwareClock()
"""This process's own, which all of its waiting moves on."""

MOST_FORGIVEN = 20.0
"""Seconds of importing that are not counted, at most."""


SHORT = 0.05
"""Seconds for which nobody asks how long the process has waited for a processor; most cases take
less, and the kernel's answer takes longer than many of them."""


class Clock:
    """Says when the time is used up, whatever the code that it is for makes of that.

    Args:
        limits: how much there is.
        awake: measures waiting.
        cpu: reads the processor time of this process, in seconds.
        queued: reads the seconds that this process has waited for a processor.
    """

    def __init__(
        self,
        limits: Limits,
        awake: SuspendAwareClock | None = None,
        cpu: Callable[[], float] = time.process_time,
        queued: Callable[[], float] | None = None,
    ) -> None:
        self._limits = limits
        self._awake, self._cpu_now, self._queued_now = awake or CLOCK, cpu, queued or _queued
        self._cpu, self._wall = cpu(), self._awake.now()
        self._queued: float | None = None
        self._calm_until = 0.0
        self._forgiven = 0.0
        self._tick = self._cpu

    def is_over(self) -> bool:
        """Whether the time is used up."""
        # Processor time decides, so that a busy machine does not fail a right answer;
        # waiting is bounded too, for code that sleeps.
        passed = self._awake.now() - self._wall
        if self._cpu_now() - self._cpu - self._forgiven > self._limits.cpu:
            return True
        if passed > SHORT and self._queued is None:
            self._queued = self._queued_now()
        if passed <= self._limits.wall or self._queued is None:
            return False
        return charged_wait(passed, self._queued_now() - self._queued) > self._limits.wall

    def should_interrupt(self) -> bool:
        """Whether `OutOfTime` is to be raised now."""
        return self.is_over() and time.monotonic() > self._calm_until

    def begin_tick(self) -> None:
        """Note the time, of which the next tick may forgive what has passed by then."""
        self._tick = self._cpu_now()

    def forgive(self) -> None:
        """Do not count what has passed since the last tick, up to some seconds in all."""
        passed = self._cpu_now() - self._tick
        self._forgiven = min(MOST_FORGIVEN, self._forgiven + passed)

    def pause(self, seconds: float) -> None:
        """Raise nothing for so long: an error is being shown, which must come to its end."""
        self._calm_until = time.monotonic() + seconds


def _queued() -> float:
    """Seconds that this process's first thread has wanted a processor and got none."""
    try:
        with open("/proc/self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError):  # only Linux tells
        return 0.0


@contextlib.contextmanager
def time_limit(limits: Limits, clock: Clock | None = None) -> Iterator[Clock]:
    """Raise `OutOfTime` in this thread once the limits are exceeded.

    The clock that is yielded says whether that was so. A Ctrl-C stays a `KeyboardInterrupt`. On
    the main thread of Linux and macOS a timer signal is used, which ends sleeping calls too;
    elsewhere a watching thread. What a limit within another one takes counts for both.

    Args:
        limits: the limits.
        clock: says when they are exceeded; a new one by default.
    """
    clock = clock or Clock(limits)
    main = threading.current_thread() is threading.main_thread()
    if main and hasattr(signal, "setitimer"):
        with _signal_limit(clock):
            yield clock
    else:
        with _thread_limit(clock):
            yield clock


@contextlib.contextmanager
def _signal_limit(clock: Clock) -> Iterator[None]:
    def tick(_: int, frame: FrameType | None) -> None:
        if _imports_pytorch(frame):
            clock.forgive()
        clock.begin_tick()
        if clock.should_interrupt() and not _is_lost_in(frame):
            raise OutOfTime

    previous = signal.signal(signal.SIGALRM, tick)
    # Ticks go on after the first OutOfTime: code that swallows it is told again.
    left, every = signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if every:  # the ticks of a limit around this one
            signal.setitimer(signal.ITIMER_REAL, left, every)


def _imports_pytorch(frame: FrameType | None) -> bool:
    """Whether a module of PyTorch is being imported: its first use is no one's fault."""
    importing = False
    while frame is not None:
        if importing and str(frame.f_globals.get("__name__", "")).startswith("torch."):
            return True
        importing = importing or frame.f_code.co_filename.startswith("<frozen importlib")
        frame = frame.f_back
    return False


def _is_lost_in(frame: FrameType | None) -> bool:
    """Whether Python would only warn of what is raised here: in a callback of its collector."""
    codes = (getattr(callback, "__code__", None) for callback in gc.callbacks)
    return frame is not None and frame.f_code in codes


@contextlib.contextmanager
def _thread_limit(clock: Clock) -> Iterator[None]:
    done = threading.Event()
    ident = ctypes.c_ulong(threading.get_ident())

    def watch() -> None:
        while not done.wait(0.1):
            if clock.should_interrupt():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(OutOfTime))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


class BoundedText(io.TextIOBase):
    """A text stream that keeps the first `limit` characters and counts the rest."""

    def __init__(self, limit: int) -> None:
        self._limit, self._kept, self._dropped, self._lines = limit, 0, 0, 0
        self._parts: list[str] = []

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        part = text[: self._limit - self._kept]
        if part:
            self._parts.append(part)
            self._kept += len(part)
        self._dropped += len(text) - len(part)
        self._lines += text.count("\n", len(part))
        return len(text)

    def getvalue(self) -> str:
        """What was kept, with a note on what was not."""
        left = (
            f"{self._lines:,} more lines"
            if self._lines > 1
            else f"{self._dropped:,} more characters"
        )
        note = f"\n… and {left}" if self._dropped else ""
        return "".join(self._parts) + note


@contextlib.contextmanager
def bounded_output(limit: int) -> Iterator[BoundedText]:
    """Catch what is printed to standard output and standard error."""
    text = BoundedText(limit)
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        yield text
