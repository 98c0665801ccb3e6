"""Ends a grader that looks at what a student sent for too long, in whatever library it hangs.

Python can only interrupt itself between two of its own steps; a power of two gigantic numbers
is one step. So the kernel counts the processor time, and ends the process.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

JUDGING = 60.0
"""Processor seconds for looking at one answer, or for repairing one notebook."""

_may_end = False


def allow() -> None:
    """Let the watchdog end this process: it is a grader that will be replaced."""
    global _may_end
    _may_end = hasattr(signal, "setitimer")


@contextlib.contextmanager
def armed(seconds: float = JUDGING) -> Iterator[None]:
    """End this process if what is done here takes more processor time, where that is allowed."""
    if not _may_end:
        yield
        return
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
