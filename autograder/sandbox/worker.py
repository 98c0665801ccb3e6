"""The grader's side of the box: a warm process, and notebooks that are worked through in it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from autograder.sandbox import scratch
from autograder.sandbox.bounds import Bounds
from autograder.sandbox.frames import (
    MAX_OUTPUTS,
    Broken,
    Frame,
    TooLate,
    receive,
    send,
)

PATIENCE = 300.0
"""Seconds that a warm process may take to import everything."""

_KEPT = ("PATH", "LANG", "LC_ALL", "HOME", "PYTHONPATH", "MPLCONFIGDIR", "VIRTUAL_ENV")
_SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class NoBox(RuntimeError):
    """Notebooks cannot be run in a box here; the message says why, and what to do."""


class Lost(Exception):
    """The process of a notebook is gone; `how` says how it ended, where that is known."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


@dataclass(frozen=True)
class Chapter:
    """What a warm process gets ready for.

    Attributes:
        name: the chapter's stem.
        syllabus: the module that holds its exercises.
        imports: modules that its cells import.
        covered: folders that must not be seen from inside.
        bounds: what one notebook may take.
    """

    name: str
    syllabus: str = "autograder.syllabus"
    imports: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    bounds: Bounds = Bounds()

    def as_plain(self) -> dict[str, Any]:
        """What the process is told."""
        return {
            "syllabus": self.syllabus,
            "chapter": self.name,
            "imports": self.imports,
            "covered": self.covered,
            "bounds": asdict(self.bounds),
        }


class Source(Protocol):
    """Where processes for notebooks come from."""

    def notebook(self) -> Notebook: ...

    def close(self) -> None: ...


class Warm:
    """A warm process; `notebook` forks one for a notebook, in a box.

    Raises:
        NoBox: it does not come up.
    """

    def __init__(self, chapter: Chapter) -> None:
        if sys.platform != "linux":
            raise NoBox("Notebooks can only be run in a box on Linux.")
        ours, theirs = socket.socketpair()
        self._folder = scratch.own()
        start = "from autograder.sandbox.warm import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", start, str(theirs.fileno())],
            pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd="/",
            env=_environment() | {"TMPDIR": str(self._folder)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        theirs.close()
        self._control = ours
        with contextlib.suppress(Broken):  # waiting says why
            send(ours, chapter.as_plain())  # not by the command line, which the box can read
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        self._control.settimeout(PATIENCE)
        try:
            ready = self._control.recv(1)
        except OSError:
            ready = b""
        if not ready:
            self._process.kill()
            said = self._process.communicate()[0].decode(errors="replace").strip()
            self.close()
            raise NoBox(f"The process for notebooks did not come up: {said[-2000:]}")

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def notebook(self) -> Notebook:
        """A new process for a notebook.

        Raises:
            NoBox: the warm process is gone.
        """
        talk, their_talk = socket.socketpair()
        word, their_word = socket.socketpair()
        wires = [their_talk.fileno(), their_word.fileno()]
        try:
            socket.send_fds(self._control, [b"\1"], wires)
        except OSError as error:
            raise NoBox(f"The process for notebooks is gone: {error}") from None
        finally:
            their_talk.close()
            their_word.close()
        return Notebook(talk, word)

    def close(self) -> None:
        """End the process, and all that it has forked."""
        self._control.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class Unboxed:
    """Starts a process for each notebook; what runs there can do what the user can do."""

    def __init__(self, chapter: Chapter) -> None:
        self._chapter = chapter

    def notebook(self) -> Notebook:
        """A new process for a notebook.

        Raises:
            NoBox: it does not come up.
        """
        token = secrets.token_hex(16)
        start = "from autograder.sandbox.alone import main; main()"
        with socket.create_server(("127.0.0.1", 0)) as door:
            port = str(door.getsockname()[1])
            told = [port, token, json.dumps(self._chapter.as_plain())]
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", start, *told], env=os.environ | _environment(),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            door.settimeout(PATIENCE)
            try:
                talk, _ = door.accept()
                talk.settimeout(None)
                if talk.recv(len(token), socket.MSG_WAITALL).decode() != token:
                    raise OSError("somebody else answered")
            except OSError as error:
                process.kill()
                raise NoBox(f"The process for notebooks did not come up: {error}") from None
        return Notebook(talk, None, process)

    def close(self) -> None:
        """Nothing is left between notebooks."""


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


class Notebook:
    """The process in which one notebook is worked through."""

    def __init__(
        self,
        talk: socket.socket,
        word: socket.socket | None,
        process: subprocess.Popen[bytes] | None = None,
    ) -> None:
        self._talk, self._word, self._process = talk, word, process

    def step(
        self,
        head: dict[str, Any],
        blobs: list[bytes] | None = None,
        *,
        patience: float,
        tell: Callable[[dict[str, Any]], None] = lambda head: None,
        largest: int = MAX_OUTPUTS,
    ) -> Frame:
        """Have one step done.

        Args:
            head: the step.
            blobs: bytes that go with it.
            patience: seconds until the process counts as lost.
            tell: is told what comes before the step is done.
            largest: bytes that the head of an answer may have.

        Raises:
            Lost: the process is gone, or does not answer as it must.
            NoBox: it could not be boxed.
        """
        until = time.monotonic() + patience
        try:
            send(self._talk, head, blobs, until)
            while True:
                found = receive(self._talk, until, largest)
                if found[0].get("done") == head["do"]:
                    return found
                tell(found[0])
        except TooLate:
            self.close()
            raise Lost("out of time") from None
        except Broken as error:
            how = self._how(str(error))
            self.close()
            if how.startswith("no box: "):
                raise NoBox(how.removeprefix("no box: ")) from None
            raise Lost(how) from None

    def _how(self, otherwise: str) -> str:
        """What the keeper says of the end."""
        if self._word is None or not select.select([self._word], [], [], 1.0)[0]:
            return otherwise
        return self._word.recv(2000).decode(errors="replace") or otherwise

    def close(self) -> None:
        """End it, and everything that it has started."""
        self._talk.close()
        if self._word is not None:
            self._word.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
