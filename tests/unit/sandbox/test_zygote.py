"""Fork servers are forked from one process, and end with the process that requested them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.builder.paths import ROOT
from autograder.environment import memory
from autograder.sandbox import client, zygote
from autograder.sandbox.resource_limits import Bounds
from autograder.sandbox.walls import NoBox, why_no_box
from tests.support.notebook_boxes import Notebooks

pytestmark = pytest.mark.skipif(why_no_box() is not None, reason="no box on this machine")


@pytest.fixture
def none_yet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pretend that this process has started no zygote."""
    alive: dict[tuple[int, str], zygote.Zygote] = {}
    monkeypatch.setattr(zygote, "_alive", alive)
    yield
    for process in alive.values():
        process.close()


def test_servers_are_forked_from_one_process() -> None:
    parent = zygote.zygote(client._environment())
    servers = [Notebooks(Bounds()), Notebooks(Bounds())]
    try:
        parents = {_parent_of(server.pid) for server in servers}
        assert parents == {parent._process.pid}
        assert zygote.zygote(client._environment()) is parent
        assert zygote.zygote({**client._environment(), "LANG": "other"}) is not parent
    finally:
        for server in servers:
            server.close()


@pytest.mark.usefixtures("none_yet")
def test_another_one_is_started_where_it_is_gone() -> None:
    first = zygote.zygote(client._environment())
    first._process.kill()
    first._process.wait()
    server = Notebooks(Bounds())
    assert _parent_of(server.pid) != first._process.pid
    server.close()
    first.close()


@pytest.mark.usefixtures("none_yet")
def test_it_says_why_it_does_not_come_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zygote, "COMMON", "autograder.no_such_module")
    with pytest.raises(NoBox, match="(?s)did not come up: .*No module named"):
        Notebooks(Bounds())


def test_memory_is_named_if_a_server_was_ended_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "times_used_up", lambda: 0)
    server = Notebooks(Bounds())
    monkeypatch.setattr(memory, "times_used_up", lambda: 1)
    monkeypatch.setattr(memory, "limit", lambda: 0.77)
    os.kill(server.pid, signal.SIGKILL)
    until = time.monotonic() + 60
    with pytest.raises(NoBox, match="is gone: .* memory was used up: 0.77 GB may be used here"):
        while time.monotonic() < until:  # a request that is sent early is not read
            server.notebook().close()
    server.close()


def test_all_of_it_ends_with_the_process_that_asked() -> None:
    code = (
        "from tests.support.notebook_boxes import Notebooks\n"
        "from autograder.sandbox import client, zygote\n"
        "from autograder.sandbox.resource_limits import Bounds\n"
        "import time\n"
        "server = Notebooks(Bounds())\n"
        "print(zygote.zygote(client._environment())._process.pid, server.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        pids = list(map(int, process.stdout.readline().split()))
        assert len(pids) == 2 and all(map(_is_alive, pids))
        os.kill(process.pid, signal.SIGKILL)
    until = time.monotonic() + 60
    while any(map(_is_alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(_is_alive, pids))


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
