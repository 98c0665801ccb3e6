"""Time limits count processor time; a busy or sleeping machine costs an answer nothing."""

from __future__ import annotations

import pytest

from autograder.core import limits
from tests.support.hand_clock import HandClock


class ClockByHand:
    """A clock of `limits` whose times a test moves."""

    def __init__(self, **most: float) -> None:
        self.seconds, self.cpu, self.queued = HandClock(), HandClock(), HandClock()
        self.clock = limits.Clock(
            limits.Limits(**most), limits.SuspendAwareClock(self.seconds), self.cpu, self.queued
        )

    def pass_by(self, seconds: float, queued: float = 0.0) -> None:
        """Advance real time; the process reads its clock twice a second."""
        looks = round(2 * seconds)
        for _ in range(looks):
            self.seconds.move(seconds / looks)
            self.queued.move(queued / looks)
            self.clock.is_over()


def test_a_clock_is_over_when_processor_time_is_used_up() -> None:
    times = ClockByHand(cpu=2.0, wall=60.0)
    times.cpu.move(1.9)
    assert not times.clock.is_over()
    times.cpu.move(0.2)
    assert times.clock.is_over()


def test_a_clock_takes_off_the_time_in_the_queue() -> None:
    busy = ClockByHand(cpu=9.0, wall=10.0)
    busy.pass_by(1.0)
    busy.pass_by(11.0, queued=4.0)
    assert not busy.clock.is_over()
    busy.pass_by(3.0)
    assert busy.clock.is_over()
    idle = ClockByHand(cpu=9.0, wall=10.0)
    idle.pass_by(9.0)
    assert not idle.clock.is_over()
    idle.pass_by(2.0)
    assert idle.clock.is_over()


def test_a_machine_that_slept_takes_no_time_of_an_answer() -> None:
    times = ClockByHand(cpu=9.0, wall=10.0)
    times.pass_by(4.0)
    times.seconds.move(3600.0)
    assert not times.clock.is_over()
    times.pass_by(4.0)
    assert not times.clock.is_over()
    times.pass_by(3.0)
    assert times.clock.is_over()


def test_a_clock_that_is_over_ends_what_runs() -> None:
    times = ClockByHand(cpu=9.0, wall=10.0)
    with limits.time_limit(limits.Limits(), times.clock):
        pass
    with pytest.raises(limits.OutOfTime), limits.time_limit(limits.Limits(), times.clock):
        times.cpu.move(10.0)
        while True:
            pass


def test_waiting_for_a_processor_does_not_count_but_every_wait_ends() -> None:
    assert limits.charged_wait(60.0, 0.0) == 60.0
    assert limits.charged_wait(60.0, 20.0) == 40.0
    assert limits.charged_wait(60.0, 60.0) == limits.charged_wait(60.0, 1e9) == 15.0
