"""The client's side of the box: fork servers, and the boxed processes that they fork."""

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
from autograder.sandbox import temp_dirs, unboxed
from autograder.sandbox.fork_server import AHEAD, CONFIGURE
from autograder.sandbox.resource_limits import Bounds
from autograder.sandbox.wire import MAX_HEAD, Broken, Frame, TooLate, receive, send
from autograder.sandbox.zygote import NotForked, zygote

PATIENCE = 300.0
"""Seconds that a fork server may take to import everything."""

SENDING = 30.0
"""Seconds that a process may take to read what is sent: it has nothing else to do."""

LOOK = 0.5
"""Seconds between two looks at the time, while a process is waited for."""

REST = 10.0
"""Seconds that a frame may take from its beginning on, at least."""

_NOT_UP = "The process for notebooks did not come up: {said}"
_SILENT = "It did not answer in time."
_KEPT = ("PATH", "LANG", "LC_ALL", "HOME", "PYTHONPATH", "MPLCONFIGDIR", "VIRTUAL_ENV")
_SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class NoBox(RuntimeError):
    """Nothing can be run in a box here; the message says why, and what to do."""


class ProcessLost(Exception):
    """A process is gone; `ending` says how it ended, as far as that is known."""

    def __init__(self, ending: ProcessExit) -> None:
        super().__init__(str(ending))
        self.ending = ending


@dataclass(frozen=True)
class Image:
    """What a fork server gets ready, and what it can start.

    Attributes:
        entries: modules with an entry point, and what one box of each may take; by name.
        config: what they are told, as plain data.
        blobs: bytes that go with it.
        covered: folders that must not be seen from inside.
    """

    entries: Mapping[str, tuple[str, Bounds]]
    config: Mapping[str, Any] = field(default_factory=dict)
    blobs: tuple[bytes, ...] = ()
    covered: tuple[str, ...] = ()


class Source(Protocol):
    """Where processes come from."""

    def process(self, entry: str) -> Process: ...

    def close(self) -> None: ...


