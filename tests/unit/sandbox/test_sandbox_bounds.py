"""Limits of a box on memory, processes and processor time, and fairness to other boxes."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autograder.sandbox import (
    init_process,
    namespaces,
    seccomp,
    syscall_numbers,
    wire,
    zygote,
)
from autograder.sandbox.cgroups import Cgroup, find_home, home_of_boxes
from autograder.sandbox.client import Process, ProcessLost
from autograder.sandbox.resource_limits import MIB, SPARE, Bounds, hold_processor_time
from autograder.sandbox.usage import ProcessorTime, Times, Waiting, look_at
from autograder.sandbox.walls import Wall, why_no_box, why_not
from tests.support.notebook_boxes import Notebooks

BOUNDS = Bounds(memory=256 * MIB, disk=16 * MIB, processes=40, cpu=20.0, wall=60.0)

needs_box = pytest.mark.skipif(
    why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"
)


@pytest.fixture(scope="module")
def warm() -> Iterator[Notebooks]:
    source = Notebooks(BOUNDS)
    yield source
    source.close()


@contextlib.contextmanager
def without_groups(bounds: Bounds) -> Iterator[Notebooks]:
    """A fork server without control groups, forked from a process without them."""
    none = "from autograder.sandbox import cgroups; cgroups.find_home = lambda *_: None; "
    popen = subprocess.Popen

    def start(command: list[str], **settings: object) -> subprocess.Popen:
        return popen([*command[:3], none + command[3], *command[4:]], **settings)

    alive: dict[tuple[int, str], zygote.Zygote] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zygote, "_alive", alive)
        patch.setattr(zygote.subprocess, "Popen", start)
        source = Notebooks(bounds)
    yield source
    source.close()
    for process in alive.values():
        process.close()


@pytest.fixture(scope="module")
def ungrouped() -> Iterator[Notebooks]:
    with without_groups(BOUNDS) as source:
        yield source


@pytest.fixture(scope="module")
def frugal() -> Iterator[Notebooks]:
    with without_groups(Bounds(memory=96 * MIB, cpu=4.0, wall=600.0)) as source:
        yield source


def run(notebook: Process, cell: str, seconds: float = 20.0) -> str:
    """Return the text that a cell prints, or the text of its error."""
    step = {"do": "run", "source": cell, "cpu": seconds, "wall": seconds}
    head, _ = notebook.step(step, patience=3 * seconds, largest=wire.MAX_OUTPUTS)
    return "".join(row.get("text") or row.get("evalue", "") for row in head["outputs"])


def shown(source: Notebooks, cell: str, seconds: float = 20.0) -> str:
    """Return the text that a cell prints in a new notebook."""
    notebook = source.notebook()
    try:
        return run(notebook, cell, seconds)
    finally:
        notebook.close()


# ------------------------------------------------------------------ system calls


def answer(machine: str, number: int, *arguments: int, architecture: int | None = None) -> str:
    """The filter's decision on a system call, computed as the kernel does."""
    known = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}[machine]
    padded = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number, architecture or known, 0, *padded)
    lines = [*struct.iter_unpack("=HBBI", seccomp.program(machine))]
    at = value = 0
    while True:
        code, yes, no, k = lines[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("<I", data, k)
        elif code == 0x54:
            value &= k
        elif code == 0x06:
            return "allowed" if k == 0x7FFF0000 else errno.errorcode.get(k & 0xFFFF, "nothing")
        else:
            holds = {0x15: value == k, 0x25: value > k, 0x35: value >= k, 0x45: bool(value & k)}
            at += yes if holds[code] else no


ARGUMENTS = {
    "memory of its own": ("mmap", (0, 4096, 3, 0x22), "allowed"),
    "a file that is shared": ("mmap", (0, 4096, 3, 0x01, 5), "allowed"),
    "memory that is shared": ("mmap", (0, 4096, 3, 0x21), "EPERM"),
    "memory that is shared, in other words": ("mmap", (0, 4096, 3, 0x23 | 0x4000), "EPERM"),
    "a thread": ("clone", (0x3D0F00,), "allowed"),
    "a user namespace": ("clone", (0x10000011,), "EPERM"),
    "the newer clone": ("clone3", (), "ENOSYS"),
    "a unix socket": ("socket", (1, 1), "allowed"),
    "a packet socket": ("socket", (17, 3), "EPERM"),
    "a pair of unix sockets": ("socketpair", (1, 1), "allowed"),
    "a pair of other sockets": ("socketpair", (30, 1), "EPERM"),
    "room to send": ("setsockopt", (3, 1, 7), "nothing"),
    "room to receive": ("setsockopt", (3, 1, 8), "nothing"),
    "an address again": ("setsockopt", (3, 1, 2), "allowed"),
    "no delay": ("setsockopt", (3, 6, 1), "allowed"),
    "a filter of packets": ("setsockopt", (3, 1, 26), "ENOPROTOOPT"),
    "a lock of a process": ("fcntl", (3, 6), "allowed"),
    "a lock of an open file": ("fcntl", (3, 37), "EINVAL"),
    "a name for itself": ("prctl", (15,), "allowed"),
    "a filter of its own": ("prctl", (22, 2), "EPERM"),
    "a session": ("setsid", (), "nothing"),
    "its own priority": ("setpriority", (0, 0, 5), "allowed"),
    "the keeper's priority": ("setpriority", (0, 1, 5), "EPERM"),
    "everybody's priority": ("setpriority", (2, 0, 5), "EPERM"),
    "its own limits": ("prlimit64", (0, 7), "allowed"),
    "the keeper's limits": ("prlimit64", (1, 7), "EPERM"),
    "the keeper's processors": ("sched_setaffinity", (1, 8), "EPERM"),
}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_call_has_its_answer(machine: str) -> None:
    column = ["x86_64", "aarch64"].index(machine)
    tables = (syscall_numbers.ALLOWED, syscall_numbers.REFUSED, syscall_numbers.LOOKED_AT)
    numbers = [pair[column] for table in tables for pair in table.values()]
    known = [number for number in numbers if number is not None]
    assert len(known) == len(set(known))
    for table, said in ((tables[0], "allowed"), (tables[1], "EPERM")):
        for name, pair in table.items():
            assert pair[column] is None or answer(machine, pair[column]) == said, name
    for number in set(range(700)) - set(known):
        assert answer(machine, number) == "ENOSYS", number
    for what, (name, arguments, said) in ARGUMENTS.items():
        number = syscall_numbers.LOOKED_AT[name][column]
        assert answer(machine, number, *arguments) == said, what
    assert answer(machine, known[0], architecture=0x40000003) == "ENOSYS"  # 32 bits
    assert answer(machine, 0x40000000 + known[0]) == "ENOSYS"  # x32


REFUSED = {
    "semaphores": ("print(libc.semget(0, 100, 0o1600), errno())", "-1 EPERM"),
    "message queues": ("print(libc.msgget(0, 0o1600), errno())", "-1 EPERM"),
    "segments": ("print(libc.shmget(0, 4096, 0o1600), errno())", "-1 EPERM"),
    "watches": ("print(libc.inotify_init(), errno())", "-1 ENOSYS"),
    "a call of next year": ("print(libc.syscall(690), errno())", "-1 ENOSYS"),
    "shared memory without a file": ("mmap.mmap(-1, 4096)", "not permitted"),
    "shared zeros": (
        "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 4096, mmap.MAP_SHARED)",
        "No such device",
    ),
    "the keeper's priority": ("os.setpriority(os.PRIO_PROCESS, 1, 19)", "not permitted"),
}


@needs_box
def test_what_is_refused_is_an_error_and_ends_nothing(warm: Notebooks) -> None:
    notebook = warm.notebook()
    begin = "import ctypes, errno as e, mmap, os; libc = ctypes.CDLL(None, use_errno=True)"
    run(notebook, begin + "\ndef errno(): return e.errorcode[ctypes.get_errno()]")
    for what, (cell, says) in REFUSED.items():
        assert says in run(notebook, cell), what
    notebook.close()


USED = {
    "zeros": "print(open('/dev/zero', 'rb').read(3))",
    "a shell": "import subprocess as s\nprint(s.run('echo a | cat; sleep 0.1 & wait; ls / | wc -l',"
    " shell=True, capture_output=True, text=True, start_new_session=True).stdout.split()[0])",
    "bash": "import subprocess as s\n"
    "print(s.run(['bash', '-c', 'x=$(echo a); (sleep 0.1 & wait); echo $x'],"
    " capture_output=True).stdout)",
    "asyncio": "import asyncio\nasync def work():\n"
    "    p = await asyncio.create_subprocess_exec('echo', 'a', stdout=-1)\n"
    "    return (await p.communicate())[0]\n"
    "from concurrent.futures import ThreadPoolExecutor as T\n"
    "print(T(1).submit(asyncio.run, work()).result())",
    "memory of a file that is shared": "import mmap, os\nf = open('x', 'w+b'); f.truncate(4096)\n"
    "m = mmap.mmap(f.fileno(), 4096)\n"
    "if os.fork() == 0: m[0] = 65; os._exit(0)\nos.wait(); print(m[0])",
    "processes with a queue": "import multiprocessing as mp\nm = mp.get_context('fork')\n"
    "q = m.Queue(); v = m.Value('i', 1)\n"
    "def work(q, v): v.value = 2; q.put(3)\n"
    "p = m.Process(target=work, args=(q, v)); p.start(); print(q.get()); p.join(); print(v.value)",
    "tensors that are shared": "import torch, os\nx = torch.ones(2).share_memory_()\n"
    "if os.fork() == 0: x += 1; os._exit(0)\nos.wait(); print(x.tolist())",
    "workers that load data": "import torch\nfrom torch.utils.data import DataLoader as D\n"
    "print([b.sum().item() for b in D(torch.ones(4, 2), num_workers=2, batch_size=2)])",
    "sockets": "import socket\na, b = socket.socketpair()\n"
    "a.setsockopt(1, socket.SO_SNDBUF, 1 << 20); a.send(b'hi'); print(b.recv(2))",
    "a network that is not there": "import socket\n"
    "try: socket.create_connection(('10.0.0.1', 80), 2)\nexcept OSError as e: print(e.errno)",
    "sqlite": "import sqlite3\nc = sqlite3.connect('x.db'); c.execute('create table t(a)')\n"
    "c.commit(); print(c.execute('select count(*) from t').fetchone())",
    "copies": "import shutil, os\nopen('a', 'w').write('x' * 9999); shutil.copy2('a', 'b')\n"
    "print(os.path.getsize('b'))",
}
SAYS = {
    "zeros": "b'\\x00\\x00\\x00'",
    "a shell": "a",
    "bash": "b'a\\n'",
    "asyncio": "b'a\\n'",
    "memory of a file that is shared": "65",
    "processes with a queue": "3\n2",
    "tensors that are shared": "[2.0, 2.0]",
    "workers that load data": "[4.0, 4.0]",
    "sockets": "b'hi'",
    "a network that is not there": str(errno.ENETUNREACH),
    "sqlite": "(0,)",
    "copies": "9999",
}


@needs_box
def test_what_notebooks_use_is_there(warm: Notebooks) -> None:
    notebook = warm.notebook()
    for what, cell in USED.items():
        assert run(notebook, cell).strip() == SAYS[what], what
    notebook.close()


# ------------------------------------------------------------------ memory charged to no process

TABLES = """
import mmap
m = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000,
              prot=mmap.PROT_READ)
m.madvise(15)
for at in range(0, 1 << 40, 2 << 20):
    m[at]
"""
SOCKETS = """
import os, socket, time
for _ in range(6):
    if os.fork() == 0:
        pairs = []
        try:
            while True:
                pairs.append(socket.socketpair())
                for one in pairs[-1]:
                    one.setblocking(False)
                    try:
                        while one.send(b"x" * 65536): pass
                    except BlockingIOError: pass
        except OSError: pass
        time.sleep(90)
time.sleep(90)
"""
MAPS = """
import ctypes, os, time
libc = ctypes.CDLL(None)
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
for _ in range(8):
    if os.fork() == 0:
        for n in range(55000): libc.mmap(None, 4096, n % 2, 0x22, -1, 0)
        time.sleep(50)
time.sleep(50)
"""
LOCKS = """
import fcntl
for name in range(9):
    f = open(str(name), "w")
    globals()[f"f{name}"] = f
    for at in range(2000, 0, -1): fcntl.lockf(f, fcntl.LOCK_EX, 1, 2 * at)
import time; time.sleep(90)
"""
TOGETHER = """
import os, time
for _ in range(3): os.fork()
block = bytearray(os.urandom(1 << 20)) * 60
time.sleep(90)
"""
FILLS = {
    "page tables": TABLES,
    "sockets": SOCKETS,
    "locks": LOCKS,
    "processes together": TOGETHER,
}


@needs_box
@pytest.mark.parametrize("what", FILLS)
def test_all_memory_counts(warm: Notebooks, what: str) -> None:
    with pytest.raises(ProcessLost, match="out of memory"):
        shown(warm, FILLS[what], seconds=100.0)


SHARES = """
import os, time
block = bytearray(os.urandom(1 << 20)) * 100
children = []
for _ in range(6):
    children.append(os.fork())
    if children[-1] == 0:
        sum(block[::4096]); time.sleep(1); os._exit(0)
for child in children: os.waitpid(child, 0)
print("done")
"""


@needs_box
def test_memory_that_forks_share_counts_once(ungrouped: Notebooks) -> None:
    assert "done" in shown(ungrouped, SHARES)


@needs_box
def test_maps_count(frugal: Notebooks) -> None:
    with pytest.raises(ProcessLost, match="out of memory"):
        shown(frugal, MAPS, seconds=60.0)


# ------------------------------------------------------------------ processor time

UNCOUNTED = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        stop = time.process_time() + {life}
        while time.process_time() < stop: pass
        os._exit(0)
    try: os.wait()
    except ChildProcessError: pass
"""


@needs_box
@pytest.mark.parametrize("life", [0.03, 0.5])
def test_children_that_leave_no_times_behind_are_counted(frugal: Notebooks, life: float) -> None:
    began = time.monotonic()
    with pytest.raises(ProcessLost, match="out of time"):
        shown(frugal, UNCOUNTED.format(life=life), seconds=1000.0)
    assert time.monotonic() - began < 300  # the limit on real time did not end it


def test_time_of_those_that_are_there_is_exact() -> None:
    spent = ProcessorTime(free=0)
    spent.look({(2, "a"): Times(1.0, 0.0)}, 0.0, 1, 0.1)
    spent.look({(2, "a"): Times(1.5, 0.0), (3, "b"): Times(0.1, 0.0)}, 0.0, 1, 0.1)
    assert spent.total == pytest.approx(1.6)


def test_time_that_a_parent_is_told_counts_once() -> None:
    spent = ProcessorTime(free=10)
    spent.look({(2, "a"): Times(1.0, 0.0), (3, "b"): Times(4.0, 0.0)}, 0.0, 2, 0.1)
    spent.look({(2, "a"): Times(1.0, 4.05)}, 0.0, 0, 0.1)
    assert spent.total == pytest.approx(5.05)


def test_time_of_what_process_1_buries_counts_once() -> None:
    spent = ProcessorTime(free=10)
    spent.look({(2, "a"): Times(1.0, 0.0), (3, "b"): Times(4.0, 0.0)}, 0.0, 2, 0.1)
    spent.look({(2, "a"): Times(1.0, 0.0)}, 4.05, 0, 0.1)
    assert spent.total == pytest.approx(5.05)


def test_those_that_come_and_go_unseen_are_charged_for() -> None:
    spent = ProcessorTime(free=2)
    for _ in range(3):
        spent.look({(2, "a"): Times(0.0, 0.0)}, 0.0, 2, 0.1)
    # Six started: one is the first process itself, and two are free.
    assert spent.total == pytest.approx(3 * 0.05)


def test_no_more_is_charged_than_a_machine_has() -> None:
    spent = ProcessorTime(free=0)
    spent.look({}, 0.0, 10_000, 0.1)
    assert spent.total == pytest.approx(0.1 * os.cpu_count())


def test_an_answer_that_waits_for_a_processor_while_the_first_process_sleeps_is_seen() -> None:
    waiting = Waiting()
    for first, answer in [(1.0, 0.0), (1.0, 4.0), (1.5, 9.0)]:
        waiting.look({2: first, 3: answer})
    waiting.look({2: 1.75})  # the answer's process has ended
    waiting.look({2: 1.75, 3: 0.5})  # another process reuses its id
    assert waiting.total == pytest.approx(1.0 + 4.0 + 5.0 + 0.25 + 0.5)


@needs_box
def test_honest_children_cost_little(frugal: Notebooks) -> None:
    cell = "import subprocess as s\nfor i in range(60): s.run(['true'])\nprint('done')"
    assert "done" in shown(frugal, cell)


def test_a_limit_on_processor_time_counts_what_the_kernel_does() -> None:
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            hold_processor_time(1.0)
            with open("/dev/zero", "rb", buffering=0) as zeros:
                block = bytearray(64 * MIB)
                while True:
                    zeros.readinto(block)
        os._exit(0)
    began = os.times().children_user + os.times().children_system
    _, status = os.waitpid(child, 0)
    taken = os.times().children_user + os.times().children_system - began
    assert os.waitstatus_to_exitcode(status) in (-signal.SIGKILL, -signal.SIGXCPU)
    assert taken < 4.0


# ------------------------------------------------------------------ neighbours

HOLDS = """
import os, time
held = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        held += 1
except OSError: print(held)
"""
HONEST = """
import subprocess, threading
from concurrent.futures import ThreadPoolExecutor
print(subprocess.run(["echo", "hi"], capture_output=True, text=True).stdout.strip())
with ThreadPoolExecutor(4) as pool: print(sum(pool.map(abs, range(5))))
"""


@needs_box
def test_a_neighbour_of_one_that_forks_keeps_its_processes(warm: Notebooks) -> None:
    greedy, honest = warm.notebook(), warm.notebook()
    try:
        assert int(run(greedy, HOLDS)) > 20
        assert run(honest, HONEST).split() == ["hi", "10"]
    finally:
        greedy.close()
        honest.close()


@needs_box
def test_each_box_has_its_own_users(warm: Notebooks) -> None:
    boxes = [warm.notebook(), warm.notebook()]
    cell = "import os; print(os.readlink('/proc/self/ns/user'), open('/proc/self/uid_map').read())"
    said = [run(box, cell).split() for box in boxes]
    for box in boxes:
        box.close()
    assert len({os.readlink("/proc/self/ns/user"), *(namespace for namespace, *_ in said)}) == 3
    assert all(count == "1" for *_, count in said)
    if os.geteuid() == 0:
        one, other = (outside for *_, outside, _ in said)
        assert one != other and "0" not in (one, other)


def test_many_weigh_less_than_one() -> None:
    assert [init_process.niceness(size) for size in (0, 1, 2, 10, 60, 1000)] == [
        0,
        0,
        7,
        14,
        20,
        20,
    ]


NICE = """
import os, time
children = []
for i in range(12):
    children.append(os.fork())
    if children[-1] == 0:
        while True: pass
for _ in range(600):  # until the supervisor has looked
    time.sleep(0.1)
    lowest = min(os.getpriority(0, child) for child in children)
    if lowest >= 10:
        break
print(lowest, os.getpriority(0, 0))
"""


@needs_box
def test_what_runs_in_crowds_is_put_behind_and_the_first_is_not(warm: Notebooks) -> None:
    lowest, first = map(int, shown(warm, NICE, seconds=100.0).split())
    assert lowest >= 10
    assert first == os.nice(0)  # the tests' own niceness


@pytest.mark.skipif(sys.platform != "linux", reason="it is read in /proc")
def test_all_threads_of_a_crowd_are_put_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    behind: dict[int, int] = {}
    monkeypatch.setattr(init_process.syscalls, "put_behind", behind.__setitem__)
    end = threading.Event()
    threads = [threading.Thread(target=end.wait, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        looks = look_at([os.getpid()])
        ((_, look),) = looks.items()
        crowd = init_process.Crowd(first=0, many=0)
        crowd.put_behind(looks, started=30)
    finally:
        end.set()
    assert look.threads >= 4
    assert {os.getpid(), *(thread.native_id for thread in threads)} <= behind.keys()
    assert min(behind.values()) >= 10


SPINS = """
import os, time
for i in range(30):
    if os.fork() == 0:
        end = time.monotonic() + 5
        while time.monotonic() < end: pass
        os._exit(0)
time.sleep(5)
"""
COMPUTES = """
import time
began, stop = time.monotonic(), time.process_time() + 1.0
while time.process_time() < stop: pass
print(time.monotonic() - began)
"""


@needs_box
def test_a_neighbour_of_one_that_spins_keeps_half_its_speed(ungrouped: Notebooks) -> None:
    for _ in range(3):  # other processes of the machine can spoil a try
        alone, beside = _seconds_alone_and_next_to_busy(ungrouped)
        if beside < 2 * max(alone, 1.0) + 0.5:
            return
    pytest.fail(f"{beside:.1f} s beside a neighbour that spins, {alone:.1f} s alone")


def _seconds_alone_and_next_to_busy(source: Notebooks) -> tuple[float, float]:
    """Seconds for a fixed amount of work alone, and next to thirty busy processes."""
    greedy, honest = source.notebook(), source.notebook()
    with ThreadPoolExecutor(1) as pool:
        alone = float(run(honest, COMPUTES, 60.0))
        spinning = pool.submit(run, greedy, SPINS, 60.0)
        time.sleep(1.0)
        beside = float(run(honest, COMPUTES, 60.0))
        spinning.result()
    greedy.close()
    honest.close()
    return alone, beside


LATE = """
import os, time
mask = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(mask)})
for _ in range(8):
    if os.fork() == 0:
        end = time.monotonic() + 4
        while time.monotonic() < end: pass
        os._exit(0)
