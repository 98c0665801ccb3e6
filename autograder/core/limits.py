"""Limits on the time and the printed text of a learner's code."""

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
    """Limits of one case: seconds of processor time, seconds of waiting, characters printed."""

    cpu: float = 10.0
    wall: float = 60.0
    printed: int = 4_000


def charged_wait(passed: float, queued: float) -> float:
    """Seconds of waiting that count, less the time in which the process waited for a processor.

    A busy machine must not fail a right answer. But at least a quarter counts, so that every wait
    ends.
    """
    return passed - min(queued, 0.75 * passed)


ONE_LOOK = 1.0
"""Seconds that count, at most, between two readings of a `SuspendAwareClock`."""


class SuspendAwareClock:
    """A clock that does not count time in which the machine was suspended.

    A process that waits reads it several times a second. If much more time has passed between two
    readings, the machine slept or was paused, as virtual machines are.

    Args:
        seconds: reads a monotonic clock.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._last, self._now = seconds(), 0.0

    def now(self) -> float:
        """Seconds since the clock was made."""
        last, self._last = self._last, self._seconds()
        self._now += min(ONE_LOOK, self._last - last)
        return self._now


CLOCK = SuspendAwareClock()
"""The process-wide clock; every wait in this process advances it."""

MOST_FORGIVEN = 20.0
"""Seconds of importing that do not count, at most."""


SHORT = 0.05
"""Seconds before the kernel is asked how long the process has waited for a processor. Most cases
take less, and reading that number takes longer than many of them."""


class Clock:
    """Decides when a piece of code has used up its time, even if it swallows `OutOfTime`.

    Args:
        limits: the limits.
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
        # Processor time decides, so that a busy machine does not fail a right answer.
        # Waiting is limited too, because of code that sleeps.
        passed = self._awake.now() - self._wall
        if self._cpu_now() - self._cpu - self._forgiven > self._limits.cpu:
            return True
        if passed > SHORT and self._queued is None:
            self._queued = self._queued_now()
        if passed <= self._limits.wall or self._queued is None:
            return False
        return charged_wait(passed, self._queued_now() - self._queued) > self._limits.wall

    def should_interrupt(self) -> bool:
        """Whether to raise `OutOfTime` now."""
        return self.is_over() and time.monotonic() > self._calm_until

    def begin_tick(self) -> None:
        """Note the time; `forgive` does not count what passes between here and the next tick."""
        self._tick = self._cpu_now()

    def forgive(self) -> None:
        """Do not count the time since the last tick, up to `MOST_FORGIVEN` seconds in all."""
        passed = self._cpu_now() - self._tick
        self._forgiven = min(MOST_FORGIVEN, self._forgiven + passed)

    def pause(self, seconds: float) -> None:
        """Raise nothing for this many seconds, so that an error can be displayed to its end."""
        self._calm_until = time.monotonic() + seconds


def _queued() -> float:
    """Seconds that this process's first thread has waited for a processor."""
    try:
        with open("/proc/self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError):  # only Linux has this file
        return 0.0


@contextlib.contextmanager
def time_limit(limits: Limits, clock: Clock | None = None) -> Iterator[Clock]:
    """Raise `OutOfTime` in this thread once the limits are exceeded.

    The clock that is yielded tells whether they were exceeded. Ctrl-C still raises
    `KeyboardInterrupt`. The main thread of Linux and macOS uses a timer signal, which also
    interrupts sleeping calls; elsewhere a thread watches. Time within a nested limit counts for
    both limits.

    Args:
        limits: the limits.
        clock: decides when they are exceeded; a new one by default.
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
        if clock.should_interrupt() and not _is_gc_callback(frame):
            raise OutOfTime

    previous = signal.signal(signal.SIGALRM, tick)
    # Ticks continue after the first OutOfTime, because the code may swallow it.
    left, every = signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if every:  # the ticks of a limit around this one
            signal.setitimer(signal.ITIMER_REAL, left, every)


def _imports_pytorch(frame: FrameType | None) -> bool:
    """Whether a module of PyTorch is being imported; that time is not charged to the answer."""
    importing = False
    while frame is not None:
        if importing and str(frame.f_globals.get("__name__", "")).startswith("torch."):
            return True
        importing = importing or frame.f_code.co_filename.startswith("<frozen importlib")
        frame = frame.f_back
    return False


def _is_gc_callback(frame: FrameType | None) -> bool:
    """Whether an exception raised here would be lost, because this is a callback of `gc`."""
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
        """The text that was kept, and a note on the length of the rest."""
        left = (
            f"{self._lines:,} more lines"
            if self._lines > 1
            else f"{self._dropped:,} more characters"
        )
        note = f"\n… and {left}" if self._dropped else ""
        return "".join(self._parts) + note


@contextlib.contextmanager
def bounded_output(limit: int) -> Iterator[BoundedText]:
    """Capture standard output and standard error."""
    text = BoundedText(limit)
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        yield text
