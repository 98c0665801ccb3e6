"""The box: what gets in, what gets out, and that nothing in it knows what must come out."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pytest
from autograder.sandbox.shorn import Needs
from autograder.sandbox.worker import Chapter, Lost, Source, Unboxed, Warm

from autograder.sandbox.bounds import MIB, Bounds
from autograder.sandbox.frames import MAX_HEAD, Broken, TooLate, receive, send
from autograder.sandbox.probe import why_no_box

BOUNDS = Bounds(memory=512 * MIB, disk=8 * MIB, processes=32, cpu=60.0, wall=60.0)
CHAPTER = Chapter("00_start", imports=("torch",), bounds=BOUNDS)

needs_box = pytest.mark.skipif(
    why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"
)


# ------------------------------------------------------------------ what a process may hold


@lru_cache
def _cached(number: int) -> int:
    return CHAPTER and number


def test_what_a_cached_function_needs_is_kept() -> None:
    needs = Needs()
    needs.follow([_cached])
    assert (id(globals()), "CHAPTER") in needs.names


# ------------------------------------------------------------------ the wire


@pytest.fixture
def wire() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_frames_cross_as_they_are(wire: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = wire
    blobs = [b"", b"\0" * 3_000_000, b"end"]
    sender = threading.Thread(target=send, args=(theirs, {"done": "run", "n": 1}, blobs))
    sender.start()
    assert receive(ours, time.monotonic() + 10) == ({"done": "run", "n": 1}, blobs)
    sender.join()


@pytest.mark.parametrize(
    "head",
    [
        b"[]",
        b"nonsense",
        b'{"blobs": 3}',
        b'{"blobs": [-1]}',
        b'{"blobs": [true]}',
        b'{"blobs": [999999999999]}',
        b'{"blobs": [], "n": NaN}',
        b'{"n": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"\xff\xfe",
    ],
    ids=lambda head: head[:20].decode(errors="replace"),
)
def test_what_is_no_frame_is_refused(
    wire: tuple[socket.socket, socket.socket], head: bytes
) -> None:
    ours, theirs = wire
    threading.Thread(
        target=theirs.sendall, args=(len(head).to_bytes(4, "little") + head,), daemon=True
    ).start()
    with pytest.raises(Broken):
        receive(ours, time.monotonic() + 10)


def test_too_large_a_head_is_not_waited_for(wire: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = wire
    theirs.sendall((MAX_HEAD + 1).to_bytes(4, "little"))
    with pytest.raises(Broken, match="too large"):
        receive(ours, time.monotonic() + 10)


def test_waiting_has_an_end(wire: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = wire
    theirs.sendall(b"\1")
    with pytest.raises(TooLate):
        receive(ours, time.monotonic() + 0.05)


# ------------------------------------------------------------------ what it knows

KNOWS = """
import gc, json, os, sys
from autograder.sandbox import ready
wanted = {"syllabus": "autograder.syllabus", "chapter": "03_manipulation", "imports": ["torch"]}
started = ready.get_ready(wanted)
secret = ("autograder.rubric", "autograder.judge", "autograder.references", "autograder.syllabus",
          "autograder.models.random.oracles", "autograder.randomly", "autograder.builder")
found = sorted({
    f"{thing.__module__}.{getattr(thing, '__qualname__', thing)}" for thing in gc.get_objects()
    if isinstance(getattr(thing, "__module__", None), str) and callable(thing)
    and any(thing.__module__ == name or thing.__module__.startswith(name + ".") for name in secret)
})
exercises = started[2]
print(json.dumps({
    "found": found,
    "modules": [name for name in sys.modules if name.startswith(secret)],
    "threads": len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1,
    "expectations": sum(bool(case.expect or case.oracle or case.known)
                        for exercise in exercises.values() for case in exercise.cases),
    "oracles": sum(bool(case.oracle) for exercise in exercises.values() if exercise.random
                   for case in exercise.random.cases(3)),
    "cases": sum(len(exercise.cases) for exercise in exercises.values()),
}))
"""


MAKERS = {
    f"autograder.syllabus.manipulation.{name}"
    for name in (
        "probe_values.probe_case.<locals>.trial",
        "probe_values.with_probe",
        "retarget._called",
        "retarget._called_in",
        "retarget._name",
        "retarget.with_functions",
        "sound_dce.switch_first_norm",
        "sound_dce.switch_norms",
        "sound_dce.with_a_frozen_norm",
    )
}
"""What the cases of this chapter are made with."""


def test_a_notebooks_process_holds_nothing_that_says_what_must_come_out() -> None:
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    said = subprocess.check_output([sys.executable, "-c", KNOWS], text=True, env=alone)
    known = json.loads(said.splitlines()[-1])
    assert known.pop("cases") > 50
    found = known.pop("found")
    # What is left of the syllabus makes models and arguments; none of it judges.
    assert [name for name in found if not name.startswith("autograder.syllabus.")] == []
    assert set(found) <= MAKERS
    assert known == {"modules": [], "threads": 1, "expectations": 0, "oracles": 0}


# ------------------------------------------------------------------ the box itself


@pytest.fixture(scope="module")
def warm() -> Iterator[Source]:
    source = Warm(CHAPTER)
    yield source
    source.close()


def said(source: Source, *cells: str, cpu: float = 5.0) -> dict[str, Any]:
    """What a notebook's process says of the last of these cells."""
    notebook = source.notebook()
    try:
        for cell in cells:
            step = {"do": "run", "source": cell, "cpu": cpu, "wall": 10.0}
            head, _ = notebook.step(step, patience=20.0)
    finally:
        notebook.close()
    return head