stop = time.process_time() + 1.5
while time.process_time() < stop: pass
print("done")
"""


@needs_box
def test_a_cell_that_sleeps_too_long_is_late(ungrouped: Notebooks) -> None:
    step = {"do": "run", "source": "import time; time.sleep(90)", "cpu": 99.0, "wall": 99.0}
    notebook = ungrouped.notebook()
    with pytest.raises(ProcessLost, match="out of time"):  # raised long before the cell ends
        notebook.step(step, patience=0.5)


@needs_box
def test_the_keeper_says_how_long_a_process_was_kept_waiting(ungrouped: Notebooks) -> None:
    notebook = ungrouped.notebook()
    assert "done" in run(notebook, LATE)
    assert notebook.queued() > 0.05
    assert notebook.queued_of(1) < notebook.queued(), "process 1 is the supervisor"
    assert notebook.queued_of(12345) == 0.0, "there is no such process"
    notebook.close()


@needs_box
def test_the_keeper_says_it_of_an_answer_that_was_set_aside(ungrouped: Notebooks) -> None:
    notebook = ungrouped.notebook()
    run(notebook, f"def answer(): exec({LATE!r}, {{}})")
    ours, theirs = socket.socketpair()
    with theirs:
        step = {"do": "park", "name": "answer", "wired": True}
        parked, _ = notebook.step(step, patience=60.0, hand_over=(theirs,))
    assert parked["state"] == "parked"
    before, first = notebook.queued_of(parked["pid"]), notebook.queued()
    wire.send(ours, {"do": "run", "source": "answer()", "cpu": 60.0, "wall": 300.0})
    wire.receive(ours, time.monotonic() + 300.0)
    assert notebook.queued_of(parked["pid"]) > before + 0.05
    assert notebook.queued() < first + 0.05, "the notebook's own process has only slept"
    ours.close()
    notebook.close()


# ------------------------------------------------------------------ the end of processes


@needs_box
def test_a_box_ends_with_the_process_that_made_it(warm: Notebooks) -> None:
    before = _children(warm.pid)
    notebook = warm.notebook()
    assert run(notebook, "print('there')") == "there\n"
    (maker,) = _children(warm.pid) - before
    (first,) = _children(maker)
    os.kill(maker, signal.SIGKILL)
    until = time.monotonic() + 60
    while Path(f"/proc/{first}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    ended = not Path(f"/proc/{first}").exists()
    notebook.close()
    assert ended


def _children(process: int) -> set[int]:
    listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    return {int(word) for word in listed.split()}


@needs_box
def test_the_command_line_says_nothing(warm: Notebooks) -> None:
    cell = "import sys; print(open('/proc/1/cmdline').read(), sys.argv, sys.orig_argv)"
    said = shown(warm, cell)
    assert "autograder" in said
    assert not [word for word in ("syllabus", "bounds", "covered", "00_start") if word in said]


# ------------------------------------------------------------------ the wire


def test_sending_has_an_end() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(wire.TooLate):
        wire.send(ours, {"do": "run"}, [bytes(8 * MIB)], until=time.monotonic() + 0.3)


def test_what_is_sent_in_time_arrives_whole() -> None:
    ours, theirs = socket.socketpair()
    blob = os.urandom(8 * MIB)
    with ours, theirs, ThreadPoolExecutor(1) as pool:
        sent = pool.submit(wire.send, ours, {"do": "x"}, [blob], time.monotonic() + 300)
        assert wire.receive(theirs, time.monotonic() + 300) == ({"do": "x"}, [blob])
        sent.result()


@pytest.mark.parametrize("part", [b"[],", b"{},", b"1,"])
def test_a_head_that_would_grow_is_refused(part: bytes) -> None:
    text = b'{"blobs": [], "x": [' + part * 2_500_000 + b"0]}"
    assert len(text) < wire.MAX_OUTPUTS
    with pytest.raises(wire.Broken, match="too many parts"):
        wire.as_plain(text)


def test_a_head_is_small_unless_outputs_are_expected() -> None:
    ours, theirs = socket.socketpair()
    head = {"text": "x" * 10_000_000}
    with ours, theirs:
        threading.Thread(target=wire.send, args=(ours, head), daemon=True).start()
        assert wire.receive(theirs, largest=wire.MAX_OUTPUTS)[0] == head
        threading.Thread(target=_send_quietly, args=(ours, head), daemon=True).start()
        with pytest.raises(wire.Broken, match="too large"):
            wire.receive(theirs)


@needs_box
def test_a_cell_may_be_long_and_show_much(warm: Notebooks) -> None:
    notebook = warm.notebook()
    assert run(notebook, "x = 1\n" + f"# {'x' * 3_000_000}\nprint(x)") == "1\n"
    source = "from IPython.display import display, HTML; display(HTML('x' * 9_000_000))"
    step = {"do": "run", "source": source, "cpu": 20.0, "wall": 20.0}
    head, _ = notebook.step(step, patience=60.0, largest=wire.MAX_OUTPUTS)
    notebook.close()
    assert len(head["outputs"][0]["data"]["text/html"]) == 9_000_000


def _send_quietly(one: socket.socket, head: dict[str, str]) -> None:
    with contextlib.suppress(wire.Broken):
        wire.send(one, head)


# ------------------------------------------------------------------ environments made of links


def test_the_way_to_a_path_has_every_link(tmp_path: Path) -> None:
    real = tmp_path.resolve() / "real"
    (real / "env" / "lib").mkdir(parents=True)
    one, two = real.parent / "one", real.parent / "two"
    one.symlink_to("two")
    two.symlink_to(real)
    found = namespaces.way_to(f"{one}/env/lib")
    assert found[0] == f"{one}/env/lib"
    assert {str(one), str(two), f"{real}/env/lib"} <= set(found)
    (real / "circle").symlink_to("circle")
    assert namespaces.way_to(f"{real}/circle")


def test_packages_that_are_links_to_a_store_are_found(tmp_path: Path) -> None:
    store, site = tmp_path / "store", tmp_path / "site"
    (store / "abc" / "pack").mkdir(parents=True)
    (store / "abc" / "pack" / "__init__.py").touch()
    (store / "one.py").touch()
    (site / "pack").mkdir(parents=True)
    (site / "pack" / "__init__.py").symlink_to(store / "abc" / "pack" / "__init__.py")
    (site / "one.py").symlink_to(store / "one.py")
    real = Path(os.path.realpath(store))
    found = namespaces.linked_packages(str(site))
    assert f"{real}/abc/" in found
    assert found & {f"{real}/one.py", f"{real}/"}


def _linked_environment(folder: Path) -> Path:
    """An environment like those of uv, but with every part reached through a link."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (folder / "env" / "bin").mkdir(parents=True)
    (folder / "env" / "lib" / name).mkdir(parents=True)
    base, env = folder / "base", folder / "env"
    base.symlink_to(sys.base_prefix)
    (env / "pyvenv.cfg").write_text(f"home = {base}/bin\nversion = {sys.version.split()[0]}\n")
    (env / "bin" / "python").symlink_to(base / "bin" / name)
    packages = env / "lib" / name / "site-packages"
    packages.symlink_to(sysconfig.get_paths()["purelib"])
    (folder / "linked").symlink_to("env")
    return folder / "linked" / "bin" / "python"


