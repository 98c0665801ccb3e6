"""Attacks that use up a resource, or never end."""

from __future__ import annotations

from collections.abc import Mapping

from tests.security.attacks import DUE, ENDED, GUARD, ORPHAN, RIGHT, Attack

KEPT = "A limit ends it; the one right answer keeps its points, and nobody else notices."
PART = "It costs its exercise, and no other."


def _waste(
    name: str,
    tries: str,
    cell: str,
    must: str = KEPT,
    answers: Mapping[str, str] | None = None,
    **more: object,
) -> Attack:
    """An attacker who also has one right answer, which keeps its points."""
    own = {**RIGHT, **(answers or {})}
    return Attack(
        name, tries, must, cell, answers=own, earns=more.pop("earns", DUE), states=ENDED, **more
    )


def _answer(body: str, above: str = "") -> dict[str, str]:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return {"add_to_mul": f"{above}\ndef add_to_mul(model):\n{lines}\n"}


LIBC = GUARD + "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"

ATTACKS = [
    # ---------------------------------------------------------------- processes
    _waste(
        "exhausting-fork-bomb",
        "It forks until there are 3,000 processes.",
        GUARD
        + """\
import time
made = 0
for _ in range(3000):
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        made += 1
    except OSError:
        break
if made == 3000:
    print("LOOT: 3,000 processes")
""",
        doubt="RLIMIT_NPROC is not enforced for root, whose user a box has when root grades: "
        "only a cgroup, or a box with another user outside, bounds it.",
    ),
    _waste(
        "exhausting-threads",
        "It starts threads until no more can be started.",
        GUARD
        + """\
import threading, time
made = 0
try:
    for _ in range(20_000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        made += 1
except (RuntimeError, MemoryError):
    pass
if made == 20_000:
    print("LOOT: 20,000 threads")
""",
    ),
    _waste(
        "exhausting-orphans",
        "Processes in sessions of their own stay when it is gone.",
        f"""\
import subprocess, sys
code = "import time; time.sleep(300)"
for _ in range(3):
    subprocess.Popen([sys.executable, "-c", code, "{ORPHAN}"], start_new_session=True)
subprocess.Popen(f"nohup setsid sh -c 'sleep 300; : {ORPHAN}' >/dev/null 2>&1 &", shell=True)
""",
        "They end with it.",
        stock=True,
    ),
    _waste(
        "exhausting-daemon",
        "A process forks twice, ignores signals, and closes what it has open.",
        f"""\
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in set(signal.Signals) - {{signal.SIGKILL, signal.SIGSTOP}}:
            signal.signal(number, signal.SIG_IGN)
        os.closerange(0, 256)
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)",
                                  "{ORPHAN}"])
    os._exit(0)
""",
        "It ends with the box.",
    ),
    # ---------------------------------------------------------------- memory
    _waste(
        "exhausting-heap",
        "It takes 6 GB of memory, in many pieces.",
        GUARD
        + """\
kept = []
for _ in range(6000):
    kept.append(bytearray(b"x") * 1_000_000)
print("LOOT: 6 GB")
""",
    ),
    _waste(
        "exhausting-shared-map",
        "It takes 6 GB as a shared anonymous mapping, with children.",
        GUARD
        + """\
import mmap
kept = []
for _ in range(60):
    block = mmap.mmap(-1, 100_000_000)
    for at in range(0, 100_000_000, 4096):
        block[at] = 1
    kept.append(block)
print("LOOT: 6 GB")
""",
    ),
    _waste(
        "exhausting-memfd",
        "It writes 4 GB into files that are only memory, and are not mapped.",
        GUARD
        + """\
block, written = bytes(10_000_000), 0
try:
    for n in range(40):
        fd = os.memfd_create(str(n))
        for _ in range(10):
            written += os.write(fd, block)
except OSError as error:
    print(error)
if written >= 4_000_000_000:
    print("LOOT: 4 GB")
""",
        doubt="Pages of a memfd that is not mapped are in no resident memory: without a cgroup, "
        "only limits on open files times file size bound them.",
    ),
    _waste(
        "exhausting-shm",
        "It fills /dev/shm and every other folder that is memory.",
        GUARD
        + """\
block, written = bytes(10_000_000), 0
for place in ("/dev/shm", "/run", "/tmp", "/var/tmp", "."):
    for n in range(100):
        try:
            with open(f"{place}/fxcourse-fill-{n}", "wb") as file:
                for _ in range(4):
                    written += file.write(block)
        except OSError:
            break
if written >= 4_000_000_000:
    print("LOOT: 4 GB")
""",
    ),
    # ---------------------------------------------------------------- disk
    _waste(
        "exhausting-disk",
        "It writes 5 GB into its working directory.",
        GUARD
        + """\
block, written = bytes(10_000_000), 0
try:
    for n in range(500):
        with open(f"large-{n}", "wb") as file:
            written += file.write(block)
except OSError:
    pass
if written == 5_000_000_000:
    print("LOOT: 5 GB")
""",
    ),
    _waste(
        "exhausting-files",
        "It makes 300,000 empty files in folders within folders.",
        GUARD
        + """\
made = 0
try:
    for n in range(300):
        os.mkdir("d")
        os.chdir("d")
        for m in range(1000):
            os.close(os.open(str(m), os.O_CREAT | os.O_WRONLY))
            made += 1
except OSError:
    pass
if made == 300_000:
    print("LOOT: 300,000 files")
""",
    ),
    # ---------------------------------------------------------------- output
    _waste(
        "exhausting-print",
        "It prints 400 MB, in long lines and in many short ones.",
        """\
for _ in range(200):
    print("x" * 1_000_000)
for _ in range(2_000_000):
    print("y")
""",
    ),
    _waste(
        "exhausting-display",
        "It displays large pictures and pages without end.",
        """\
from IPython.display import HTML, Image, display
while True:
    display(HTML("x" * 10**6), Image(data=b"\\x89PNG" + bytes(10**6), format="png"))
""",
    ),
    _waste(
        "exhausting-stderr",
        "It floods standard error, warnings and the log.",
        """\
import logging, sys, warnings
warnings.simplefilter("always")
for n in range(200_000):
    sys.stderr.write("e" * 1000)
    warnings.warn("w" * 100)
    logging.error("l" * 100)
""",
    ),
    _waste(
        "exhausting-file-descriptors",
        "It floods what are files 1 and 2 of the process, in C.",
        GUARD
        + """\
import ctypes
libc = ctypes.CDLL(None)
block = b"z" * 1_000_000
for _ in range(1000):
    libc.write(1, block, len(block))
    libc.write(2, block, len(block))
""",
    ),
    # ---------------------------------------------------------------- time
    _waste(
        "exhausting-loop",
        "A loop catches everything that is thrown at it.",
        """\
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
""",
    ),
    _waste(
        "exhausting-signals",
        "It ignores every signal that it can, and turns all timers off.",
        """\
import signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
    signal.setitimer(timer, 0)
while True:
    pass
""",
    ),
    _waste(
        "exhausting-sleep",
        "It sleeps for a day, and uses no processor time.",
        "import time\ntime.sleep(86_400)",
    ),
    _waste(
        "exhausting-stop",
        "It stops itself.",
        GUARD + "import signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        doubt="Processor time stands still, so only a limit on waiting ends it.",
    ),
    _waste(
        "exhausting-slow-everywhere",
        "Every exercise takes nearly as long as it may.",
        "",
        "The whole submission has a limit too.",
        {
            name: f"import time\ndef {name}(model, *others):\n    time.sleep(50)\n    return model"
            for name in (
                "add_to_mul",
                "relu_after_add",
                "relu_to_gelu",
                "remove_dropout",
                "retarget",
            )
        },
        earns={},  # its `retarget` is one of the answers
    ),
    _waste(
        "exhausting-recursion",
        "It recurses until the stack of C is used up.",
        """\
import sys
sys.setrecursionlimit(10**9)

class Deep:
    def __repr__(self): return repr(self)
    def __getattr__(self, name): return getattr(self, name + "x")

def deeper(n): return deeper(n + 1)

try:
    deeper(0)
except BaseException:
    Deep().something
""",
    ),
    _waste(
        "exhausting-integers",
        "It works with integers of a thousand million digits.",
        "import sys\nsys.set_int_max_str_digits(0)\nn = 7 ** (10 ** 9)\nprint(len(str(n)))",
    ),
    _waste(
        "exhausting-nested-result",
        "An answer returns lists within lists, and one within itself.",
        "",
        PART,
        _answer(
            "kept = []\nfor _ in range(1_000_000):\n    kept = [kept]\n"
            "kept.append(kept)\nreturn kept"
        ),
    ),
    # ---------------------------------------------------------------- endings
    _waste("exhausting-exit", "A cell ends Python at once.", "import os\nos._exit(0)", stock=True),
    _waste(
        "exhausting-segfault",
        "A cell reads memory that is not there.",
        "import ctypes\nctypes.string_at(0)",
    ),
    _waste(
        "exhausting-kill",
        "A cell kills its own process.",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        doubt="If the student's process is the first of its namespace, this does nothing.",
    ),
    _waste(
        "exhausting-waiting-thread",
        "A thread waits for the trial, and changes answers then.",
        """\
import sys, threading, time
from unittest.mock import MagicMock

def wait():
    while True:
        for frame in list(sys._current_frames().values()):
            while frame:
                for name in ("outcome", "ended", "verdict"):
                    if name in frame.f_locals and "autograder" in frame.f_code.co_filename:
                        found = MagicMock()
                        get_ipython().user_ns.update(add_to_mul=found, relu_to_gelu=found)
                frame = frame.f_back
        time.sleep(0.01)

threading.Thread(target=wait, daemon=True).start()
""",
        "It finds nothing to change that would earn a point.",
    ),
]
