"""A chapter's fork servers: judges start before the server for notebooks is ready."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from autograder.classroom.grading import grade_submission
from autograder.classroom.grading.grade_submission import ChapterServers, InvalidJudgement
from autograder.sandbox.client import Image
from autograder.sandbox.walls import NoBox, Wall
from autograder.submission.contract import PreloadSpec

CHAPTER = PreloadSpec("numbers", "tests.support.numbers.numbers_syllabus", ())
KNOWN = {"exercises": [{"kind": "analysis"}]}


class Server:
    """A fork server that does nothing except record its requests."""

    fails = False

    def __init__(self, image: Image, _wall: Wall) -> None:
        self.for_judges, self.asked = "judge" in image.entries, list[str]()

    def wait(self) -> list[bytes]:
        if self.asked[-1:] == ["wait"]:
            raise ValueError("it is closed")
        self.asked.append("wait")
        if self.fails and not self.for_judges:
            raise NoBox("The process for notebooks does not come up.")
        return [json.dumps(KNOWN).encode()]

    def configure(self, head: dict[str, Any], blobs: list[bytes]) -> None:
        assert head == KNOWN
        self.asked.append("configure")

    def wires(self, entry: str) -> tuple[socket.socket, socket.socket]:
        self.asked.append(entry)
        return socket.socketpair()

    def work_ahead(self) -> None:
        self.asked.append("ahead")

    def close(self, patience: float = 0.0) -> None:
        """Do nothing: there is no process to end."""


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChapterServers]:
    monkeypatch.setattr(grade_submission, "ForkServer", Server)
    monkeypatch.setattr(Server, "fails", False)
    made = ChapterServers(CHAPTER)
    yield made
    made.close()


def asked(servers: ChapterServers) -> list[str]:
    """Return the requests to the server for notebooks."""
    server: Any = servers._students
    found: list[str] = server.asked
    return found


def test_judges_do_not_wait_for_the_processes_of_notebooks(servers: ChapterServers) -> None:
    assert servers.kinds == {"analysis"}
    assert asked(servers) == []


def test_the_server_for_notebooks_is_waited_for_once(servers: ChapterServers) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        asking = [
            threading.Thread(target=servers.give, args=(ours, "student"), daemon=True)
            for _ in range(4)
        ]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join(10.0)
    assert asked(servers) == ["wait", "configure", *["student"] * 4]


def test_work_ahead_begins_when_it_is_ready(servers: ChapterServers) -> None:
    servers.work_ahead()
    assert asked(servers) == ["wait", "configure", "ahead"]


def test_the_caller_learns_that_a_server_does_not_start(
    servers: ChapterServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Server, "fails", True)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for _ in range(2):
            with pytest.raises(NoBox, match="does not come up"):
                servers.give(ours, "student")
    with pytest.raises(NoBox, match="does not come up"):
        servers.work_ahead()


def test_a_judge_without_a_box_is_given_nothing() -> None:
    without = ChapterServers(CHAPTER, Wall.NONE)
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(InvalidJudgement):
        without.give(ours, "student")
