"""Tests whether this machine can run the sandbox, and if not, says what to do."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING or sys.platform == "linux":
    from autograder.sandbox import namespaces, seccomp, temp_dirs

GIVES_AWAY = (
    "Without a sandbox, a student's cell can read the class's secret and the gradebook, and write "
    "with your permissions."
)
_NOT_LINUX = (
    "Notebooks run in a sandbox, which needs Linux. Use a Linux machine, a virtual one, or "
    f"WSL 2 on Windows. {GIVES_AWAY}"
)
_REFUSED = (
    "This kernel does not allow the sandbox for notebooks ({error}). On Ubuntu: "
    "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0. On other systems: sudo sysctl "
    "-w user.max_user_namespaces=10000. In a container: start it with --cap-add SYS_ADMIN "
    f"--security-opt seccomp=unconfined --security-opt apparmor=unconfined. {GIVES_AWAY}"
)
_UNSEEN = (
    "The sandbox works here, but Python does not find its own packages in it ({error}). Make a "
    "new environment with python -m venv, and install the course there. Please report how you "
    f"made the old one. {GIVES_AWAY}"
)
_NOT_SEEN = 3
_PROBE_MODULES = ("zipapp", "_ctypes", "typing_extensions")
"""Modules that the sandbox must find: one of Python's, one compiled module of Python's, and one
of an installed package."""


def why_no_box() -> str | None:
    """The reason why the sandbox cannot run here, and what to do; ``None`` if it can."""
    if sys.platform != "linux":
        return _NOT_LINUX
    start = "from autograder.sandbox.probe import try_walls; try_walls()"
    tried = subprocess.run([sys.executable, "-P", "-c", start], capture_output=True, text=True)
    if tried.returncode == 0:
        return None
    lines = tried.stderr.strip().splitlines() or [f"code {tried.returncode}"]
    advice = _UNSEEN if tried.returncode == _NOT_SEEN else _REFUSED
    return advice.format(error=lines[-1])


def try_walls() -> None:
    """Run a child of this process in a sandbox, and exit with its status."""
    plan = namespaces.plan(temp_dirs.root(), (namespaces.COURSE,), 1 << 20)
    child = os.fork()
    if child == 0:
        _enter_sandbox(plan)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


def _enter_sandbox(plan: namespaces.Plan) -> NoReturn:
    code = 1
    try:
        namespaces.unshare_all()
        if inner := os.fork():
            _, status = os.waitpid(inner, 0)
            code = os.waitstatus_to_exitcode(status)
        else:
            namespaces.enter(plan)
            seccomp.refuse_calls()
            for name in _PROBE_MODULES:
                sys.modules.pop(name, None)
                importlib.import_module(name)
            code = 0
    except ImportError as error:
        code = _NOT_SEEN
        print(error, file=sys.stderr, flush=True)
    except BaseException as error:
        print(error, file=sys.stderr, flush=True)
    finally:
        os._exit(code)
