"""A fork server works ahead only after a request."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from autograder.builder.paths import ROOT
from autograder.sandbox.client import ForkServer, Image
from autograder.sandbox.resource_limits import Bounds
from autograder.sandbox.walls import why_no_box
from autograder.sandbox.wire import receive
from tests.support.counting_entry import MOST

pytestmark = [
    pytest.mark.skipif(why_no_box() is not None, reason=f"there is no box here: {why_no_box()}"),
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServer]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # the entry is in the tests' folder
    made = ForkServer(Image({"count": ("tests.support.counting_entry", Bounds())}, {}))
    made.wait()
    yield made
    made.close()


def done(server: ForkServer) -> int:
    """Return the number of steps that the server did ahead."""
    with closing(server.process("count")) as process:
        return int(receive(process.talk, time.monotonic() + 60.0)[0]["done"])


def test_work_ahead_begins_when_that_is_said(server: ForkServer) -> None:
    time.sleep(0.2)
    assert done(server) == 0
    server.work_ahead()
    until = time.monotonic() + 30.0
    while (found := done(server)) < MOST and time.monotonic() < until:
        time.sleep(0.05)
    assert found == MOST
    server.work_ahead()  # nothing is left to do
    assert done(server) == MOST
