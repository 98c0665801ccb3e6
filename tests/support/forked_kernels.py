"""Kernels that are forked from a process with the chapters' usual imports.

Starting Python and a chapter's imports would otherwise take half of its notebook's time.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

LAUNCHER = "ipykernel_launcher"
"""The module that a kernel's command runs."""

PRELOADED = ["ipykernel.kernelapp", "matplotlib.pyplot", "torch", "torchvision", "autograder.api"]
"""Only the imports of the first cells, so that an import missing in a chapter is noticed."""


class ForkedKernel:
    """Gives a forked process the interface that jupyter_client expects."""

    stdin = stdout = stderr = None

    def __init__(self, process: ForkServerProcess) -> None:
        self._process = process
        self.pid = process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.pid is not None and self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class ForkedProvisioner(LocalProvisioner):
    """Forks the kernels that `LocalProvisioner` starts."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        arguments = cmd[cmd.index(LAUNCHER) + 1 :]
        where = str(kwargs.get("cwd") or Path.cwd())
        process = context.Process(target=_serve, args=(arguments, where, dict(kwargs["env"])))
        process.start()
        self.process = ForkedKernel(process)
        self.pid = self.pgid = process.pid
        self.cwd = where
        return self.connection_info


def _serve(arguments: list[str], where: str, environment: dict[str, str]) -> None:
    os.setsid()  # jupyter_client sends signals to the group
    os.chdir(where)
    os.environ.clear()
    os.environ.update(environment)
    sys.path.insert(0, "")  # like `python -m`
    sys.argv = [LAUNCHER, *arguments]
    runpy.run_module(LAUNCHER, run_name="__main__")


@contextmanager
def forked_kernels() -> Iterator[None]:
    """Fork kernels in this context, if the platform supports it."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield
        return
    name = "forked by a test"
    factory = KernelProvisionerFactory.instance()
    entry = EntryPoint(name, f"{__name__}:{ForkedProvisioner.__name__}", factory.GROUP_NAME)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(factory.provisioners, name, entry)
        patch.setattr(factory, "default_provisioner_name", name)
        yield
