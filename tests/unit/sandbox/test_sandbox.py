"""The box: its input and output, and that no process in it knows expected results."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from autograder.boxed.preload import not_allowed
from autograder.exercises import EXERCISES
from autograder.sandbox.client import ProcessLost
from autograder.sandbox.resource_limits import MIB, Bounds
from autograder.sandbox.walls import Wall, why_no_box
from autograder.sandbox.wire import MAX_HEAD, MAX_OUTPUTS, Broken, TooLate, receive, send
from tests.support.notebook_boxes import Notebooks

BOUNDS = Bounds(memory=512 * MIB, disk=8 * MIB, processes=32, cpu=60.0, wall=60.0)

CHAPTERS = tuple(sorted({exercise.chapter for exercise in EXERCISES.values()}))

needs_box = pytest.mark.skipif(
    why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"
)


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


def test_what_is_printed_in_a_box_fills_no_pipe() -> None:
    """Nothing reads the pipe: a judge that logs a lot would block until its time is up."""
    program = (
        "import os; from autograder.sandbox.fork_server import _print_to_nobody as quiet; quiet();"
        "[os.write(number, b'x' * 1_000_000) for number in (1, 2)]"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        assert process.wait(60) == 0
    finally:
        process.kill()
    assert process.communicate()[0] == b""


# ------------------------------------------------------------------ knowledge of its processes

KNOWS = """
import gc, json, os, sys, types
who, chapters = sys.argv[1], sys.argv[2:]
secret = ("autograder.rules", "autograder.judge", "autograder.grading", "autograder.builder",
          "autograder.classroom", "autograder.lessons", "tests")
if who == "judge":
    from autograder.boxed import judge_service
    judge_service.import_late()
    for room in judge_service._ROOMS:  # what judges of all chapters import
        judge_service._import_all(f"autograder.{room}")
else:
    from autograder.boxed import preload
    state = preload.get_ready({"imports": ["torch"]}, [])

def is_secret(name):
    inside = f"{name}.".startswith(tuple(f"{room}." for room in secret))
    return inside or name.endswith((".cases", ".redraws", ".key"))

def public(chapter):
    config = {"syllabus": "autograder.exercises", "chapter": chapter}
    return json.loads(judge_service.public(judge_service.get_ready(config, [])))

def secrets():
    return sorted({
        f"{thing.__module__}.{thing.__qualname__}"
        for thing in gc.get_objects()  # what holds one of these objects holds its class, too
        if isinstance(thing, (type, types.FunctionType)) and isinstance(thing.__module__, str)
        and is_secret(thing.__module__)
    })

def known(told):
    preload.configure(state, told, [])
    found = before + secrets()
    return {
        "found": [*found, *filter(is_secret, sys.modules)],
        "modules": sorted(preload.not_allowed(sys.modules)),
        "threads": len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1,
        "cases": sum(len(exercise.cases) + bool(exercise.key) + bool(exercise.random)
                     for exercise in state.exercises.values()),
        "exercises": len(state.exercises) > 0,
    }

