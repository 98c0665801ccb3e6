"""Waiting for a process in a box, with a clock that the tests move."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.core.limits import SuspendAwareClock
from autograder.core.process_exit import ExitReason
from autograder.sandbox import client, wire
from autograder.sandbox.client import Process, ProcessLost
from tests.support.hand_clock import HandClock

LONG = 60.0
"""Real seconds before a test gives up."""


def test_a_machine_that_slept_loses_no_process() -> None:
    ours, theirs = socket.socketpair()
    seconds = HandClock()

    def answer() -> None:
        head, _ = wire.receive(theirs)
        seconds.move(3600.0)
        wire.send(theirs, {"done": head["do"]})

    with theirs, ThreadPoolExecutor(1) as pool:
        answered = pool.submit(answer)
        process = Process(ours, None, clock=SuspendAwareClock(seconds))
        assert process.step({"do": "wait"}, patience=10.0) == ({"done": "wait"}, [])
        answered.result()


@pytest.mark.parametrize(("queued", "least"), [(0.0, 10.0), (60.0, 40.0)])
def test_waiting_for_a_processor_gives_more_time_but_not_for_ever(
    queued: float, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LOOK", 0.0)
    talk, other = socket.socketpair()
    clock = SuspendAwareClock(HandClock(each_look=0.5))
    notebook = Process(talk, None, clock=clock)
    notebook.queued = lambda: queued
    began = clock.now()
    with other, pytest.raises(wire.TooLate):
        notebook.wait(began + 10.0, 10.0)
    assert least <= clock.now() - began < least + 5.0
    notebook.close()


class Answering:
    """A process at the other end of a wire; it takes a step, and answers if a test allows it."""

    def __init__(self) -> None:
        self.seconds, self.has_step, self.may_answer = (
            HandClock(),
            threading.Event(),
            threading.Event(),
        )
        self.ours, self.theirs = socket.socketpair()
        self.process = Process(self.ours, None, clock=SuspendAwareClock(self.seconds))
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def _answer(self) -> None:
        wire.receive(self.theirs)
        self.has_step.set()
        self.may_answer.wait(LONG)
        with contextlib.suppress(wire.Broken):  # if the client gave up the process
            wire.send(self.theirs, {"done": "work"})

    def close(self) -> None:
        self.may_answer.set()
        self._thread.join(LONG)
        self.theirs.close()
        self.process.close()


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answering]:
    monkeypatch.setattr(client, "LOOK", 0.01)
    made = Answering()
    yield made
    made.close()


def test_something_else_is_done_once_the_process_has_its_step(answering: Answering) -> None:
    seen: list[bool] = []

    def meanwhile() -> None:
        seen.append(answering.has_step.wait(LONG))
        answering.may_answer.set()

    answering.process.step({"do": "work"}, patience=5.0, meanwhile=meanwhile)
    assert seen == [True]


def test_the_time_of_something_else_does_not_count(answering: Answering) -> None:
    def meanwhile() -> None:
        answering.seconds.move(0.9)

    answering.seconds.after_looks(8, answering.may_answer.set)
    answering.process.step({"do": "work"}, patience=0.5, meanwhile=meanwhile)
    assert answering.has_step.is_set()


def test_the_process_has_its_own_time_only(answering: Answering) -> None:
    def meanwhile() -> None:
        answering.seconds.each_look = 0.1

    with pytest.raises(ProcessLost) as lost:
        answering.process.step({"do": "work"}, patience=0.5, meanwhile=meanwhile)
    assert lost.value.ending.end is ExitReason.OUT_OF_TIME
