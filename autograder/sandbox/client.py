"""The client's side of the sandbox: fork servers, and the sandboxed processes that they fork."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from autograder.core.limits import CLOCK, SuspendAwareClock, charged_wait
from autograder.core.process_exit import ExitReason, ProcessExit
from autograder.environment import memory
from autograder.sandbox import temp_dirs, unboxed
from autograder.sandbox.fork_server import AHEAD, CONFIGURE
from autograder.sandbox.resource_limits import Bounds
from autograder.sandbox.walls import NoBox, ServerLost, Wall
from autograder.sandbox.wire import MAX_HEAD, Broken, Frame, TooLate, receive, send
from autograder.sandbox.zygote import NotForked, zygote

PATIENCE = 300.0
"""Seconds in which a fork server must have imported everything."""

SENDING = 30.0
"""Seconds in which a process must read a message, because it has nothing else to do."""

LOOK = 0.5
"""Seconds between two readings of the clock while waiting for a process."""

REST = 10.0
"""Seconds that a frame may take after its first byte, at least."""

_NOT_UP = "The process for notebooks did not come up: {said}"
_GONE = "The process for notebooks is gone: {said}"
_SILENT = "It did not answer in time."
_KEPT = ("PATH", "LANG", "LC_ALL", "HOME", "PYTHONPATH", "MPLCONFIGDIR", "VIRTUAL_ENV")
_SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class ProcessLost(Exception):
    """A process is gone; `ending` is the reason, as far as it is known."""

    def __init__(self, ending: ProcessExit) -> None:
        super().__init__(str(ending))
        self.ending = ending


@dataclass(frozen=True)
class Image:
    """The setup of a fork server.

    Attributes:
        entries: for each name, a module with an entry point, and the limits of one sandbox.
        config: plain data for the modules.
        blobs: bytes that go with it.
        covered: folders that must not be visible from inside.
    """

    entries: Mapping[str, tuple[str, Bounds]]
    config: Mapping[str, Any] = field(default_factory=dict)
    blobs: tuple[bytes, ...] = ()
    covered: tuple[str, ...] = ()


class Source(Protocol):
    """Starts processes."""

    def process(self, entry: str) -> Process: ...

    def close(self) -> None: ...


class ForkServer:
    """A fork server; `process` forks one process in a sandbox.

    Args:
        image: its setup.
        wall: what isolates the sandboxes.

    Raises:
        NoBox: it does not start.
    """

    def __init__(self, image: Image, wall: Wall = Wall.NAMESPACES) -> None:
        if sys.platform != "linux":
            raise NoBox("Notebooks can only be run in a box on Linux.")
        ours, theirs = socket.socketpair()
        self._names, self._times_before = list(image.entries), memory.times_used_up()
        self._folder = temp_dirs.own()
        self._asking = threading.Lock()
        environment = _environment()
        try:
            with theirs:
                own = environment | {"TMPDIR": str(self._folder)}
                self._process = zygote(environment).fork(own, theirs)
        except NotForked as error:
            ours.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            raise self._not_up(str(error)) from None
        self._control = ours
        rows = [{"module": m, "bounds": asdict(b)} for m, b in image.entries.values()]
        head = {"entries": rows, "config": dict(image.config), "covered": list(image.covered)}
        head["wall"] = wall.value
        self._sent = (head, list(image.blobs))
        try:
            send(self._control, *self._sent)
        except Broken:
            pass  # `wait` reports the output of the process before its end

    def wait(self) -> list[bytes]:
        """Wait until the entries are ready, and return their public bytes, in order.

        Raises:
            NoBox: the fork server does not start.
        """
        try:
            return receive(self._control, time.monotonic() + PATIENCE)[1]
        except (Broken, TooLate):
            self._process.kill()
            said = self._process.said()
            self.close()
            raise self._not_up(said) from None

    def _not_up(self, said: str) -> NoBox:
        """The error about a fork server that did not start; one that was killed says nothing."""
        return NoBox(_NOT_UP.format(said=said[-2000:])) if said else self._lost(_NOT_UP, "")

    def _lost(self, sentence: str, said: str) -> ServerLost:
        """The error about a lost fork server; it names memory if that was used up."""
        return ServerLost(sentence.format(said=memory.explain(self._times_before) or said))

    def configure(self, head: dict[str, Any], blobs: list[bytes]) -> None:
        """Send the entries data that was not known at the start.

        Raises:
            NoBox: the fork server is gone.
        """
        with self._asking:
            try:
                self._control.sendall(bytes([CONFIGURE]))
                send(self._control, head, blobs)
            except (Broken, OSError) as error:
                raise self._lost(_GONE, str(error)) from None
        self.wait()

    def work_ahead(self) -> None:
        """From now on, while there are no requests, do work that every sandbox would repeat."""
        with self._asking, contextlib.suppress(OSError):  # the next request reports a lost server
            self._control.sendall(bytes([AHEAD]))

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def wires(self, entry: str) -> tuple[socket.socket, socket.socket]:
        """Start a sandboxed process; return its socket, and that of its supervisor.

        Raises:
            NoBox: the fork server is gone.
        """
        talk, their_talk = socket.socketpair()
        word, their_word = socket.socketpair()
        fds = [their_talk.fileno(), their_word.fileno()]
        request = bytes([self._names.index(entry)])
        try:
            with self._asking:
                socket.send_fds(self._control, [request], fds)
        except OSError as error:
            raise self._lost(_GONE, str(error)) from None
        finally:
            their_talk.close()
            their_word.close()
        return talk, word

    def process(self, entry: str) -> Process:
        """Start a sandboxed process.

        Raises:
            NoBox: the fork server is gone.
        """
        return Process(*self.wires(entry))

    def close(self, patience: float = 5.0) -> None:
        """End the fork server, and all processes that it has forked.

        Args:
            patience: seconds in which it may end by itself.
        """
        self._control.close()
        if not self._process.has_ended(patience):
            self._process.kill()
        self._process.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class SubprocessServer:
    """Starts a new process each time, without a sandbox: it may do whatever the user may do.

    Args:
        image: the setup of the processes.
        clock: measures the time that a process takes to start.
    """

    def __init__(self, image: Image, clock: SuspendAwareClock = CLOCK) -> None:
        self._image, self._clock = image, clock
        self._more: tuple[dict[str, Any], list[bytes]] | None = None

    def configure(self, head: dict[str, Any], blobs: list[bytes]) -> None:
        """Send this to every later process, too."""
        self._more = head, blobs

    def process(self, entry: str) -> Process:
        """Start a process.

        Raises:
            NoBox: it does not start.
        """
        module, _ = self._image.entries[entry]
        made: Process | None = None
        try:
            started, talk = unboxed.start(os.environ | _environment(), self._clock, PATIENCE)
            made = Process(talk, None, started, clock=self._clock)
            self._get_ready(made, module)
        except (OSError, Broken, TooLate) as error:
            if made is not None:
                made.close()
            raise NoBox(_NOT_UP.format(said=str(error) or _SILENT)) from None
        return made

    def _get_ready(self, made: Process, module: str) -> None:
        """Tell a process its module, and wait until it is ready.

        Raises:
            Broken: the process is gone.
            TooLate: it is not ready in time.
        """
        head = {
            "module": module, "config": dict(self._image.config), "more": self._more is not None,
        }  # fmt: skip
        send(made.talk, head, list(self._image.blobs), time.monotonic() + PATIENCE)
        made.wait(self._clock.now() + PATIENCE, PATIENCE)
        public = receive(made.talk, time.monotonic() + REST)[1]
        made.public = public[0] if public else b""
        if self._more:
            send(made.talk, *self._more, time.monotonic() + SENDING)

    def close(self) -> None:
        """Do nothing, because no process is shared."""


def _environment() -> dict[str, str]:
    """The environment variables that a student's code may see."""
    found = {name: os.environ[name] for name in _KEPT if name in os.environ}
    found |= dict.fromkeys(_SINGLE, "1")
    return found | {
        "NBGRADER_EXECUTION": "autograde",  # as nbgrader sets it; instructors' tests may read it
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class Process:
    """A process that does one step after another.

    Args:
        talk: the socket to the process.
        word: the socket on which the sandbox's supervisor reports its end; closing it ends the
            sandbox.
        process: the process itself, if there is no sandbox.
        public: the public bytes of its entry.
        clock: measures the time that the client waits.
        queued: for a process that another one in its sandbox has forked: returns the seconds that
            it has waited for a processor.
    """

    def __init__(
        self,
        talk: socket.socket,
        word: socket.socket | None,
        process: subprocess.Popen[bytes] | None = None,
        public: bytes = b"",
        clock: SuspendAwareClock = CLOCK,
        queued: Callable[[], float] | None = None,
    ) -> None:
        self.talk, self.word, self._process, self.public = talk, word, process, public
        self._clock = clock
        self.queued = queued or self.queued_of

    def step(
        self,
        head: dict[str, Any],
        blobs: list[bytes] | None = None,
        *,
        patience: float,
        largest: int = MAX_HEAD,
        hand_over: tuple[socket.socket, ...] = (),
        tell: Callable[[dict[str, Any], list[bytes]], None] | None = None,
        meanwhile: Callable[[], object] | None = None,
    ) -> Frame:
        """Send a step, and wait until it is done.

        Args:
            head: the step.
            blobs: bytes that go with it.
            patience: seconds until the process counts as lost; waiting for a processor does not
                count, up to three times as long.
            largest: maximum bytes of the head of an answer.
            hand_over: sockets to send to the process.
            tell: called with each frame before the step is done; without it, such a frame is an
                error.
            meanwhile: called here as soon as the step was sent; its time does not count.

        Raises:
            ProcessLost: the process is gone, or sends something else.
            NoBox: the sandbox could not be made.
        """
        until = self._clock.now() + patience
        try:
            send(self.talk, head, blobs, time.monotonic() + min(patience, SENDING))
            if hand_over:
                socket.send_fds(self.talk, [b"\1"], [one.fileno() for one in hand_over])
            if meanwhile is not None:
                began = self._clock.now()
                meanwhile()
                until += self._clock.now() - began
            while True:
                until = self.wait(until, patience)
                rest = max(REST, until - self._clock.now())
                found = receive(self.talk, time.monotonic() + rest, largest)
                if found[0].get("done") == head["do"]:
                    return found
                if tell is None:
                    raise Broken("an answer to something else")
                tell(*found)
        except TooLate:
            self.close()
            raise ProcessLost(ProcessExit(ExitReason.OUT_OF_TIME)) from None
        except (Broken, OSError) as error:
            ending = self.ended(1.0) or ProcessExit(ExitReason.UNRESPONSIVE, str(error))
            self.close()
            if ending.end is ExitReason.NO_BOX:
                raise NoBox(ending.detail) from None
            raise ProcessLost(ending) from None

    def wait(self, until: float, patience: float) -> float:
        """Wait for the beginning of a frame; return the deadline for the rest of it.

        Both times are on the clock of this process.

        Raises:
            TooLate: it does not begin in time.
        """
        began = until - patience
        while not self._is_there(max(0.0, min(LOOK, until - self._clock.now()))):
            if self._clock.now() < until:
                continue
            left = patience - charged_wait(self._clock.now() - began, self.queued())
            if left <= 0:
                raise TooLate
            until = self._clock.now() + left
        return until

    def _is_there(self, within: float) -> bool:
        return bool(select.select([self.talk], [], [], within)[0])

    def queued_of(self, pid: int = 0) -> float:
        """Seconds that a process of the sandbox has waited for a processor, from its supervisor.

        Args:
            pid: its number in the sandbox; 0 for the first process.
        """
        if self.word is None:
            return 0.0
        with contextlib.suppress(OSError, ValueError):
            self.word.send(f"?{pid or ''}\n".encode())
            if select.select([self.word], [], [], 2.0)[0]:
                said = self.word.recv(100, socket.MSG_PEEK)
                if said.startswith(b"queued "):  # otherwise it reports the end
                    line, _, _ = said.partition(b"\n")
                    self.word.recv(len(line) + 1)
                    return float(line.split()[1])
        return 0.0

    def ended(self, patience: float = 0.0) -> ProcessExit | None:
        """The end of the sandbox, as its supervisor reports it; ``None`` without a report."""
        if self.word is None or self.word.fileno() < 0:
            return None
        if not select.select([self.word], [], [], patience)[0]:
            return None
        said = self.word.recv(2000).decode(errors="replace")
        lines = [line for line in said.splitlines() if not line.startswith("queued ")]
        if not said:
            return ProcessExit(ExitReason.EXITED)
        return ProcessExit.of_line(lines[-1]) if lines else None

    def end_one(self, pid: int) -> None:
        """End one process of the sandbox, by its number there."""
        if self.word is not None:
            with contextlib.suppress(OSError):
                self.word.sendall(f"{pid}\n".encode())

    def close(self) -> None:
        """End the process, and everything that it has started."""
        self.talk.close()
        if self.word is not None:
            self.word.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