ASKS = """
import json, sys
from autograder.sandbox import namespaces
from autograder.sandbox.walls import why_no_box
course = namespaces.plan("/tmp", (namespaces.COURSE,), 1).covered
print(json.dumps([why_no_box(), sys.prefix, sys.base_prefix, course]))
"""


@needs_box
def test_an_environment_behind_links_works(tmp_path: Path) -> None:
    python = _linked_environment(tmp_path)
    alone = os.environ | {"PYTHONPATH": str(Path(namespaces.COURSE).parent)}
    alone.pop("VIRTUAL_ENV", None)
    said = subprocess.check_output([python, "-c", ASKS], text=True, env=alone)
    why, prefix, base, _ = json.loads(said.splitlines()[-1])
    assert why is None
    assert (prefix, base) == (str(tmp_path / "linked"), str(tmp_path / "base"))


BLIND = """
import sysconfig
from autograder.sandbox import namespaces, probe
hidden = sysconfig.get_paths()["purelib"]
whole = namespaces.plan
def plan(root, covered, disk): return whole(root, (*covered, hidden), disk)
namespaces.plan = plan
probe.try_wall("namespaces")
"""


@needs_box
def test_packages_that_cannot_be_seen_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    run = subprocess.run

    def blind(command: list[str], **settings: object) -> subprocess.CompletedProcess:
        return run([*command[:-1], BLIND], **settings)

    monkeypatch.setattr("autograder.sandbox.walls.subprocess.run", blind)
    why = why_not.__wrapped__(Wall.NAMESPACES)
    assert why is not None and "does not find its own packages" in why
    assert "typing_extensions" in why