class ForkServer:
    """A fork server; `process` forks one process, in a box.

    Raises:
        NoBox: it does not come up.
    """

    def __init__(self, image: Image) -> None:
        if sys.platform != "linux":
            raise NoBox("Notebooks can only be run in a box on Linux.")
        ours, theirs = socket.socketpair()
        self._names = list(image.entries)
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
            raise NoBox(_NOT_UP.format(said=str(error)[-2000:])) from None
        self._control = ours
        rows = [{"module": m, "bounds": asdict(b)} for m, b in image.entries.values()]
        head = {"entries": rows, "config": dict(image.config), "covered": list(image.covered)}
        self._sent = (head, list(image.blobs))
        try:
            send(self._control, *self._sent)
        except Broken:
            pass  # what it said before it ended is told by `public`

    def wait(self) -> list[bytes]:
        """What the entries say in public, once they are ready; by their order.

        Raises:
            NoBox: it does not come up.
        """
        try:
            return receive(self._control, time.monotonic() + PATIENCE)[1]
        except (Broken, TooLate):
            self._process.kill()
            said = self._process.said()
            self.close()
            raise NoBox(_NOT_UP.format(said=said[-2000:])) from None

    def configure(self, head: dict[str, Any], blobs: list[bytes]) -> None:
        """Tell the entries what is known only now.

        Raises:
            NoBox: the fork server is gone.
        """
        with self._asking:
            try:
                self._control.sendall(bytes([CONFIGURE]))
                send(self._control, head, blobs)
            except (Broken, OSError) as error:
                raise NoBox(f"The process for notebooks is gone: {error}") from None
        self.wait()

    def work_ahead(self) -> None:
        """From now on, do what every box would do again, while nobody asks for anything."""
        with self._asking, contextlib.suppress(OSError):  # the next to ask is told that it is gone
            self._control.sendall(bytes([AHEAD]))

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def wires(self, entry: str) -> tuple[socket.socket, socket.socket]:
        """A new process in a box: what it talks over, and what its supervisor talks over.

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
            raise NoBox(f"The process for notebooks is gone: {error}") from None
        finally:
            their_talk.close()
            their_word.close()
        return talk, word

    def process(self, entry: str) -> Process:
        """A new process in a box.

        Raises:
            NoBox: the fork server is gone.
        """
        return Process(*self.wires(entry))

    def close(self, patience: float = 5.0) -> None:
        """End the process, and all that it has forked.

        Args:
            patience: seconds in which it may end by itself.
        """
        self._control.close()
        if not self._process.has_ended(patience):
            self._process.kill()
        self._process.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class SubprocessServer:
    """Starts a process each time; what runs there can do what the user can do.

    Args:
        image: what the processes run.
        clock: measures how long a process takes to get ready.
    """

    def __init__(self, image: Image, clock: SuspendAwareClock = CLOCK) -> None:
        self._image, self._clock = image, clock
        self._more: tuple[dict[str, Any], list[bytes]] | None = None

    def configure(self, head: dict[str, Any], blobs: list[bytes]) -> None:
        """Have every process told this, too."""
        self._more = head, blobs

    def process(self, entry: str) -> Process:
        """A new process.

        Raises:
            NoBox: it does not come up.
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
        """Tell a process what it runs, and wait until it is ready.

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
        """Nothing is left between processes."""


def _environment() -> dict[str, str]:
    """What a student's code may know of the environment."""
    found = {name: os.environ[name] for name in _KEPT if name in os.environ}
    found |= dict.fromkeys(_SINGLE, "1")
    return found | {
        "NBGRADER_EXECUTION": "autograde",  # as nbgrader says it; tests of instructors ask for it
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class Process:
    """A process that does one step after the other.

    Args:
        talk: what it talks over.
        word: over which the supervisor of its box says how it ended; closed, it ends the box.
        process: the process itself, where there is no box.
        public: what its entry says in public.
        clock: measures how long it is waited for.
        queued: for a process that another one of its box has forked: how many seconds it has waited
            for a processor.
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
        """Have one step done.

        Args:
            head: the step.
            blobs: bytes that go with it.
            patience: seconds until the process counts as lost; waiting for a processor does not
                count, up to three times as long.
            largest: bytes that the head of an answer may have.
            hand_over: sockets of which it is given the other ends.
            tell: is told what comes before the step is done; without it, nothing may come.
            meanwhile: what is done here while the step begins there; its time does not count.

        Raises:
            ProcessLost: the process is gone, or does not answer as it must.
            NoBox: it could not be boxed.
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
        """Wait for the beginning of a frame; until when the rest of it may take.

        Both times are those of its clock.

        Raises:
            TooLate: it is not there in time.
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
        """Seconds that a process of the box has waited for a processor, as its supervisor says.

        Args:
            pid: its number in the box; 0 for the first process.
        """
        if self.word is None:
            return 0.0
        with contextlib.suppress(OSError, ValueError):
            self.word.send(f"?{pid or ''}\n".encode())
            if select.select([self.word], [], [], 2.0)[0]:
                said = self.word.recv(100, socket.MSG_PEEK)
                if said.startswith(b"queued "):  # otherwise how it ended
                    line, _, _ = said.partition(b"\n")
                    self.word.recv(len(line) + 1)
                    return float(line.split()[1])
        return 0.0

    def ended(self, patience: float = 0.0) -> ProcessExit | None:
        """How the box ended, as its supervisor says; ``None`` where it has not said."""
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
        """Have one process of its box ended, by the number that it has in there."""
        if self.word is not None:
            with contextlib.suppress(OSError):
                self.word.sendall(f"{pid}\n".encode())

    def close(self) -> None:
        """End it, and everything that it has started."""
        self.talk.close()
        if self.word is not None:
            self.word.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
