"""Tries a wall on this machine; `walls` starts this in a process of its own."""

from __future__ import annotations

import importlib
import os
import sys
from typing import NoReturn

from autograder.sandbox import namespaces, resource_limits, seccomp, temp_dirs
from autograder.sandbox.fork_server import WALLS, Wall
from autograder.sandbox.walls import NOT_SEEN

_PROBE_MODULES = ("zipapp", "_ctypes", "typing_extensions")
"""Modules that the sandbox must find: one of Python's, one compiled module of Python's, and one
of an installed package."""


def try_wall(name: str) -> None:
    """Run a child of this process in a sandbox, and exit with its status."""
    plan = namespaces.plan(temp_dirs.root(), (namespaces.COURSE,), 1 << 20)
    child = os.fork()
    if child == 0:
        _enter_sandbox(WALLS[name], plan)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


def _enter_sandbox(wall: Wall, plan: namespaces.Plan) -> NoReturn:
    code = 1
    try:
        plan = wall.leave(plan)
        if inner := os.fork():
            _, status = os.waitpid(inner, 0)
            code = os.waitstatus_to_exitcode(status)
            wall.clear(plan)
        else:
            code = _look_around(wall, plan)
    except BaseException as error:
        print(error, file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def _look_around(wall: Wall, plan: namespaces.Plan) -> int:
    """Go in, and import modules; return the exit status."""
    wall.enter(plan)
    resource_limits.apply_limits(resource_limits.Bounds(), shared=wall.SHARED)
    wall.close_in(plan)
    seccomp.refuse_calls(shared=wall.SHARED)
    try:
        for name in _PROBE_MODULES:
            sys.modules.pop(name, None)
            importlib.import_module(name)
    except ImportError as error:
        print(error, file=sys.stderr, flush=True)
        return NOT_SEEN
    return 0