# ------------------------------------------------------------------ control groups


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder that looks like a control group with all controllers."""
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    (tmp_path / "cgroup.procs").touch()
    (tmp_path / "cgroup.subtree_control").touch()
    return tmp_path


def _with_files(group: Path) -> None:
    for name in ("memory.max", "memory.swap.max", "pids.max", "cpu.max", "cgroup.procs"):
        (group / name).touch()
    (group / "cgroup.kill").touch()
    (group / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    (group / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")


def test_a_group_holds_a_box_to_its_bounds(tree: Path) -> None:
    own = tree / f"fxcourse-box-{os.getpid()}"
    own.mkdir()
    _with_files(own)
    group = Cgroup.for_box(Bounds(memory=5 * MIB, processes=10, cores=1.5), home=tree)
    assert group is not None
    told = {name: (own / name).read_text() for name in ("memory.max", "pids.max", "cpu.max")}
    processes = str(10 + SPARE + 8)  # 8 are our own
    assert told == {"memory.max": str(5 * MIB), "pids.max": processes, "cpu.max": "150000 100000"}
    assert (own / "memory.swap.max").read_text() == "0"
    group.add(0)
    assert (own / "cgroup.procs").read_text() == "0"
    assert group.spent() == 2.5
    assert group.ran_out()
    group.kill()
    assert (own / "cgroup.kill").read_text() == "1"
    for file in own.iterdir():
        file.unlink()
    group.remove()
    assert not own.exists()


def test_groups_of_makers_that_are_gone_are_taken_away(tree: Path) -> None:
    left = tree / "fxcourse-box-999999999"
    left.mkdir()
    group = Cgroup.for_box(Bounds(), home=tree)
    assert group is not None and not left.exists()
    group.remove()
    assert [path.name for path in tree.iterdir() if path.is_dir()] == []


def test_where_no_group_can_be_made_there_is_none(tree: Path) -> None:
    assert Cgroup.for_box(Bounds(), home=tree / "missing") is None


@pytest.mark.parametrize("line", ["0::/a/b\n", "1:name=x:/\n0::/a/b\n"])
def test_the_own_group_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/cgroup.procs").touch()
    mounts, groups = tmp_path / "mounts", tmp_path / "groups"
    mounts.write_text(
        f"1 0 8:1 / / rw - ext4 x rw\n30 1 0:26 / {tmp_path} rw shared:4 - cgroup2 cgroup2 rw\n"
    )
    groups.write_text(line)
    assert find_home(mounts, groups) == tmp_path / "a/b"
    groups.write_text("4:memory:/a/b\n")
    assert find_home(mounts, groups) is None


@needs_box
def test_a_live_group_counts_and_kills(warm: Notebooks) -> None:
    home = home_of_boxes()
    if home is None:
        pytest.skip("this user may not make control groups here")
    before = _children(warm.pid)
    notebook = warm.notebook()
    run(notebook, "import time\nstop = time.process_time() + 0.3\n"
        "while time.process_time() < stop: pass")  # fmt: skip
    (maker,) = _children(warm.pid) - before
    own = home / f"fxcourse-box-{maker}"
    usage = int((own / "cpu.stat").read_text().split()[1])
    inside = (own / "cgroup.procs").read_text().split()
    notebook.close()
    assert usage >= 300_000
    assert len(inside) == 2  # the keeper and the first process
    until = time.monotonic() + 60
    while own.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not own.exists()


@needs_box
def test_a_live_group_bounds_memory(warm: Notebooks) -> None:
    home = home_of_boxes()
    if home is None or "memory" not in (home / "cgroup.subtree_control").read_text():
        pytest.skip("no control group with a memory controller is delegated to this user")
    with pytest.raises(ProcessLost, match="out of memory"):
        shown(warm, TOGETHER)