def shown(source: Source, *cells: str) -> str:
    """What the last of these cells shows, as text."""
    head = said(source, *cells)
    return "".join(
        row.get("text") or row.get("evalue") or row.get("data", {}).get("text/plain", "")
        for row in head["outputs"]
    )


@needs_box
def test_cells_follow_each_other_in_one_process(warm: Source) -> None:
    assert shown(warm, "x = 20", "x + 1") == "21"
    assert "not defined" in shown(warm, "x")


NEVER_ENDS = {
    "deep recursion": "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(200)",
    "a loop": "while True: pass",
    "an error that is slow to show": (
        "import time\nclass Slow(Exception):\n    def __str__(self):\n"
        "        end = time.time() + 2\n        while time.time() < end: pass\n"
        "        return 'slow'\n"
        "try:\n    while True: pass\nexcept BaseException:\n    raise Slow"
    ),
    "an error that never ends": (
        "class Endless(Exception):\n    def __str__(self):\n        while True: pass\nraise Endless"
    ),
    "a loop that is stopped and passes over it": (
        "try:\n    while True: pass\nexcept BaseException: pass"
    ),
}


@needs_box
@pytest.mark.parametrize("what", NEVER_ENDS)
def test_time_that_is_used_up_is_an_error_whatever_is_shown(warm: Source, what: str) -> None:
    head = said(warm, NEVER_ENDS[what], cpu=0.5)
    assert (head["out_of_time"], head["ended"]) == (True, "error")
    assert [row["output_type"] for row in head["outputs"]] == ["error"]


@needs_box
@pytest.mark.parametrize("value", ["lambda *args, **kwargs: None", "None"])
@pytest.mark.parametrize("owner", ["type(get_ipython())", "get_ipython()", "InteractiveShell"])
def test_an_error_that_is_not_shown_is_an_error(warm: Source, owner: str, value: str) -> None:
    exploit = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        f"{owner}.showtraceback = {value}\n{owner}._showtraceback = {value}"
    )
    head = said(warm, exploit, "1 / 0")
    assert (head["out_of_time"], head["ended"]) == (False, "error")
    assert [row["output_type"] for row in head["outputs"]] == ["error"]


@needs_box
def test_a_cell_knows_that_it_is_graded_as_nbgrader_tells_it(warm: Source) -> None:
    assert shown(warm, "import os\nprint(os.environ['NBGRADER_EXECUTION'])") == "autograde\n"


SEEN = {
    "the file of passwords": "open('/etc/passwd').read()",
    "this course": "import autograder, os; os.listdir(os.path.dirname(autograder.__file__))",
    "the file of secrets": "open('/etc/shadow').read()",
    "the network": "import socket; socket.create_connection(('127.0.0.1', 22), 1)",
    "a place to write": "open('/usr/lib/x', 'w')",
    "another root": "import os; os.chroot('/tmp')",
    "another user": "import os; os.setuid(0)",
    "the keeper's memory": "open('/proc/1/mem', 'rb')",
    "the keeper": "import os; os.kill(1, 9); raise OSError('nothing happened')",
    "a packet socket": "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
}


@needs_box
@pytest.mark.parametrize("what", SEEN)
def test_is_not_there_or_not_allowed(warm: Source, what: str) -> None:
    name = "import sys, os\ntry:\n    exec({!r})\nexcept OSError: print('refused', end='')\n"
    assert shown(warm, name.format(SEEN[what]) + "else: print('done')") == "refused"


@needs_box
@pytest.mark.parametrize(
    ("cell", "how"),
    [
        ("import os; os._exit(3)", "ended with 3"),
        ("import ctypes; ctypes.string_at(0)", "ended by signal 11"),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
        (
            "import os, time\nos.fork()\nx = bytearray(b'x') * (350 << 20)\ntime.sleep(9)",
            "out of memory",
        ),
    ],
)
def test_how_a_process_ended_is_known(warm: Source, cell: str, how: str) -> None:
    with pytest.raises(Lost) as lost:
        shown(warm, cell)
    assert lost.value.how == how


@needs_box
def test_limits_are_errors_like_others(warm: Source) -> None:
    assert "Unable to allocate" in shown(warm, "import numpy; numpy.ones(2**30)")
    assert "No space left" in shown(
        warm, "for i in range(99): open(f'{i}', 'wb').write(bytes(2**20))"
    )
    bomb = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)"
    assert "temporarily unavailable" in shown(warm, bomb)


@needs_box
def test_nothing_is_left_of_a_notebook(warm: Source) -> None:
    marker = "a-marker-of-this-test"
    start = f"import subprocess; subprocess.Popen(['sleep', '300'], env={{'M': '{marker}'}})"
    shown(warm, start + "\nopen('kept', 'w').write('x')")
    assert "FileNotFoundError" in shown(
        warm, "try: open('kept')\nexcept OSError as e: print(repr(e))"
    )
    time.sleep(0.5)
    found = subprocess.run(["grep", "-l", marker, "-r", "/proc", "--include=environ"],
                           capture_output=True, text=True)  # fmt: skip
    assert found.stdout == ""


def test_without_a_box_a_notebook_runs_too() -> None:
    source = Unboxed(CHAPTER)
    assert shown(source, "import os", "21 * 2") == "42"
    with pytest.raises(Lost):
        shown(source, "import os; os._exit(1)")
