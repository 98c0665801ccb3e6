"""Attacks on kernel memory, processes and processor time that no simple limit counts.

With most of them, an honest student is graded whose answer needs seconds, a process and a thread.
"""

from __future__ import annotations

from tests.security.attacks import DUE, ENDED, GUARD, RIGHT, Attack
from tests.security.attacks._forging import LOUD
from tests.support.submissions.edits import add

BOUNDED = "It is ended, or stays within the bounds of a box; whoever is graded beside it keeps all."
REFUSED = "The kernel refuses it to a box."
LIBC = GUARD + "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
WIRE = "What is sent is bounded in size and number; waiting has an end in both directions."


def _drain(
    name: str, tries: str, cell: str, must: str = BOUNDED, *, neighbour: bool = True, **more: object
) -> Attack:
    return Attack(
        f"draining-{name}", tries, must, cell, answers=RIGHT, may=DUE, states=ENDED,
        within=more.pop("within", 240.0), neighbour=neighbour, **more,
    )  # fmt: skip


ATTACKS = [
    # ---------------------------------------------------------------- memory of the kernel
    _drain(
        "shared-unmapped",
        "3 GiB of shared anonymous memory are written, and taken out of what is resident.",
        GUARD
        + """\
import mmap
size, piece = 3 << 30, 64 << 20
shared = mmap.mmap(-1, size)
block = b"x" * piece
for at in range(0, size, piece):
    shared[at : at + piece] = block
    shared.madvise(mmap.MADV_DONTNEED, at, piece)
if shared[size - 1 : size] == b"x":
    print("LOOT: 3 GiB")
""",
    ),
    _drain(
        "shared-children",
        "Processes each map shared memory, so that no single one has much.",
        GUARD
        + """\
import mmap, os, time
kept = []
for n in range(6):
    shared = mmap.mmap(-1, 512 << 20)
    kept.append(shared)
    if os.fork() == 0:
        for at in range(0, 512 << 20, 32 << 20):
            shared[at : at + (32 << 20)] = b"x" * (32 << 20)
            shared.madvise(mmap.MADV_DONTNEED, at, 32 << 20)
        os._exit(0)
    os.wait()
if all(shared[-1:] == b"x" for shared in kept):
    print("LOOT: 3 GiB")
""",
    ),
    _drain(
        "memory-of-children",
        "Four processes have 700 MiB each at a time, and no single one too much.",
        GUARD
        + """\
import os, time
size, wires = 700 << 20, []
for n in range(4):
    out, into = os.pipe()
    if os.fork() == 0:
        kept = bytearray(b"x") * size
        os.write(into, b"x")
        time.sleep(20)
        os._exit(0)
    os.close(into)
    wires.append(out)
wrote = [os.read(wire, 1) for wire in wires]
time.sleep(1)
if all(wrote):
    print("LOOT: 2.8 GiB")
""",
    ),
    _drain(
        "semaphores",
        "Sets of System V semaphores are made, which are memory of the kernel.",
        LIBC
        + """\
made = 0
while made < 200 and libc.semget(0, 32000, 0o1600) >= 0:
    made += 1
if made:
    print("LOOT:", made, "sets of semaphores")
""",
        REFUSED,
    ),
    _drain(
        "message-queues",
        "System V message queues are filled.",
        LIBC
        + """\
made = 0
while made < 50 and (queue := libc.msgget(0, 0o1600)) >= 0:
    made += 1
    text = ctypes.create_string_buffer(b"\\1" + b"\\0" * 7 + b"x" * 8192)
    while libc.msgsnd(queue, text, 8192, 0o4000) == 0:
        pass
if made:
    print("LOOT:", made, "queues")
""",
        REFUSED,
    ),
    _drain(
        "shared-segments",
        "System V shared memory is made.",
        LIBC + 'if libc.shmget(0, 1 << 20, 0o1600) >= 0:\n    print("LOOT: a segment")\n',
        REFUSED,
    ),
    _drain(
        "posix-queues",
        "POSIX message queues are made.",
        LIBC
        + """\
made = 0
while made < 100 and libc.mq_open(b"/q%d" % made, 0o102, 0o600, None) >= 0:
    made += 1
if made == 100:
    print("LOOT: 100 queues")
""",
        REFUSED,
    ),
    _drain(
        "unix-sockets",
        "Sockets are filled by one process after the other, up to 3 GiB.",
        GUARD
        + """\
import os, socket, time
def fill():
    pairs, total = [], 0
    try:
        while True:
            pair = socket.socketpair()
            pairs.append(pair)
            for one in pair:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
                one.setblocking(False)
                try:
                    while True:
                        total += one.send(b"x" * 65536)
                except BlockingIOError:
                    pass
    except OSError:
        return pairs, total

out, into = os.pipe()
total = 0
for n in range(12):
    if os.fork() == 0:
        pairs, held = fill()
        os.write(into, held.to_bytes(8, "little"))
        time.sleep(30)
        os._exit(0)
    total += int.from_bytes(os.read(out, 8), "little")
    if total > 3 << 30:
        print("LOOT:", total >> 20, "MiB in sockets")
        break
time.sleep(2)
""",
    ),
    _drain(
        "pipes",
        "Pipes are filled by one process after the other.",
        GUARD
        + """\
import fcntl, os, time
out, into = os.pipe()
total = 0
for n in range(40):
    if os.fork() == 0:
        held, kept = 0, []
        try:
            while True:
                pair = os.pipe()
                kept.append(pair)
                os.set_blocking(pair[1], False)
                try:
                    fcntl.fcntl(pair[1], 1031, 1 << 20)
                except OSError:
                    pass
                try:
                    while True:
                        held += os.write(pair[1], b"x" * 65536)
                except BlockingIOError:
                    pass
        except OSError:
            pass
        os.write(into, held.to_bytes(8, "little"))
        time.sleep(30)
        os._exit(0)
    total += int.from_bytes(os.read(out, 8), "little")
if total > 3 << 30:
    print("LOOT:", total >> 20, "MiB in pipes")
""",
    ),
    _drain(
        "page-tables",
        "One byte is read in each of a million places 2 MiB apart: page tables, nothing else.",
        GUARD
        + """\
import mmap
flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000
wide = mmap.mmap(-1, 2 << 40, flags=flags, prot=mmap.PROT_READ)
try:
    wide.madvise(15)
except OSError:
    pass
for at in range(0, 2 << 40, 2 << 20):
    wide[at]
for line in open("/proc/self/status"):
    if line.startswith("VmPTE") and int(line.split()[1]) > 3 << 20:
        print("LOOT:", line)
""",
    ),
    _drain(
        "timers",
        "Timers of the kernel are made without end.",
        LIBC
        + """\
room, made = ctypes.c_void_p(), 0
while made < 400_000 and libc.timer_create(1, None, ctypes.byref(room)) == 0:
    made += 1
if made == 400_000:
    print("LOOT: 400,000 timers")
""",
    ),
    _drain(
        "watches",
        "Watches and keys are taken until there are no more for anybody of the same user.",
        LIBC
        + """\
import time
kept = []
while (fd := libc.inotify_init()) >= 0 and len(kept) < 10_000:
    kept.append(fd)
if libc.syscall(248, b"user", b"x", b"y", 1, -2) > 0:
    print("LOOT: a key is kept by the kernel")
time.sleep(8)
""",
    ),
    # ---------------------------------------------------------------- processes, processor time
    _drain(
        "processes",
        "All processes that there may be are held while others are graded.",
        GUARD
        + """\
import os, time
held = 0
try:
    while held < 3000:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        held += 1
except OSError:
    pass
time.sleep(18)
""",
    ),
    _drain(
        "threads",
        "All threads that there may be are held while others are graded.",
        GUARD
        + """\
import threading, time
try:
    for n in range(20_000):
        threading.Thread(target=time.sleep, args=(18,), daemon=True).start()
except (RuntimeError, MemoryError):
    pass
time.sleep(16)
""",
    ),
    _drain(
        "spin",
        "Sixty processes spin while others are graded.",
        GUARD
        + """\
import os, time
for n in range(60):
    try:
        if os.fork() == 0:
            end = time.monotonic() + 22
            while time.monotonic() < end:
                pass
            os._exit(0)
    except OSError:
        break
time.sleep(20)
""",
    ),
    _drain(
        "spin-threads",
        "Forty threads spin in C, outside of Python's lock.",
        GUARD
        + """\
import hashlib, threading, time
block, end = bytes(1 << 24), time.monotonic() + 20
def spin():
    while time.monotonic() < end:
        hashlib.sha512(block)
for n in range(40):
    try:
        threading.Thread(target=spin, daemon=True).start()
    except RuntimeError:
        break
time.sleep(18)
""",
    ),
    _drain(
        "autoreaped",
        "Children burn processor time, one after the other, and leave no times behind.",
        GUARD
        + """\
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
end = time.monotonic() + 22
while time.monotonic() < end:
    if os.fork() == 0:
        stop = time.process_time() + 0.5
        while time.process_time() < stop:
            pass
        os._exit(0)
    try:
        os.wait()
    except ChildProcessError:
        pass
""",
    ),
    _drain(
        "orphans-in-turn",
        "Each process starts the next one and ends, so that none is seen for long.",
        GUARD
        + """\
import os, time
end = time.monotonic() + 20
if os.fork() == 0:
    while time.monotonic() < end:
        stop = time.process_time() + 0.05
        while time.process_time() < stop:
            pass
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            time.sleep(0.01)
    os._exit(0)
time.sleep(20)
""",
    ),
    _drain(
        "disk",
        "The disk of the box is kept full by many processes that write and delete.",
        GUARD
        + """\
import os, time
end = time.monotonic() + 18
for n in range(20):
    if os.fork() == 0:
        while time.monotonic() < end:
            try:
                with open(f"d{n}", "wb", 0) as file:
                    while True:
                        file.write(b"x" * (1 << 20))
                        os.fsync(file.fileno())
            except OSError:
                pass
        os._exit(0)
time.sleep(18)
""",
    ),
    # ---------------------------------------------------------------- the wire
    Attack(
        "draining-wire-flood",
        "A thousand times a thousand frames say that a case is being tried.",
        WIRE,
        f"{LOUD}\nspeak_first(lambda: [say(trying='x' * 100) for _ in range(1_000_000)])\n",
        answers=RIGHT, may=DUE, states=ENDED, within=240.0,
    ),
    Attack(
        "draining-wire-heads",
        "Frames of 30 MB consist of empty lists.",
        WIRE,
        LOUD
        + "head = b'{\"blobs\":[],\"x\":[' + b'[],' * 9_900_000 + b'1]}'\n"
        "speak_first(lambda: [raw(head) for _ in range(5)])\n",
        answers=RIGHT, may=DUE, states=ENDED, within=240.0,
    ),
    Attack(
        "draining-wire-deaf",
        "A cell is said to be done while it sleeps, and what is sent to it is not read.",
        WIRE,
        f"{LOUD}\nimport time\nsay(done='run', outputs=[], out_of_time=False)\ntime.sleep(3600)\n",
        edits=(add(f"text = {'x' * 3_000_000!r}", above="add_to_mul"),),
        answers=RIGHT, may=DUE, states=ENDED, within=150.0,
    ),
]  # fmt: skip