told = json.load(sys.stdin)
before = secrets() if who == "student" else []
gc.freeze()  # what was looked at is not looked at again: only what comes with a chapter is new
for chapter in chapters:  # each in a process of its own, as fork servers have it
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        said = public(chapter) if who == "judge" else known(told[chapter])
        print(json.dumps([chapter, said]), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
"""


def _say(who: str, told: dict[str, Any]) -> dict[str, Any]:
    """For each chapter, the judge's public data, or what a student's process then knows."""
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", KNOWS, who, *CHAPTERS]
    lines = subprocess.check_output(command, text=True, env=alone, input=json.dumps(told))
    return dict(json.loads(line) for line in lines.splitlines() if line.startswith("["))


def test_a_notebooks_process_holds_nothing_that_says_what_must_come_out() -> None:
    known = _say("student", _say("judge", {}))
    clean = {"found": [], "modules": [], "threads": 1, "cases": 0, "exercises": True}
    assert known == dict.fromkeys(CHAPTERS, clean)


def test_what_is_not_on_the_list_does_not_come_up() -> None:
    secret = {"autograder.judge", "autograder.judge.oracles", "autograder.judge.rule"}
    assert (
        not_allowed({"torch", "autograder.core.codec", "autograder.cards.card", *secret}) == secret
    )


# ------------------------------------------------------------------ the box itself


@pytest.fixture(scope="module")
def warm() -> Iterator[Notebooks]:
    source = Notebooks(BOUNDS)
    yield source
    source.close()


def said(source: Notebooks, *cells: str, cpu: float = 5.0) -> dict[str, Any]:
    """Run cells in a notebook's process; return its message about the last one."""
    notebook = source.notebook()
    try:
        for cell in cells:
            step = {"do": "run", "source": cell, "cpu": cpu, "wall": 100.0}
            head, _ = notebook.step(step, patience=200.0, largest=MAX_OUTPUTS)
    finally:
        notebook.close()
    return head


def shown(source: Notebooks, *cells: str) -> str:
    """Return the output of the last of these cells as text."""
    head = said(source, *cells)
    return "".join(
        row.get("text") or row.get("evalue") or row.get("data", {}).get("text/plain", "")
        for row in head["outputs"]
    )


@needs_box
def test_cells_follow_each_other_in_one_process(warm: Notebooks) -> None:
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
def test_time_that_is_used_up_is_an_error_whatever_is_shown(warm: Notebooks, what: str) -> None:
    head = said(warm, NEVER_ENDS[what], cpu=0.5)
    assert (head["out_of_time"], head["ended"]) == (True, "error")
    # There are two if time was up again while the first error was shown.
    assert {row["output_type"] for row in head["outputs"]} == {"error"}


@needs_box
@pytest.mark.parametrize("value", ["lambda *args, **kwargs: None", "None"])
@pytest.mark.parametrize("owner", ["type(get_ipython())", "get_ipython()", "InteractiveShell"])
def test_an_error_that_is_not_shown_is_an_error(warm: Notebooks, owner: str, value: str) -> None:
    exploit = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        f"{owner}.showtraceback = {value}\n{owner}._showtraceback = {value}"
    )
    head = said(warm, exploit, "1 / 0")
    assert (head["out_of_time"], head["ended"]) == (False, "error")
    assert [row["output_type"] for row in head["outputs"]] == ["error"]


@needs_box
def test_a_cell_knows_that_it_is_graded_as_nbgrader_tells_it(warm: Notebooks) -> None:
    assert shown(warm, "import os\nprint(os.environ['NBGRADER_EXECUTION'])") == "autograde\n"


@needs_box
def test_what_a_lesson_tells_afterwards_is_not_told_while_grading(warm: Notebooks) -> None:
    code = (
        "from autograder import debrief, fails, predict\n"
        "predict('03.1', '?'); predict('none', 'z'); debrief('retarget')\n"
        "with fails(ZeroDivisionError):\n    1 / 0"
    )
    assert shown(warm, code) == "ZeroDivisionError: division by zero  (as expected)\n"


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
def test_is_not_there_or_not_allowed(warm: Notebooks, what: str) -> None:
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
            "import os, time\nos.fork()\nx = bytearray(b'x') * (350 << 20)\ntime.sleep(90)",
            "out of memory",
        ),
    ],
)
def test_how_a_process_ended_is_known(warm: Notebooks, cell: str, how: str) -> None:
    with pytest.raises(ProcessLost) as lost:
        shown(warm, cell)
    assert str(lost.value.ending) == how


@needs_box
def test_limits_are_errors_like_others(warm: Notebooks) -> None:
    assert "Unable to allocate" in shown(warm, "import numpy; numpy.ones(2**30)")
    assert "No space left" in shown(
        warm, "for i in range(99): open(f'{i}', 'wb').write(bytes(2**20))"
    )
    bomb = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)"
    assert "temporarily unavailable" in shown(warm, bomb)


@needs_box
def test_nothing_is_left_of_a_notebook(warm: Notebooks) -> None:
    marker = "a-marker-of-this-test"
    start = f"import subprocess; subprocess.Popen(['sleep', '300'], env={{'M': '{marker}'}})"
    shown(warm, start + "\nopen('kept', 'w').write('x')")
    assert "FileNotFoundError" in shown(
        warm, "try: open('kept')\nexcept OSError as e: print(repr(e))"
    )
    command = ["grep", "-l", marker, "-r", "/proc", "--include=environ"]
    for _ in range(60):  # its processes need a moment to end
        found = subprocess.run(command, capture_output=True, text=True).stdout
        if not found:
            break
        time.sleep(0.5)
    assert found == ""


def test_without_a_box_a_notebook_runs_too() -> None:
    source = Notebooks(BOUNDS, wall=Wall.NONE)
    assert shown(source, "import os", "21 * 2") == "42"
    with pytest.raises(ProcessLost):
        shown(source, "import os; os._exit(1)")
