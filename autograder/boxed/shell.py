"""An IPython shell without a kernel: runs cells, and records their outputs.

It replaces the shell of ipykernel, which needs sockets and threads, and cannot be forked. Its
limits on outputs are for honest notebooks; the judge applies its own.
"""

from __future__ import annotations

import builtins
import io
import os
import subprocess
import sys
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from autograder.core.limits import Clock

MAX_PRINTED = 200_000
"""Characters that one cell may print; the rest is dropped."""

MAX_SHOWN = 10_000_000
"""Bytes of other output of one cell; the rest is dropped."""

SHOW_ERROR_SECONDS = 5.0
"""Seconds for displaying an error, before code that is out of time is stopped again."""

Output = dict[str, Any]


class Record:
    """The outputs of the running cell so far, in the form of a notebook."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self._shown: dict[str, Output] = {}
        self.begin()

    def begin(self, *, bare: bool = False) -> None:
        """Begin with the next cell.

        Args:
            bare: whether only errors are kept.
        """
        self.outputs, self.bare = [], bare
        self._printed = self._size = 0
        self._clear = False

    def write(self, name: str, text: str) -> None:
        """Add text that was printed to a stream."""
        if self.bare:
            return
        left = MAX_PRINTED - self._printed
        self._printed += len(text)
        if left <= 0:
            return
        if len(text) > left:
            note = f"\n… of what this cell printed, {MAX_PRINTED:,} characters are kept\n"
            text = text[:left] + note
        last = self.outputs[-1] if self.outputs and not self._clear else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"] += text
        else:
            self._add({"output_type": "stream", "name": name, "text": text})

    def show(self, output: Output, display_id: str | None = None, *, update: bool = False) -> None:
        """Add a rich output, or update an earlier one."""
        if self.bare:
            return
        if update:
            if display_id in self._shown:
                self._shown[display_id].update(data=output["data"], metadata=output["metadata"])
            return
        self._size += len(repr(output))
        if self._size > MAX_SHOWN:
            if self._size < 2 * MAX_SHOWN:
                self.write("stderr", "\n… further output was dropped\n")
                self._size = 2 * MAX_SHOWN
            return
        self._add(output)
        if display_id is not None:
            self._shown[display_id] = output

    def fail(self, kind: type, value: BaseException, lines: list[str]) -> None:
        """Add an error."""
        row = {"output_type": "error", "ename": str(getattr(kind, "__name__", kind))[:200]}
        row |= {"evalue": _text(value)[:20_000]}
        self._add(row | {"traceback": [str(line)[:20_000] for line in lines[:200]]})

    def clear(self, wait: bool) -> None:
        """Remove the outputs of the cell, at once or before the next output."""
        if wait:
            self._clear = True
        else:
            self.outputs.clear()

    def _add(self, output: Output) -> None:
        if self._clear:
            self.outputs.clear()
            self._clear = False
        self.outputs.append(output)


class Stream(io.TextIOBase):
    """Standard output, or standard error, of cells."""

    encoding = "utf-8"
    errors = "strict"

    def __init__(self, record: Record, name: str, descriptor: int) -> None:
        self._record, self.name, self._descriptor = record, name, descriptor

    def writable(self) -> bool:
        """Return true: the stream can be written."""
        return True

    def write(self, text: str) -> int:
        """Add some text to the record."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._record.write(self.name, text)
        return len(text)

    def fileno(self) -> int:
        """The descriptor to which child processes print."""
        return self._descriptor

    @property
    def buffer(self) -> _Bytes:
        """The stream for bytes."""
        return _Bytes(self)


class _Bytes(io.RawIOBase):
    """The same stream for code that prints bytes."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._stream.write(bytes(data).decode("utf-8", "replace"))


class _Publisher(DisplayPublisher):
    record: Record

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        source: object = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **_: Any,
    ) -> None:
        output = {"output_type": "display_data", "data": data, "metadata": metadata or {}}
        self.record.show(output, (transient or {}).get("display_id"), update=update)

    def clear_output(self, wait: bool = False) -> None:
        self.record.clear(wait)


class _Hook(DisplayHook):
    record: Record

    def write_output_prompt(self) -> None:
        pass

    def compute_format_data(self, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        if self.record.bare:
            return {}, {}
        data, metadata = super().compute_format_data(result)  # type: ignore[no-untyped-call]
        return data, metadata

    def write_format_data(self, data: dict[str, Any], metadata: Any = None) -> None:
        self.record.show(
            {
                "output_type": "execute_result",
                "data": data,
                "metadata": metadata or {},
                "execution_count": self.prompt_count,
            }
        )

    def finish_displayhook(self) -> None:
        self.flush_needed = False


class Shell(InteractiveShell):
    """The shell of one notebook."""

    display_pub_class = Type(_Publisher)
    displayhook_class = Type(_Hook)
    record: Record
    clock: Clock | None = None
    """The clock of the running cell."""

    def showtraceback(self, *args: Any, **options: Any) -> None:
        """Display an error without an interruption, although the time may be used up."""
        if self.clock is not None:
            self.clock.pause(SHOW_ERROR_SECONDS)
        super().showtraceback(*args, **options)

    def _format_exception_for_storage(self, exception: BaseException, *_: Any) -> dict[str, Any]:
        """The history's record of an exception, which has no reader here, so without its lines."""
        return {"ename": type(exception).__name__, "evalue": _text(exception), "traceback": []}

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        self.record.fail(etype, evalue, stb)

    def system(self, command: str) -> None:
        """Run a shell command: ``!echo``."""
        done = subprocess.run(
            self.var_expand(command, depth=1), shell=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        sys.stdout.write(done.stdout)
        self.user_ns["_exit_code"] = done.returncode

    system_piped = system_raw = system

    def getoutput(self, command: str, split: bool = True, depth: int = 0) -> Any:
        """Run a shell command, and return its output: ``x = !echo``."""
        from IPython.utils.text import LSString, SList

        text = subprocess.run(
            self.var_expand(command, depth=depth + 1), shell=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ).stdout  # fmt: skip
        return SList(text.splitlines()) if split else LSString(text)

    def enable_gui(self, gui: object = None) -> None:
        """Do nothing, because there are no windows; plots become outputs."""

    def ask_exit(self) -> None:
        """End Python, as ``quit()`` does in a kernel."""
        os._exit(0)


def _text(value: BaseException) -> str:
    try:
        return str(value)
    except Exception:
        return ""


def make_shell() -> tuple[Shell, Record]:
    """Make the shell of this process. It starts no thread and writes no file."""
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "neutral"
    # Other modes parse and color the source of every frame, which takes most of a cell's time.
    config.InteractiveShell.xmode = "Plain"
    config.InteractiveShell.cache_size = 1000
    shell = Shell.instance(config=config)
    record = Record()
    shell.record = record
    for part in (shell.display_pub, shell.displayhook):
        vars(part)["record"] = record
    builtins.input = _no_input
    return shell, record


def take_streams(record: Record) -> None:
    """Send the output of cells to the record, and that of child processes to the null device."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    for name, number in (("stdout", 1), ("stderr", 2)):
        vars(sys)[name] = vars(sys)[f"__{name}__"] = Stream(record, name, number)


def _no_input(prompt: object = "") -> str:
    raise EOFError("input() was called, but nobody is there to answer while a notebook is graded.")
